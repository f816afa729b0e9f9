// Runs a campaign or holiday: each poll looks at its status and does the next step. While it waits,
// it sends itself a delayed message. Only one chain of such messages is valid, and the due index
// restarts a chain that breaks.

import { absent, all, type Condition, equals } from "../../../adapters/dynamodb/conditions.ts";
import { transact, update, updateReturning } from "../../../adapters/dynamodb/table.ts";
import { enqueue, maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import { Problem } from "../../../errors.ts";
import * as log from "../../../kernel/log.ts";
import { indexAttributeNames } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as suspendedChunks from "../../sending/bulk/suspended-chunks.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { isSettled } from "../../sending/mailing-stats.ts";
import { publishStarted } from "../archive/publish-campaign.ts";
import { feedUnavailable } from "../campaign-feed.ts";
import type { StoredCampaign } from "../stored-campaign.ts";
import { createReleaseRule, findLook, pickCertainWinner, pickWinner } from "./ab-test.ts";
import { checkBounceRates } from "./bounce-alarm.ts";
import {
  type Broadcast,
  type BroadcastRef,
  type BroadcastStatus,
  broadcastDueAttributes,
  enqueueFanOut,
  enqueuePoll,
  graceSeconds,
  recordKey,
  sourceOf,
} from "./broadcast.ts";
import { broadcastKinds } from "./broadcast-kinds.ts";
import * as broadcastPlan from "./broadcast-plan.ts";
import * as cleanup from "./cleanup.ts";
import * as fanOutCursors from "./fan-out-cursors.ts";
import * as localTime from "./local-time.ts";
import { startBroadcast } from "./start-broadcast.ts";
import * as transitions from "./transitions.ts";

/** A message of an older chain does nothing. */
export async function pollBroadcast(key: BroadcastRef, chainNumber?: number): Promise<void> {
  const broadcast = await transitions.getBroadcast(key);
  if (!broadcast) return cleanup.cleanUpBroadcast(key);
  if (chainNumber !== undefined && broadcast.beat !== chainNumber) return;
  await actionByStatus[broadcast.status](broadcast);
}

const stopPolling = async (broadcast: Broadcast): Promise<void> => {
  await transact(
    update(
      recordKey(broadcast),
      { remove: indexAttributeNames("due") },
      { if: equals("status", broadcast.status) },
    ),
  );
};

const actionByStatus: Record<BroadcastStatus, (broadcast: Broadcast) => Promise<void>> = {
  draft: stopPolling,
  scheduled: startIfDue,
  held: stopPolling,
  sending: continueSending,
  paused: stopPolling,
  sent: stopPolling,
  cancelled: finishStopping,
  failed: finishStopping,
};

async function startIfDue(broadcast: Broadcast): Promise<void> {
  const { getStartTime, getLateAction, buildPlan } = broadcastKinds[broadcast.kind];
  const at = await getStartTime(broadcast);
  if (at > now()) return waitUntil(broadcast, at);
  const lateAction = await getLateAction(broadcast, at);
  if (lateAction) return void (await lateAction());
  try {
    // When it changed in the meantime, that change has sent a poll message of its own.
    await startBroadcast(broadcast, await buildPlan(broadcast));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === feedUnavailable) return retryStart(broadcast, error.message);
    await transitions.failBroadcast(broadcast, error.message);
  }
}

/** The start is tried again after each of these times, then the broadcast is held. */
const startRetrySeconds = [60, 120, 240];

async function retryStart(broadcast: Broadcast, reason: string): Promise<void> {
  const { id, failedStarts = 0 } = broadcast;
  const seconds = startRetrySeconds[failedStarts];
  if (seconds === undefined)
    return void (await transitions.hold(broadcast, `${reason}. Send or schedule it again`));
  const set = {
    failedStarts: failedStarts + 1,
    statusReason: `${reason}. The start is tried again`,
    ...broadcastDueAttributes(id, addSeconds(seconds + graceSeconds)),
  };
  const isFirst = failedStarts ? equals("failedStarts", failedStarts) : absent("failedStarts");
  const waiting = update(
    recordKey(broadcast),
    { set },
    { if: all(unchangedCondition(broadcast), isFirst) },
  );
  if (await transact(waiting)) await enqueuePoll(broadcast, seconds);
}

