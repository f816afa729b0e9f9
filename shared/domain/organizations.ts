import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { exists } from "../conditions.ts";
import { get, put, update, updateReturning, type Write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { unauthenticated } from "../errors.ts";
import { keys } from "../keys.ts";
import { planKeys } from "../plans.ts";
import { zoned } from "../time-zones.ts";

export const Organization = z
  .object({
    id: z.int(),
    name: z.string(),
    plan: z.enum(planKeys),
    timezone: z.string().describe("IANA name; days in statistics are its days"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Organization" });
export type Organization = z.output<typeof Organization>;

export const OrganizationName = oneLine(200).trim().min(1);
export const Timezone = z.string().max(100).refine(isTimezone, "must be an IANA time zone such as Europe/Berlin");
export const OrganizationChanges = z
  .object({
    name: OrganizationName,
    timezone: Timezone,
  })
  .partial()
  .meta({ examples: [{ name: "My shop", timezone: "Europe/Berlin" }] });
export type OrganizationChanges = z.output<typeof OrganizationChanges>;

/** The organization's item also tells whether it has one site only, and which: see sites.ts. */
export interface Sites {
  siteCount: number;
  /** Sum of the ids of its sites: the id itself when there is one. */
  siteSum: number;
}

export const opening = (organization: Organization): Write =>
  put(keys.organization(organization.id), { ...organization, siteCount: 0, siteSum: 0 } satisfies Organization & Sites, { new: true });

export async function find(orgId: number): Promise<Organization> {
  const organization = await get<Organization>(keys.organization(orgId));
  if (!organization) throw unauthenticated();
  return organization;
}

export async function change({ orgId }: Caller, changes: OrganizationChanges): Promise<Organization> {
  const changed = await updateReturning<Organization>(
    update(keys.organization(orgId), { set: { ...changes, updatedAt: now().toISOString() } }, { if: exists }),
  );
  if (!changed) throw unauthenticated();
  return changed;
}

/** The organization's day, which statistics are kept by: 2026-11-21 */
export const today = async (orgId: number): Promise<string> => (await calendar(orgId)).today;

/** Where its days begin, and which it is. */
export async function calendar(orgId: number): Promise<{ timezone: string; today: string }> {
  const { timezone } = (await get<Organization>(keys.organization(orgId), { consistent: false })) ?? { timezone: "UTC" };
  return { timezone, today: dayIn(timezone, now()) };
}

const dayFormat = zoned("en-CA", { dateStyle: "short" });

export const dayIn = (timezone: string, at: Date): string => dayFormat(timezone).format(at);

// Offsets such as +02:00 are no zones: they know no summer time.
function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
