// Report schedules: reports that are mailed every day, week or month.
import * as z from "zod";
import { updateReturning, write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { missing } from "../../errors.ts";
import { EmailAddress } from "../../kernel/email-fields.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import {
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  Timestamp,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { dueShardOf, indexAttributeNames, indexAttributes, indexes } from "../../keys.ts";
import { queues } from "../../queues.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as reportDates from "./report-dates.ts";

const fields = {
  frequency: z
    .enum(reportDates.reportFrequencies)
    .describe(
      "`daily`: covers the day before. `weekly`: on Mondays, covers the week before. " +
        "`monthly`: on the first, covers the month before. " +
        `Sent at ${reportDates.mailingHour}:00 in the ` +
        "organization's time zone. If several fell due during an outage, only the " +
        "latest is sent.",
    ),
  recipient: EmailAddress.describe(
    "Email address that gets the report. It is sent with the organization's oldest verified " +
      "sending config, as a send of the site.",
  ),
  active: z
    .boolean()
    .describe(
      "Whether reports are emailed. Reports that were missed while it was false are not sent " +
        "later.",
    ),
};

export const ReportSchedule = z
  .object({
    id: RecordId.describe("Id of the schedule, for GET /reports/schedules/:id."),
    siteId: RecordSiteId,
    ...fields,
    nextAt: Timestamp.nullable().describe(
      "When the next report is emailed. `null` while the schedule is not active.",
    ),
    lastSentAt: Timestamp.nullable().describe("When the latest report was emailed. `null`: never."),
    lastSendId: RecordId.nullable().describe("Send of the latest report, or `null`."),
    lastError: z
      .string()
      .nullable()
      .describe(
        "Why the latest report could not be sent: no verified sending config, or plan and " +
          "credits used up. `null` otherwise.",
      ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "ReportSchedule" });
export type ReportSchedule = z.output<typeof ReportSchedule>;

export const NewReportSchedule = z
  .object({ siteId: NewSiteId, ...fields, active: fields.active.default(true) })
  .meta({ examples: [{ frequency: "weekly", recipient: "team@shop.example" }] });
export type NewReportSchedule = z.output<typeof NewReportSchedule>;

export const ReportScheduleChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ frequency: "monthly" }, { active: false }] });
export type ReportScheduleChanges = z.output<typeof ReportScheduleChanges>;

export interface StoredReportSchedule extends ReportSchedule {
  orgId: number;
  /** Due date of the next report. */
  dueOn: string;
  /** Due date of the last report. */
  lastOn?: string;
  /**
   * Send id that is reserved for the next report, so that a repeat after a crash is the same send.
   */
  pending?: { dueOn: string; sendId: number };
}

export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, ...schedule }: NewReportSchedule,
): Promise<ReportSchedule> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const stamp = await records.newRecordFields("REPORT");
  const item: StoredReportSchedule = {
    ...stamp,
    orgId: caller.orgId,
    siteId,
    ...schedule,
    nextAt: null,
    lastSentAt: null,
    lastSendId: null,
    lastError: null,
    ...(schedule.active
      ? await scheduleNext(caller.orgId, { id: stamp.id, frequency: schedule.frequency })
      : { dueOn: "" }),
  };
  return records.insert<StoredReportSchedule>("REPORT", caller, { record: item });
}

export const enqueueReport = (orgId: number, reportId: number): Promise<void> =>
  enqueue(queues.report, [{ orgId, reportId }], { group: orgId });

/** Attributes for the first due date in the future. */
async function scheduleNext(
  orgId: number,
  { id, frequency, lastOn }: Pick<StoredReportSchedule, "id" | "frequency" | "lastOn">,
) {
  const { timezone } = await organizations.getCalendar(orgId);
  const dueOn = reportDates.firstDueDate({ frequency, timezone }, now(), lastOn);
  return dueAttributes(id, dueOn, timezone);
}

/** Attributes of an active schedule with this due date. */
export function dueAttributes(reportId: number, dueOn: string, timezone: string) {
  const nextAt = reportDates.mailingTime(dueOn, timezone).toISOString();
  return { dueOn, nextAt, ...indexAttributes(indexes.due("REPORT", dueShardOf(reportId)), nextAt) };
}

export const find = (caller: CallerScope, reportId: number): Promise<StoredReportSchedule> =>
  records.find<StoredReportSchedule>("REPORT", caller, reportId);

/** Newest first. */
export async function list(caller: CallerScope, request: PageRequest, siteId: number | undefined) {
  return records.list<StoredReportSchedule>("REPORT", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
}

/**
 * A changed frequency or a reactivation starts with the next due date, so missed reports are not
 * mailed.
 */
export async function change(
  caller: CallerScope,
  reportId: number,
  changes: ReportScheduleChanges,
): Promise<ReportSchedule> {
  const current = await find(caller, reportId);
  const { active = current.active, frequency = current.frequency } = changes;
  const restarts = active && (!current.active || frequency !== current.frequency);
  const set = {
    ...changes,
    ...(restarts && (await scheduleNext(caller.orgId, { ...current, frequency }))),
    ...(!active && { nextAt: null }),
  };
  const changed = await updateReturning<StoredReportSchedule>(
    records.updateWrite("REPORT", caller, {
      id: reportId,
      set,
      remove: active ? [] : indexAttributeNames("due"),
    }),
  );
  if (!changed) throw missing("The report schedule does not exist");
  return changed;
}

export async function remove(caller: CallerScope, reportId: number): Promise<void> {
  await write(...records.removeWrites("REPORT", caller, await find(caller, reportId)));
}