/** In the last minutes a delayed message polls on time, as the due index may be a minute late. */
async function waitUntil(broadcast: Broadcast, until: Date): Promise<void> {
  const soon = until.getTime() - now().getTime() <= maxDelaySeconds * 1000;
  const waiting = update(
    recordKey(broadcast),
    { set: broadcastDueAttributes(broadcast.id, addSeconds(soon ? graceSeconds : 0, until)) },
    { if: unchangedCondition(broadcast) },
  );
  if ((await transact(waiting)) && soon)
    await enqueuePoll(broadcast, (until.getTime() - now().getTime()) / 1000);
}

const unchangedCondition = ({ revision, status }: Broadcast): Condition =>
  all(equals("revision", revision), equals("status", status));

/**
 * Starts the next message of this chain and ends all others. Undefined when the status has changed.
 */
const advanceChain = (broadcast: Broadcast, delaySeconds: number): Promise<Broadcast | undefined> =>
  updateReturning<Broadcast>(
    update(
      recordKey(broadcast),
      {
        add: { beat: 1 },
        set: broadcastDueAttributes(broadcast.id, addSeconds(delaySeconds + graceSeconds)),
      },
      {
        if: all(
          equals("status", broadcast.status),
          broadcast.beat === undefined ? absent("beat") : equals("beat", broadcast.beat),
        ),
      },
    ),
  );

/** The delay grows with the time since `since`. */
async function schedulePoll(
  broadcast: Broadcast,
  since: string,
  maxSeconds: number,
): Promise<void> {
  const ageSeconds = (now().getTime() - Date.parse(since)) / 1000;
  const delaySeconds = Math.round(Math.min(maxSeconds, Math.max(10, ageSeconds / 20)));
  const next = await advanceChain(broadcast, delaySeconds);
  const { orgId, kind, id } = broadcast;
  if (next)
    await enqueue(queues.campaigns, [{ orgId, kind, id, beat: next.beat }], {
      group: orgId,
      delaySeconds,
    });
}

async function continueSending(broadcast: Broadcast): Promise<void> {
  const { orgId } = broadcast;
  const [plan, progress] = await Promise.all([
    broadcastPlan.getPlan(broadcast),
    fanOutCursors.listCursors(broadcast),
  ]);
  const isFanOutDone = progress.every(({ done }) => done);
  if (!isFanOutDone) await requeueIdleShards(broadcast, progress);
  const { all: numbers, parts } = await mailSources.getStoredSourceTotals(
    orgId,
    sourceOf(broadcast),
  );
  if (isFanOutDone) reportNegativeCounters(broadcast, numbers);
  const isDone = isFanOutDone && isSettled(numbers);
  if (broadcast.kind === "campaign")
    await publishStarted(broadcast as StoredCampaign, plan, { isDone });
  const alarmReason = checkBounceRates(transitions.toBounceCounts(numbers), broadcast.watchedFrom);
  if (alarmReason) return transitions.pauseOrCancel(broadcast, alarmReason);
  await suspendedChunks.releaseChunks(
    orgId,
    { source: sourceOf(broadcast), configId: plan.configId, dueBefore: now() },
    createReleaseRule(broadcast, plan),
  );
  if (isDone) return void (await transitions.finish(broadcast));
  const isTestSent =
    plan.test &&
    !broadcast.winner &&
    isFanOutDone &&
    plan.parts.every(({ id }) => isSettled(parts.get(id!) ?? zeroTotals));
  if (isTestSent) return decideTest(broadcast, plan, parts);
  const [next, ...later] = localTime.listUpcoming(numbers.releases);
  const isOnlyWaiting =
    next && numbers.queued + numbers.sending <= localTime.countMails([next, ...later]);
  if (isFanOutDone && isOnlyWaiting) return waitUntil(broadcast, new Date(next.at));
  await schedulePoll(broadcast, broadcast.startedAt!, 60);
}

