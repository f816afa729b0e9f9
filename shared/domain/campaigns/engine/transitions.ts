// Status changes of a broadcast. The state of its mail source changes in the same transaction; lane
// runners read it before every provider call.

import { absent, all, type Condition, oneOf } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { deletedSites } from "../../../kernel/site-access.ts";
import { indexAttributeNames } from "../../../keys.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { countHandedOver } from "../../sending/mailing-stats.ts";
import type { RecordEventType } from "../../webhooks/event-types.ts";
import { noEvents, type PreparedEvents, prepareEvents } from "../../webhooks/record-events.ts";
import { createAuditWrite, enqueueAudit } from "../audit/audit-job.ts";
import {
  type BounceCounts,
  type Broadcast,
  type BroadcastKind,
  type BroadcastRef,
  type BroadcastStatus,
  dueSoonAttributes,
  enqueuePoll,
  recordKey,
  sourceOf,
  updateWrite,
} from "./broadcast.ts";

interface Transition {
  from: BroadcastStatus[];
  to: BroadcastStatus;
  /** New state of the mail source. Absent when no mail was started. */
  mailState?: mailSources.SourceState;
  set?: { statusReason?: string } & Record<string, unknown>;
  remove?: string[];
  extraCondition?: Condition;
  extraWrites?: Write[];
}

/** False when the status is no longer one of `from`. */
async function transition(
  broadcast: Broadcast,
  { from, to, mailState, set = {}, remove = [], extraCondition, extraWrites = [] }: Transition,
): Promise<boolean> {
  const rule = oneOf("status", from);
  const change = updateWrite(
    broadcast,
    { set: { status: to, ...set }, add: { revision: 1 }, remove },
    { if: extraCondition ? all(rule, extraCondition) : rule },
  );
  const events = await prepareCampaignEvents(broadcast, to, set);
  const isCommitted = await transact(
    change,
    ...(mailState
      ? [mailSources.setSourceStateWrite(broadcast.orgId, sourceOf(broadcast), mailState)]
      : []),
    ...extraWrites,
    ...events.writes,
  );
  if (isCommitted) await events.afterCommit();
  return isCommitted;
}

const eventByStatus: Partial<Record<BroadcastStatus, RecordEventType>> = {
  sent: "campaign.sent",
  paused: "campaign.paused",
};

function prepareCampaignEvents(
  { orgId, kind, id, siteId, name }: Broadcast,
  status: BroadcastStatus,
  { statusReason = null }: { statusReason?: string | null },
): Promise<PreparedEvents> | PreparedEvents {
  const event = eventByStatus[status];
  if (kind !== "campaign" || !event) return noEvents;
  const data = { name, status, statusReason };
  return prepareEvents(orgId, () => [{ event, details: { siteId, campaignId: id, data } }]);
}

const unstarted: BroadcastStatus[] = ["draft", "scheduled", "held"];
const started: BroadcastStatus[] = ["sending", "paused"];

/**
 * Hands over no further mail. Mail that was handed over stays sent. False when it had already
 * ended.
 */
export async function cancel(broadcast: Broadcast, reason?: string): Promise<boolean> {
  const reasonChange = reason ? { set: { statusReason: reason } } : { remove: ["statusReason"] };
  if (unstarted.includes(broadcast.status))
    return transition(broadcast, toFinalTransition("cancelled", unstarted, reasonChange));
  const stopped = await transition(broadcast, {
    from: started,
    to: "cancelled",
    mailState: "cancelled",
    ...reasonChange,
    set: { ...reasonChange.set, ...dueSoonAttributes(broadcast.id) },
  });
  if (stopped) await enqueuePoll(broadcast);
  return stopped;
}

const toFinalTransition = (
  to: BroadcastStatus,
  from: BroadcastStatus[],
  { set = {}, remove = [] }: Pick<Transition, "set" | "remove"> = {},
): Transition => ({
  from,
  to,
  set: { finishedAt: now().toISOString(), ...set },
  remove: [...indexAttributeNames("due"), ...remove],
});

/** The final status of a broadcast that cannot continue. */
const failureStatus: Record<BroadcastKind, BroadcastStatus> = {
  campaign: "failed",
  holiday: "cancelled",
};

