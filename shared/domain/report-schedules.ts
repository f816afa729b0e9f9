// Reports that are mailed by themselves: every day, week or month, once each.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { where } from "../conditions.ts";
import { updateReturning, write } from "../doors/table.ts";
import { EmailAddress } from "../email.ts";
import { missing } from "../errors.ts";
import { dueShard, off, on, shelves } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import * as organizations from "./organizations.ts";
import * as records from "./records.ts";
import * as times from "./reports/times.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const id = z.int().positive();
const fields = {
  frequency: z
    .enum(times.frequencies)
    .describe(
      `daily: of the day before; weekly: on Mondays, of the week before; monthly: on the first, of the month before. At ${times.hour}:00 in the organization's timezone. Of several that fell due while the service stood still only the latest is mailed`,
    ),
  recipient: EmailAddress.describe(
    "Who gets it. It is sent through the organization's oldest verified sending config, as a send of the site",
  ),
  active: z.boolean().describe("false: nothing is mailed, and what was missed is not made up for"),
};

export const ReportSchedule = z
  .object({
    id: z.int(),
    siteId: z.int(),
    ...fields,
    nextAt: z.string().nullable().describe("When the next one is mailed, within a minute or so; null while it is not active"),
    lastSentAt: z.string().nullable(),
    lastSendId: z.int().nullable().describe("The send that the last one was"),
    lastError: z
      .string()
      .nullable()
      .describe("Why the last one could not be sent: no verified sending config, or the plan and credits are used up"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "ReportSchedule" });
export type ReportSchedule = z.output<typeof ReportSchedule>;

export const NewReportSchedule = z
  .object({ siteId: id.optional(), ...fields, active: fields.active.default(true) })
  .meta({ examples: [{ frequency: "weekly", recipient: "team@shop.example" }] });
export type NewReportSchedule = z.output<typeof NewReportSchedule>;

export const ReportScheduleChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ frequency: "monthly" }, { active: false }] });
export type ReportScheduleChanges = z.output<typeof ReportScheduleChanges>;

/** As it is stored. */
export interface Stored extends ReportSchedule {
  orgId: number;
  /** The day on which the next one is mailed, and the last one was. */
  dueOn: string;
  lastOn?: string;
  /** The send of the next one, from when it is begun: whoever takes it up takes the same. */
  pending?: { dueOn: string; sendId: number };
}

export async function create(who: Who, { siteId: given, ...schedule }: NewReportSchedule): Promise<ReportSchedule> {
  const siteId = await sites.resolve(who, given);
  const stamp = await records.stamp("REPORT");
  const item: Stored = {
    ...stamp,
    orgId: who.orgId,
    siteId,
    ...schedule,
    nextAt: null,
    lastSentAt: null,
    lastSendId: null,
    lastError: null,
    ...(schedule.active ? await ahead(who.orgId, { id: stamp.id, frequency: schedule.frequency }) : { dueOn: "" }),
  };
  return records.insert<Stored>("REPORT", who, item);
}

/** Waiting for the first one that lies ahead, and after the last. */
async function ahead(orgId: number, { id, frequency, lastOn }: Pick<Stored, "id" | "frequency" | "lastOn">) {
  const { timezone } = await organizations.calendar(orgId);
  return waiting(id, times.firstAhead(frequency, now(), timezone, lastOn), timezone);
}

/** What is set while the next one is waited for. */
export function waiting(reportId: number, dueOn: string, timezone: string) {
  const nextAt = times.mailedAt(dueOn, timezone).toISOString();
  return { dueOn, nextAt, ...on(shelves.due("REPORT", dueShard(reportId)), nextAt) };
}

export const find = (who: Who, reportId: number): Promise<Stored> => records.find<Stored>("REPORT", who, reportId);

/** Newest first. */
export async function list(who: Who, request: PageRequest, siteId: number | undefined) {
  return records.list<Stored>("REPORT", who, request, where({ siteId: await sites.only(who, siteId) }));
}

/** With another frequency, or active again, it begins anew: nothing that lies behind is mailed. */
export async function change(who: Who, reportId: number, changes: ReportScheduleChanges): Promise<ReportSchedule> {
  const current = await find(who, reportId);
  const { active, frequency } = { active: changes.active ?? current.active, frequency: changes.frequency ?? current.frequency };
  const anew = active && (!current.active || frequency !== current.frequency);
  const set = { ...changes, ...(anew && (await ahead(who.orgId, { ...current, frequency }))), ...(!active && { nextAt: null }) };
  const changed = await updateReturning<Stored>(records.changing("REPORT", who, reportId, set, active ? [] : off("due")));
  if (!changed) throw missing("There is no such report schedule");
  return changed;
}

export async function remove(who: Who, reportId: number): Promise<void> {
  await find(who, reportId);
  await write(...records.removing("REPORT", who, reportId));
}
