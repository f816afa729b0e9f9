// Hands a chunk over to the provider, call by call. The states of a call:
//
//   queued
//     |   claim-call.ts writes the claim into the entry of the chunk.
//     |   Crash before the write: the next runner claims the call.
//   claimed
//     |   attempt-call.ts makes the call, and its first write after the response is the RESULT.
//     |   Crash before the write: the provider may have the mails. The next runner takes the claim
//     |   over. It repeats the call if the provider has idempotency keys, else the mails become
//     |   uncertain.
//   recorded
//     |   record-call.ts inserts the sends that were not accepted. settle-calls.ts counts the mails
//     |   in the transaction that marks the call as settled.
//     |   Crash before the transaction: the next runner reads the RESULT, and repeats both without
//     |   a call.
//   settled
//         When all calls of the chunk are, close-chunk.ts removes its entry from the lane in the
//         transaction that counts the day. It also settles the last calls.
//         Crash before the transaction: the next runner finds nothing to call, and repeats it.
//
// A call with mails that the provider refused for now is recorded and then claimed again, for these
// mails only. Its RESULTs are settled together.

import { now } from "../../../clock.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import type { SourceState } from "../mail-sources.ts";
import { attemptCall } from "./attempt-call.ts";
import { getCallProgress } from "./call-results.ts";
import type { ChunkRecipient } from "./chunks.ts";
import {
  closeCancelledChunk,
  closeChunk,
  removeExpiredChunk,
  suspendStartedChunk,
} from "./close-chunk.ts";
import { type PreparedChunk, prepareChunk } from "./prepared-chunk.ts";
import {
  claimOf,
  isSettled,
  listOpenClaims,
  postponeChunk,
  type QueuedChunk,
} from "./queued-chunk.ts";
import { insertRefusedSends, type RecordedCall, recordCall } from "./record-call.ts";
import type { HandOverResult, Runner } from "./runner.ts";
import { settleCalls } from "./settle-calls.ts";
import { suspendChunk } from "./suspended-chunks.ts";

export interface ChunkHandOver {
  orgId: number;
  configId: number;
  queued: QueuedChunk;
  runner: Runner;
}

/** Hands over the open calls of a chunk, unless its source is paused. */
export async function handOverChunk({
  orgId,
  configId,
  queued,
  runner,
}: ChunkHandOver): Promise<HandOverResult> {
  const { source } = queued;
  const state = source ? await runner.readSourceState(source) : "going";
  const isUntouched = queued.callSize === undefined;
  if (state === "paused" && isUntouched) {
    await suspendChunk(orgId, queued);
    return chunkRemoved;
  }
  const stored = await prepareChunk(orgId, configId, queued);
  if (!stored) {
    await removeExpiredChunk(orgId, queued);
    return chunkRemoved;
  }
  const prepared = { ...stored, runner };
  if (state === "paused") return settleAndSuspend(prepared);
  if (isUntouched) await insertRefusedSends(prepared);
  return handOverOpenCalls(prepared, configId, state);
}

const chunkRemoved: HandOverResult = { done: true, hasProgress: true };

interface Call {
  call: number;
  recipients: ChunkRecipient[];
}

/** Removes the chunk from the lane when all calls are settled. */
async function handOverOpenCalls(
  prepared: PreparedChunk,
  configId: number,
  state: SourceState,
): Promise<HandOverResult> {
  const openCalls = listOpenCalls(prepared, state);
  const { results, recorded } = await handOverCalls(prepared, openCalls);
  const done = results.filter((result) => result.done).length === openCalls.length;
  if (done) {
    const known = new Map(results.map((result) => [result.call, result.results ?? []]));
    const close = state === "cancelled" ? closeCancelledChunk : closeChunk;
    await close(prepared, { recorded, known });
  } else await settleCalls(prepared, recorded);
  const delay = results.find((result) => result.delay)?.delay;
  const isPostponed =
    !delay &&
    results.length === openCalls.length &&
    (await postponeIfWaiting(prepared, configId, results));
  return {
    done: done || isPostponed,
    delay,
    hasProgress: results.some(({ hasProgress }) => hasProgress),
  };
}

const listOpenCalls = ({ calls, queued }: PreparedChunk, state: SourceState): Call[] =>
  calls.flatMap((recipients, call) => {
    const isCancelled = state === "cancelled" && !claimOf(queued, call);
    return isSettled(queued, call) || isCancelled ? [] : [{ recipients, call }];
  });

/** Some of its mails wait for recipient domains, and the chunks behind it need not. */
async function postponeIfWaiting(
  { orgId, queued }: PreparedChunk,
  configId: number,
  results: HandOverResult[],
): Promise<boolean> {
  const waits = results.flatMap(({ resumeAfterSeconds = [] }) => resumeAfterSeconds);
  return waits.length > 0 && postponeChunk({ orgId, configId }, queued, Math.min(...waits));
}

/**
 * Settles the open calls of a paused source, and suspends the chunk. Calls that a crash interrupted
 * are completed, because the provider may have their mails. Of those that the provider refused for
 * now, only the mails with an outcome are settled: no further attempt is made.
 */
