// A scheduled report on its way. Its send id is settled before anything is accepted, so however often it is begun, it is one send.
import { now } from "../../clock.ts";
import { absent, all, any, type Condition, equals, not } from "../../conditions.ts";
import { config } from "../../config.ts";
import { claim, get, update } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import { letterOf } from "../../pages/report-letter.ts";
import * as organizations from "../organizations.ts";
import { type Stored, waiting } from "../report-schedules.ts";
import { gather } from "../sending/accept.ts";
import { single } from "../sending/accept-single.ts";
import { SingleMessage } from "../sending/message.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as digests from "./digest.ts";
import * as times from "./times.ts";

/** Mails what is due, and waits for the next one. Safe to repeat, and nothing happens before its time. */
export async function run(orgId: number, reportId: number): Promise<void> {
  const item = await get<Stored>(keys.record(orgId, "REPORT", reportId));
  if (!item?.nextAt || item.nextAt > now().toISOString()) return;
  const { timezone } = await organizations.calendar(orgId);
  const pending = await reserved(item, timezone);
  if (!pending) return;
  const due = { ...item, dueOn: pending.dueOn };
  await settle(due, await mailed(due, pending.sendId), timezone);
}

/** What was begun is brought to its end; else the latest is begun. Undefined when somebody else is at it, or has changed it. */
async function reserved(item: Stored, timezone: string): Promise<Stored["pending"]> {
  const { orgId, id, frequency } = item;
  if (item.pending?.dueOn === item.dueOn) return item.pending;
  const address = keys.record(orgId, "REPORT", id);
  const dueOn = times.latest(frequency, item.dueOn, now(), timezone);
  const pending = { dueOn, sendId: await ids.takeSend() };
  const free = all(as(item), any(absent("pending"), not(equals(["pending", "dueOn"], item.dueOn))));
  const mine = await claim(update(address, { set: { pending, ...waiting(id, dueOn, timezone) } }, { if: free }));
  return mine ? pending : undefined;
}

/** Nobody has ended or changed it. */
const as = ({ dueOn, frequency }: Stored): Condition => all(equals("dueOn", dueOn), equals("active", true), equals("frequency", frequency));

type Outcome = Pick<Stored, "lastError"> & Partial<Pick<Stored, "lastSentAt" | "lastSendId">>;

async function mailed(item: Stored, sendId: number): Promise<Outcome> {
  try {
    const memory = { address: keys.record(item.orgId, "REPORT", item.id), taken: { SENDONE: [sendId] } };
    const { status } = await ids.remembering(memory, () => accept(item));
    if (status === "failed") return { lastError: "The recipient is on the suppression list", lastSendId: sendId };
    return { lastSentAt: now().toISOString(), lastSendId: sendId, lastError: null };
  } catch (error) {
    // No sending config is verified any more, or the credits are used up: waiting does not mend it.
    if (error instanceof Problem && ["invalid", "missing", "unpaid"].includes(error.kind)) return { lastError: error.message };
    throw error;
  }
}

async function accept({ orgId, id, siteId, recipient, frequency, dueOn }: Stored) {
  const sender = await sendingConfigs.defaultConfig(orgId);
  const digest = await digests.gathered(orgId, siteId, frequency, times.spans[frequency](dueOn));
  const message = SingleMessage.parse({
    to: recipient,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? digest.siteName.slice(0, 100),
    // As values: what a site or campaign is called must not be read as Liquid.
    subject: "{{ subject }}",
    html: "{{ html | raw }}",
    text: "{{ text }}",
    trackOpens: false,
    trackClicks: false,
    metadata: { reportScheduleId: id, from: digest.span.from, to: digest.span.to },
  });
  // Past what callers may give: this is our own.
  const whole = { ...message, variables: letterOf(digest, { id, url: `${config.publicUrl}/api/v1/reports/schedules/${id}` }) };
  return single({ orgId }, whole, await gather({ orgId }, whole, [recipient]));
}

async function settle(item: Stored, outcome: Outcome, timezone: string): Promise<void> {
  const { orgId, id, dueOn, frequency } = item;
  const next = waiting(id, times.next(frequency, dueOn, now(), timezone), timezone);
  const set = { ...outcome, ...next, lastOn: dueOn };
  await claim(update(keys.record(orgId, "REPORT", id), { set, remove: ["pending"] }, { if: as(item) }));
}