export async function failBroadcast(broadcast: Broadcast, statusReason: string): Promise<void> {
  const to = failureStatus[broadcast.kind];
  if (unstarted.includes(broadcast.status))
    await transition(broadcast, toFinalTransition(to, unstarted, { set: { statusReason } }));
  else if (
    await transition(broadcast, {
      from: started,
      to,
      mailState: "cancelled",
      set: { statusReason, ...dueSoonAttributes(broadcast.id) },
    })
  )
    await enqueuePoll(broadcast);
}

/** Mail that was handed over is sent. The rest is suspended until the resume. */
export const pause = (broadcast: Broadcast, statusReason?: string): Promise<boolean> =>
  transition(broadcast, {
    from: ["sending"],
    to: "paused",
    mailState: "paused",
    ...(statusReason ? { set: { statusReason } } : {}),
    remove: [...indexAttributeNames("due"), ...(statusReason ? [] : ["statusReason"])],
  });

/** A holiday is cancelled, because a pause would outlast its day. */
export async function pauseOrCancel(broadcast: Broadcast, reason: string): Promise<void> {
  if (broadcast.kind === "holiday") await cancel(broadcast, reason);
  else await pause(broadcast, reason);
}

/** The bounce alarm starts again from the current counts. */
export async function resume(broadcast: Broadcast): Promise<boolean> {
  const { all: numbers } = await mailSources.getSourceTotals(broadcast.orgId, sourceOf(broadcast));
  const set = { watchedFrom: toBounceCounts(numbers), ...dueSoonAttributes(broadcast.id) };
  const isResumed = await transition(broadcast, {
    from: ["paused"],
    to: "sending",
    mailState: "going",
    set,
    remove: ["statusReason", "nudged"],
  });
  if (isResumed) await enqueuePoll(broadcast);
  return isResumed;
}

export const toBounceCounts = (numbers: mailSources.SourceTotals): BounceCounts => ({
  handedOver: countHandedOver(numbers),
  bounced: (numbers.events.bouncedHard ?? 0) + (numbers.events.bouncedSoft ?? 0),
  complained: numbers.events.complained ?? 0,
});

export const hold = (broadcast: Broadcast, statusReason: string): Promise<boolean> =>
  transition(broadcast, {
    from: ["scheduled"],
    to: "held",
    set: { statusReason },
    remove: [...indexAttributeNames("due"), "failedStarts"],
  });

/** It must be scheduled again. With a reason, it must be completed first. */
export const returnToDraft = (broadcast: Broadcast, statusReason?: string): Promise<boolean> =>
  transition(broadcast, {
    from: ["scheduled", "held"],
    to: "draft",
    ...(statusReason ? { set: { statusReason } } : {}),
    remove: [
      ...indexAttributeNames("due"),
      ...["scheduledAt", "localTime", "sendLate", "failedStarts"],
      ...(statusReason ? [] : ["statusReason"]),
    ],
  });

/** All mail is settled. */
export const finish = (broadcast: Broadcast): Promise<boolean> =>
  finishAndAudit(broadcast, toFinalTransition("sent", ["sending"]));

/** After a cancel or failure, all mail is settled. */
export const markStopped = (broadcast: Broadcast): Promise<boolean> =>
  finishAndAudit(broadcast, {
    ...toFinalTransition(broadcast.status, [broadcast.status]),
    extraCondition: absent("finishedAt"),
  });

/** Stores the job that audits the campaign in the same transaction, then enqueues it. */
async function finishAndAudit(broadcast: Broadcast, change: Transition): Promise<boolean> {
  if (broadcast.kind !== "campaign") return transition(broadcast, change);
  const isFinished = await transition(broadcast, {
    ...change,
    extraWrites: [createAuditWrite(broadcast)],
  });
  if (isFinished) await enqueueAudit(broadcast.orgId, broadcast.id);
  return isFinished;
}

/** Undefined when it does not exist, or when its site was deleted. */
export async function getBroadcast(key: BroadcastRef): Promise<Broadcast | undefined> {
  const [broadcast, deleted] = await Promise.all([
    get<Broadcast>(recordKey(key)),
    deletedSites(key.orgId),
  ]);
  return broadcast && !deleted.has(broadcast.siteId) ? broadcast : undefined;
}