async function settleAndSuspend(prepared: PreparedChunk): Promise<HandOverResult> {
  const openCalls = await inParallel(4, listOpenClaims(prepared.queued), async (call) => {
    const recipients = prepared.calls[call]!;
    return { call, recipients, ...(await getCallProgress(prepared, recipients, call)) };
  });
  const interrupted = openCalls.filter(({ isInterrupted }) => isInterrupted);
  const { results, recorded } = await handOverCalls(prepared, interrupted);
  const others = await inParallel(
    4,
    openCalls.filter(({ isInterrupted }) => !isInterrupted),
    ({ open, ...one }) => recordCall(prepared, { ...one, isDone: !open.length }, one.results),
  );
  await settleCalls(prepared, [
    ...recorded,
    ...others.filter(({ mails, attempts }) => mails || !attempts),
  ]);
  if (results.filter(({ done }) => done).length < interrupted.length)
    return { done: false, delay: results.find(({ delay }) => delay)?.delay, hasProgress: false };
  await suspendStartedChunk(prepared);
  return chunkRemoved;
}

interface HandedOverCalls {
  results: (HandOverResult & { call: number })[];
  /** The calls that are done and not yet settled. */
  recorded: RecordedCall[];
}

/**
 * The calls of a chunk are settled together when the last is done. Those of a slow chunk are
 * settled after this time, so that the counters are not late.
 */
const maxUnsettledMs = 2000;

/**
 * Makes the calls in parallel, and starts no further ones after a failure, a delay or the end of
 * the runner's time.
 */
async function handOverCalls(prepared: PreparedChunk, openCalls: Call[]): Promise<HandedOverCalls> {
  const { runner } = prepared;
  const [startedAt, most] = [now().getTime(), limitParallelCalls(prepared)];
  const { results, recorded }: HandedOverCalls = { results: [], recorded: [] };
  const failures: unknown[] = [];
  const mustStop = () =>
    failures.length > 0 ||
    runner.calls.isStopped() ||
    results.some(({ delay, done, resumeAfterSeconds }) => delay || !(done || resumeAfterSeconds)) ||
    !runner.shouldContinue();
  const handOverNext = async (next: Call): Promise<void> => {
    if (mustStop()) return;
    const { doneCall, ...result } = await handOverCall(prepared, next);
    results.push({ ...result, call: next.call });
    if (doneCall) recorded.push(doneCall);
    if (result.delay) runner.calls.stop();
    else if (result.hasProgress) runner.calls.widen();
    if (now().getTime() - startedAt > maxUnsettledMs)
      await settleCalls(prepared, recorded.splice(0));
  };
  // When one call fails, the others still finish: no other runner may take the lane while calls
  // are in flight.
  const inFlight = openCalls.map((next) =>
    runner.calls.run(most, () =>
      handOverNext(next).catch((error: unknown) => void failures.push(error)),
    ),
  );
  await Promise.all(inFlight);
  if (!failures.length) return { results, recorded };
  await settleCalls(prepared, recorded);
  throw failures[0];
}

/** As many as start within a second: more do not help when the rate limit is the bottleneck. */
function limitParallelCalls({ transport, callSize }: PreparedChunk): number {
  if (!transport) return 1;
  const { ratePerSecond } = transport.config;
  const byPace = ratePerSecond ? Math.floor(ratePerSecond / callSize) : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(byPace, transport.limitCalls(callSize)));
}

/** Continues one call from where earlier attempts left it. A call that is done is to be settled. */
async function handOverCall(
  prepared: PreparedChunk,
  { recipients, call }: Call,
): Promise<HandOverResult & { doneCall?: RecordedCall }> {
  const { queued, source, runner } = prepared;
  const isClaimed = claimOf(queued, call) !== undefined;
  // A campaign that was stopped in the meantime starts no further calls.
  if (source && !isClaimed && (await runner.readSourceState(source)) !== "going")
    return { done: false, hasProgress: false };
  const progress = await getCallProgress(prepared, recipients, call);
  const stalledSince = toStalledSince(runner, queued);
  const attempt: HandOverResult = progress.open.length
    ? await attemptCall(prepared, call, { progress, stalledSince })
    : { done: true, hasProgress: true, results: [] };
  if (!attempt.results) return attempt;
  // A crash may have interrupted the writes after an earlier attempt. They are repeated, and have
  // no effect where they were made.
  const results = [...progress.results, ...attempt.results];
  const isDone = attempt.done;
  const recorded = await recordCall(prepared, { recipients, call, isDone }, results);
  return isDone
    ? { ...attempt, resumeAfterSeconds: undefined, results, doneCall: recorded }
    : { ...attempt, results };
}

/**
 * The later of the first due time of the chunk and the provider's stall: neither new mail nor a
 * short outage reaches the retry limit.
 */
function toStalledSince({ stalledSince }: Runner, { since, at }: QueuedChunk): string | undefined {
  if (!stalledSince) return undefined;
  const firstDueAt = since ?? at;
  return stalledSince > firstDueAt ? stalledSince : firstDueAt;
}
