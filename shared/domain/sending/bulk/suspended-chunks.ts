// Chunks outside of their lane, because their campaign or sequence is paused, or because they wait
// for the winner of an A/B test or for the local time of their recipients. They are stored with
// their mail source, so that the chunks behind them in the lane need not wait.
import { exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  queryPages,
  remove,
  transact,
  update,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { type Key, keys, ranges } from "../../../keys.ts";
import { addSourceCountWrites, type MailSource } from "../mail-sources.ts";
import { announceArrival } from "./lanes.ts";
import {
  listClaimedCalls,
  listOpenClaims,
  type OutcomeCounts,
  type QueuedChunk,
  queuedChunkKey,
  settledAttemptsOf,
  unchangedCondition,
} from "./queued-chunk.ts";

export type SuspendedChunk = QueuedChunk & { configId: number };

/** Moves a chunk without any claimed call out of its lane. */
export async function suspendChunk(orgId: number, queued: QueuedChunk): Promise<void> {
  await transact(...suspendWrites(orgId, queued));
}

/** Moves a chunk out of its lane and keeps the progress of its calls. */
export async function suspendStartedChunk(
  orgId: number,
  queued: QueuedChunk,
  { dayCounts, dayCounterWrites }: { dayCounts: OutcomeCounts; dayCounterWrites: Write[] },
): Promise<void> {
  const change = { dayCounts, moves: (queued.moves ?? 0) + 1 };
  await transact(...suspendWrites(orgId, queued, change), ...dayCounterWrites);
}

const suspendWrites = (
  orgId: number,
  { pk, sk, ...rest }: QueuedChunk,
  change: Partial<QueuedChunk> = {},
): Write[] => [
  remove({ pk, sk }, { if: unchangedCondition(rest) }),
  put(keys.suspendedChunk(orgId, rest.source!, sk), { ...rest, ...change }),
];

/**
 * The change to a chunk on release and further writes for the same transaction. Undefined keeps it
 * suspended.
 */
export type ReleaseRule = (
  chunk: SuspendedChunk,
) => Promise<{ change?: Partial<QueuedChunk>; extraWrites?: Write[] } | undefined>;

/**
 * Moves the suspended chunks of a source back to their lane, by default all and unchanged. With
 * `dueBefore`, it does not read those that wait for a later time. Safe to repeat and to run in
 * parallel.
 */
export async function releaseChunks(
  orgId: number,
  { source, configId, dueBefore }: { source: MailSource; configId: number; dueBefore?: Date },
  rule: ReleaseRule = async () => ({}),
): Promise<void> {
  // A chunk may have moved to the lane of a fallback.
  const configIds = new Set([configId]);
  const below = dueBefore && keys.waitingChunk(orgId, source, { at: dueBefore.toISOString() }).sk;
  const releaseChunk = async (chunk: SuspendedChunk) => {
    const decision = await rule(chunk);
    configIds.add(chunk.configId);
    // The condition fails when another worker released the chunk, even if it was suspended again
    // since.
    if (decision)
      await transact(
        ...releaseWrites(orgId, chunk, decision.change),
        ...(decision.extraWrites ?? []),
      );
  };
  await forEachChunk({ orgId, source, below }, releaseChunk);
  for (const id of configIds) await announceArrival(orgId, id);
}

const pageSize = 100;

async function forEachChunk(
  { orgId, source, below }: { orgId: number; source: MailSource; below?: string | undefined },
  handle: (chunk: SuspendedChunk) => Promise<void>,
): Promise<void> {
  const chunks = ranges.suspendedChunks(orgId, source);
  const options = { limit: pageSize, below, consistent: true };
  for await (const { items } of queryPages<SuspendedChunk>(chunks, options))
    await inParallel(8, items, handle);
}

const releaseWrites = (
  orgId: number,
  { pk, sk, ...rest }: SuspendedChunk,
  change: Partial<QueuedChunk> = {},
): Write[] => [
  remove({ pk, sk }, { if: unchangedCondition(rest) }),
  put(queuedChunkKey(orgId, rest.configId, rest), { ...rest, ...change }),
];

/**
 * Cancels the suspended chunks of a source. Chunks with claimed calls go back to the lane, which
 * settles those. Safe to repeat.
 */
export async function cancelChunks(
  orgId: number,
  { source, configId }: { source: MailSource; configId: number },
): Promise<void> {
  const configIds = new Set([configId]);
  await forEachChunk({ orgId, source }, async (chunk) => {
    configIds.add(chunk.configId);
    const writes = listClaimedCalls(chunk).length
      ? releaseWrites(orgId, chunk)
      : await cancelChunkWrites(orgId, chunk.source!, chunk);
    await transact(...writes);
  });
  for (const id of configIds) await announceArrival(orgId, id);
}

/**
 * Writes that cancel a chunk, in its lane or suspended: mails without a claim become `cancelled`,
 * claimed but unsettled mails become
 * `uncertain`.
 */
export async function cancelChunkWrites(
  orgId: number,
  source: MailSource,
  { pk, sk }: Key,
): Promise<Write[]> {
  const queued = await get<QueuedChunk>({ pk, sk });
  if (!queued) return [remove({ pk, sk }, { if: exists })];
  const { block, n, doneLines = 0 } = queued;
  const chunkKey = keys.chunk(orgId, block, queued.chunk);
  // The chunk itself expires after 60 days.
  const isStored = await get(chunkKey, { consistent: false });
  const uncertain = countUncertain(queued);
  return [
    remove({ pk, sk }, { if: unchangedCondition(queued) }),
    ...(isStored ? [update(chunkKey, { set: { cancelled: true } }, { if: exists })] : []),
    ...addSourceCountWrites(orgId, block, [
      { source, counts: { cancelled: n - doneLines - uncertain, uncertain, sending: -uncertain } },
    ]),
  ];
}

/** Mails of calls that are claimed and not settled. */
function countUncertain(queued: QueuedChunk): number {
  const { n, callSize = n } = queued;
  return listOpenClaims(queued)
    .map((call) => {
      const { recipients: settled } = settledAttemptsOf(queued, call);
      return Math.min(callSize, n - call * callSize) - settled;
    })
    .reduce((sum, mails) => sum + mails, 0);
}
