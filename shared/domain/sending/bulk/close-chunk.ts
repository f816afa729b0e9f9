// The end of a chunk in its lane. One transaction removes its entry and counts its mails in the
// daily counters.

import { absent, all, equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, remove, transact, type Write } from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import * as organizations from "../../identity/organizations.ts";
import * as dailyCounters from "../daily-counters.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import type { SendItem } from "../send-schema.ts";
import {
  type CallResult,
  listCallResults,
  listFinalOutcomes,
  toRefusedResult,
} from "./call-results.ts";
import * as chunks from "./chunks.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import {
  claimOf,
  entryKey,
  isSettled,
  type OutcomeCounts,
  type QueuedChunk,
  unchangedCondition,
} from "./queued-chunk.ts";
import type { RecordedCall } from "./record-call.ts";
import {
  allUnsettledCondition,
  countCallsWrites,
  maxCallsPerTransaction,
  settleCalls,
} from "./settle-calls.ts";
import * as suspendedChunks from "./suspended-chunks.ts";

interface DoneCalls {
  /** The calls that are recorded and not settled. */
  recorded: RecordedCall[];
  /** The results of calls that were just made, by call. */
  known: Map<number, CallResult[]>;
}

/**
 * Removes the chunk from the lane, in the transaction that settles its last calls. After a crash
 * before it, the next runner does it again.
 */
export async function closeChunk(
  prepared: PreparedChunk,
  { recorded, known }: DoneCalls,
): Promise<void> {
  const { queued } = prepared;
  const results = await listResults(prepared, known);
  const last = recorded.splice(-maxCallsPerTransaction);
  await settleCalls(prepared, recorded);
  const isUnchanged = all(allUnsettledCondition(queued, last), sameDayCountsCondition(queued));
  const removeWrite = remove(entryKey(queued), { if: isUnchanged });
  const countWrites = await countCallsWrites(prepared, last);
  await countDay(prepared, results, [removeWrite, ...countWrites]);
}

/** The same for a chunk of a cancelled source: mails without a claim become `cancelled`. */
export async function closeCancelledChunk(
  prepared: PreparedChunk,
  { recorded, known }: DoneCalls,
): Promise<void> {
  const { orgId, queued } = prepared;
  const results = await listResults(prepared, known);
  await settleCalls(prepared, recorded);
  const cancelWrites = await suspendedChunks.cancelChunkWrites(
    orgId,
    queued.source!,
    entryKey(queued),
  );
  await countDay(prepared, results, cancelWrites);
}

/** Moves a chunk whose calls are settled out of the lane. */
export async function suspendStartedChunk(prepared: PreparedChunk): Promise<void> {
  const { orgId } = prepared;
  const queued = (await get<QueuedChunk>(entryKey(prepared.queued))) ?? prepared.queued;
  const settled = { ...prepared, queued };
  const dayCounts = await countOutcomes(settled, await listResults(settled));
  await suspendedChunks.suspendStartedChunk(orgId, queued, {
    dayCounts,
    dayCounterWrites: await dayCounterWrites(settled, dayCounts),
  });
}

/**
 * The recipients are no longer stored, for example because a campaign was paused for months. The
 * chunks behind this one must not wait.
 */
export async function removeExpiredChunk(orgId: number, queued: QueuedChunk): Promise<void> {
  const { source } = queued;
  await transact(
    ...(source
      ? await suspendedChunks.cancelChunkWrites(orgId, source, queued)
      : [remove(queued, { if: unchangedCondition(queued) })]),
  );
}

/** The results of all calls. */
async function listResults(
  prepared: PreparedChunk,
  known = new Map<number, CallResult[]>(),
): Promise<CallResult[]> {
  const { orgId, queued } = prepared;
  const results = await inParallel(4, [...prepared.calls.keys()], async (call) => {
    const knownResults = known.get(call);
    if (knownResults) return knownResults;
    if (claimOf(queued, call)) return listCallResults(orgId, queued, call);
    // Settled without a claim: there was no provider to call. Neither settled nor claimed: it was
    // cancelled.
    return isSettled(queued, call) ? [toRefusedResult(prepared, prepared.calls[call]!)] : [];
  });
  return results.flat();
}

async function countDay(
  prepared: PreparedChunk,
  results: CallResult[],
  closingWrites: Write[],
): Promise<void> {
  const counts = await countOutcomes(prepared, results);
  await transact(...closingWrites, ...(await dayCounterWrites(prepared, counts)));
}

async function countOutcomes(
  { orgId, queued, head, recipients }: PreparedChunk,
  results: CallResult[],
): Promise<OutcomeCounts> {
  const refused = recipients.flatMap(({ error }): HandOverOutcome[] =>
    error ? [{ status: "refused", error }] : [],
  );
  const { accepted, others } = await splitOutcomes({ orgId, block: queued.block }, results);
  const counts = { sent: accepted, failed: 0, uncertain: 0 };
  for (const outcome of [...refused, ...others]) {
    const { status } = toSendFields(outcome, head.createdAt);
    if (status === "failed" || status === "uncertain") counts[status]++;
  }
  return counts;
}

/**
 * The number of accepted mails, and the outcomes of the others. A mail with an event that arrived
 * first counts as accepted, as it does for its mail source.
 */
async function splitOutcomes(
  { orgId, block }: { orgId: number; block: number },
  results: CallResult[],
): Promise<{ accepted: number; others: HandOverOutcome[] }> {
  const outcomes = results.flatMap(listFinalOutcomes);
  const unaccepted = outcomes.filter(([, { status }]) => status !== "accepted");
  const sends = await getMany<SendItem>(
    unaccepted.map(([i]) => keys.send(orgId, chunks.sendIdOf(block, { i }))),
    { consistent: true },
  );
  const others = unaccepted.flatMap(([, outcome], k) => (sends[k]?.early ? [] : [outcome]));
  return { accepted: outcomes.length - others.length, others };
}

/** Writes that bring the daily counters from what the chunk counts in them already to `counts`. */
async function dayCounterWrites(
  { orgId, queued, head }: PreparedChunk,
  counts: OutcomeCounts,
): Promise<Write[]> {
  const known = queued.dayCounts ?? { sent: 0, failed: 0, uncertain: 0 };
  const added = {
    sent: counts.sent - known.sent,
    failed: counts.failed - known.failed,
    uncertain: counts.uncertain - known.uncertain,
  };
  const date = await organizations.getToday(orgId);
  return dailyCounters.dayCounterWrites(
    orgId,
    { siteId: head.siteId, date, shardSeed: queued.block },
    [{ configId: head.sendingConfigId, counts: added }],
  );
}

const sameDayCountsCondition = ({ dayCounts }: QueuedChunk) =>
  dayCounts ? equals("dayCounts", dayCounts) : absent("dayCounts");
