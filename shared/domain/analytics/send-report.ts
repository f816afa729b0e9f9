// Mails a scheduled report. The send id is stored first, so a repeat after a crash is the same
// send.

import {
  absent,
  all,
  any,
  type Condition,
  equals,
  not,
} from "../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import * as records from "../../kernel/records.ts";
import { keys } from "../../keys.ts";
import * as organizations from "../identity/organizations.ts";
import { findDefault } from "../senders/choose-config.ts";
import { acceptSingle } from "../sending/accept/accept-single.ts";
import { loadIntake } from "../sending/accept/intake.ts";
import { SingleMessage } from "../sending/accept/single-message.ts";
import * as reportDates from "./report-dates.ts";
import * as reportDigest from "./report-digest.ts";
import { renderReportEmail } from "./report-email.ts";
import { dueAttributes, type StoredReportSchedule } from "./report-schedules.ts";

/** Mails the report if it is due, and schedules the next one. Idempotent. */
export async function sendDueReport(orgId: number, reportId: number): Promise<void> {
  const item = await records.findAlive<StoredReportSchedule>("REPORT", orgId, reportId);
  if (!item?.nextAt || item.nextAt > now().toISOString()) return;
  const { timezone } = await organizations.getCalendar(orgId);
  const pending = await reserveSendId(item, timezone);
  if (!pending) return;
  const due = { ...item, dueOn: pending.dueOn };
  await saveOutcome(due, await sendReport(due, pending.sendId), timezone);
}

/**
 * Returns the reserved send of an unfinished run, or reserves one for the latest due date.
 * Undefined if another worker has reserved it or the schedule was changed.
 */
async function reserveSendId(
  item: StoredReportSchedule,
  timezone: string,
): Promise<StoredReportSchedule["pending"]> {
  const { orgId, id, frequency } = item;
  if (item.pending?.dueOn === item.dueOn) return item.pending;
  const dueOn = reportDates.latestDueDate({ frequency, timezone }, item.dueOn, now());
  const pending = { dueOn, sendId: await ids.nextSendId() };
  const notReserved = all(
    isUnchanged(item),
    any(absent("pending"), not(equals(["pending", "dueOn"], item.dueOn))),
  );
  const isReserved = await transact(
    update(
      keys.record(orgId, "REPORT", id),
      { set: { pending, ...dueAttributes(id, dueOn, timezone) } },
      { if: notReserved },
    ),
  );
  return isReserved ? pending : undefined;
}

const isUnchanged = ({ dueOn, frequency }: StoredReportSchedule): Condition =>
  all(equals("dueOn", dueOn), equals("active", true), equals("frequency", frequency));

type ReportOutcome = Pick<StoredReportSchedule, "lastError"> &
  Partial<Pick<StoredReportSchedule, "lastSentAt" | "lastSendId">>;

async function sendReport(item: StoredReportSchedule, sendId: number): Promise<ReportOutcome> {
  try {
    const idMemory = {
      key: keys.record(item.orgId, "REPORT", item.id),
      taken: { SENDONE: [sendId] },
    };
    const { status } = await ids.withReservedIds(idMemory, () => acceptMail(item));
    if (status === "failed")
      return { lastError: "The recipient is on the suppression list", lastSendId: sendId };
    return { lastSentAt: now().toISOString(), lastSendId: sendId, lastError: null };
  } catch (error) {
    // For example, no sending config is verified or the credits are used up. A retry would not
    // help.
    if (error instanceof Problem && ["invalid", "missing", "unpaid"].includes(error.kind))
      return { lastError: error.message };
    throw error;
  }
}

async function acceptMail(schedule: StoredReportSchedule) {
  const { orgId, id, siteId, recipient, frequency, dueOn } = schedule;
  const sender = await findDefault(orgId);
  const range = reportDates.reportedRange[frequency](dueOn);
  const digest = await reportDigest.buildDigest({ orgId, siteId, frequency, range });
  const message = SingleMessage.parse({
    to: recipient,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? digest.siteName.slice(0, 100),
    // The content comes in variables, because names of sites and campaigns must not run as Liquid.
    subject: "{{ subject }}",
    html: "{{ html | raw }}",
    text: "{{ text }}",
    trackOpens: false,
    trackClicks: false,
    metadata: { reportScheduleId: id, from: digest.range.from, to: digest.range.to },
  });
  const url = `${config.publicUrl}/api/v1/reports/schedules/${id}`;
  // Set after the parse, because callers cannot send system mail.
  const mailWithVariables = {
    ...message,
    system: true as const,
    variables: renderReportEmail(digest, { id, url }),
  };
  return acceptSingle({ orgId }, mailWithVariables, {
    context: await loadIntake({ orgId }, mailWithVariables, { emails: [recipient] }),
  });
}

async function saveOutcome(
  item: StoredReportSchedule,
  outcome: ReportOutcome,
  timezone: string,
): Promise<void> {
  const { orgId, id, dueOn, frequency } = item;
  const nextDueOn = reportDates.nextDueDate({ frequency, timezone }, dueOn, now());
  const next = dueAttributes(id, nextDueOn, timezone);
  const set = { ...outcome, ...next, lastOn: dueOn };
  await transact(
    update(
      keys.record(orgId, "REPORT", id),
      { set, remove: ["pending"] },
      { if: isUnchanged(item) },
    ),
  );
}
