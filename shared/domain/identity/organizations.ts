import * as z from "zod";
import { exists } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  getTogether,
  put,
  remove,
  update,
  updateReturning,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { unauthenticated } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import { dateIn, isTimeZone } from "../../kernel/time-zones.ts";
import { keys } from "../../keys.ts";
import { planKeys } from "../../plans.ts";
import type { SsoMark } from "./sso/enforcement.ts";

export const Organization = z
  .object({
    id: RecordId.describe("Id of the organization."),
    name: z
      .string()
      .describe(
        "Name of the organization. On sign-up it defaults to the user's name, then to the " +
          "part of the email address before the @.",
      ),
    plan: z
      .enum(planKeys)
      .describe(
        "Plan of the organization. It sets the included emails and the rate limits: see GET " +
          "/plans.",
      ),
    timezone: z
      .string()
      .describe(
        "IANA time zone, such as `Europe/Berlin`. Statistics, report schedules and holiday " +
          "emails use its days. Defaults to `UTC`.",
      ),
    sessionIdleMinutes: z
      .int()
      .nullable()
      .describe(
        "Sessions of members end when they are not used for this long. `null`: only after 7 days.",
      ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("The organization that all other records belong to.")
  .meta({ id: "Organization" });
export type Organization = z.output<typeof Organization>;

export const OrganizationName = singleLineText(200).trim().min(1);
export const Timezone = z
  .string()
  .max(100)
  .refine(isTimezone, "must be an IANA time zone such as Europe/Berlin");
export const OrganizationChanges = z
  .object({
    name: OrganizationName.describe("Name of the organization."),
    timezone: Timezone.describe(
      "IANA time zone, such as `Europe/Berlin`. Statistics, report schedules and " +
        "holiday emails use its days from now on.",
    ),
    sessionIdleMinutes: z
      .int()
      .min(5)
      .max(7 * 24 * 60)
      .nullable()
      .describe(
        "Ends sessions of members that are not used for this many minutes. `null`: no limit.",
      ),
  })
  .partial()
  .meta({ examples: [{ name: "My shop", timezone: "Europe/Berlin" }] });
export type OrganizationChanges = z.output<typeof OrganizationChanges>;

/**
 * Attributes of the organization's item. With one site, `siteSum` is its id, so finding the only
 * site needs no query.
 */
export interface SiteTotals {
  siteCount: number;
  /** Sum of the site ids. */
  siteSum: number;
}

/** An attribute of the organization's item: the address of its sign-up was not verified yet. */
export interface Unverified {
  unverified?: boolean;
}

export const createWrite = (organization: Organization & Unverified): Write =>
  put(
    keys.organization(organization.id),
    { ...organization, siteCount: 0, siteSum: 0 } satisfies Organization & SiteTotals,
    {
      ifAbsent: true,
    },
  );

/** The address of the sign-up is verified, so the organization can send. */
export const verifiedWrite = (orgId: number): Write =>
  update(keys.organization(orgId), { remove: ["unverified"] }, { if: exists });

/**
 * The owner of the address takes the organization over from somebody who signed up with it. Turns
 * off single sign-on, whose provider may be that of the other person.
 */
export const takeOverWrites = (orgId: number): Write[] => [
  update(keys.organization(orgId), { remove: ["unverified", "sso"] }, { if: exists }),
  remove(keys.sso(orgId)),
];

export async function find(orgId: number): Promise<Organization & SsoMark & Unverified> {
  const organization = await get<Organization & SsoMark & Unverified>(keys.organization(orgId));
  if (!organization) throw unauthenticated();
  return organization;
}

export async function change(
  { orgId }: Caller,
  changes: OrganizationChanges,
): Promise<Organization> {
  const changed = await updateReturning<Organization>(
    update(
      keys.organization(orgId),
      { set: { ...changes, updatedAt: now().toISOString() } },
      { if: exists },
    ),
  );
  if (!changed) throw unauthenticated();
  return changed;
}

/**
 * The current date in the organization's time zone, such as 2026-11-21. Daily statistics use it.
 */
export const getToday = async (orgId: number): Promise<string> => (await getCalendar(orgId)).today;

export async function getCalendar(orgId: number): Promise<{ timezone: string; today: string }> {
  const { timezone } = (await get<Organization>(keys.organization(orgId), {
    consistent: false,
  })) ?? { timezone: "UTC" };
  return { timezone, today: dateIn(timezone, now()) };
}

export const getTimezone = async (orgId: number): Promise<string> =>
  (await getTogether<Organization>(keys.organization(orgId)))?.timezone ?? "UTC";

// Rejects offsets such as +02:00, because they have no daylight saving time.
function isTimezone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && isTimeZone(name);
}