/**
 * Raises an alarm if mail was counted twice. Other counters than these two can be negative for a
 * moment, when an event arrives before the provider's response.
 */
function reportNegativeCounters(
  { orgId, kind, id }: BroadcastRef,
  { queued, sending, ...others }: mailSources.SourceTotals,
): void {
  if (queued >= 0 && sending >= 0) return;
  const { accepted, sent, delivered, failed, uncertain, cancelled } = others;
  log.error("negative counters", new Error("Mail was counted twice"), {
    ...{ orgId, kind, id, accepted, queued, sending },
    ...{ sent, delivered, failed, uncertain, cancelled },
  });
}

const zeroTotals = {
  accepted: 0,
  sent: 0,
  delivered: 0,
  failed: 0,
  uncertain: 0,
  cancelled: 0,
} as mailSources.SourceTotals;

/**
 * A shard without a worker may still wait in the queue, so it is enqueued again at most once a
 * minute.
 */
const requeueSeconds = 60;

async function requeueIdleShards(
  broadcast: Broadcast,
  progress: fanOutCursors.FanOutCursor[],
): Promise<void> {
  const others = progress.filter(({ shard }) => shard !== fanOutCursors.movedShard);
  const what = others.every(({ done }) => done) ? "late" : "all";
  const free = progress.filter(
    (cursor) =>
      fanOutCursors.isFree(cursor) &&
      (what === "late" || cursor.shard !== fanOutCursors.movedShard),
  );
  const { nudged } = broadcast;
  if (
    !free.length ||
    (nudged?.what === what && nudged.at > addSeconds(-requeueSeconds).toISOString())
  )
    return;
  await transact(
    update(
      recordKey(broadcast),
      { set: { nudged: { what, at: now().toISOString() } } },
      { if: equals("status", "sending") },
    ),
  );
  await enqueueFanOut(
    broadcast,
    free.map(({ shard }) => shard),
  );
}

/**
 * After the test mails are handed over: waits for the end of the test, or until a look finds that
 * the winner is certain. Then picks the winner and continues.
 */
async function decideTest(
  broadcast: Broadcast,
  plan: broadcastPlan.BroadcastPlan,
  parts: Map<number, mailSources.SourceTotals>,
): Promise<void> {
  const { testedAt = now().toISOString(), testLooks = 0 } = broadcast;
  const test = plan.test!;
  const { look, isLast, nextAt } = findLook(test, testedAt);
  const set = (changes: Partial<Broadcast>, rule: Condition) =>
    transact(
      update(
        recordKey(broadcast),
        { set: { ...changes } },
        { if: all(unchangedCondition(broadcast), rule) },
      ),
    );
  if (!broadcast.testedAt) await set({ testedAt }, absent("testedAt"));
  const isDue = isLast || look > testLooks;
  const pick = isLast ? pickWinner : pickCertainWinner;
  const winner = isDue ? pick(plan.parts, parts, test) : undefined;
  if (!winner) {
    if (isDue) await set({ testLooks: look }, absent("winner"));
    return waitUntil(broadcast, nextAt);
  }
  await set({ winner }, absent("winner"));
  const decided = await transitions.getBroadcast(broadcast);
  if (decided?.status === "sending") await continueSending(decided);
}

/** Stops the fan-out and cancels queued mail. Mail that is being handed over is settled first. */
async function finishStopping(broadcast: Broadcast): Promise<void> {
  if (broadcast.finishedAt) return stopPolling(broadcast);
  const { configId } = await broadcastPlan.getPlan(broadcast);
  await fanOutCursors.stopCursors(broadcast);
  await suspendedChunks.cancelChunks(broadcast.orgId, { source: sourceOf(broadcast), configId });
  const { all: numbers } = await mailSources.getStoredSourceTotals(
    broadcast.orgId,
    sourceOf(broadcast),
  );
  reportNegativeCounters(broadcast, numbers);
  if (isSettled(numbers)) return void (await transitions.markStopped(broadcast));
  await schedulePoll(broadcast, broadcast.updatedAt, 300);
}
