// The queue of chunks of a sending config. lane-runner.ts hands the chunks over. Adding chunks puts
// the lane on the due index, so that a lost queue message delays it but does not stop it.

import {
  absent,
  all,
  type Condition,
  equals,
  exists,
} from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  remove,
  transact,
  update,
  updateReturning,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import { endedBy } from "../../../kernel/lease.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys, zeroPad } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import { queues } from "../../../queues.ts";
import type { DepartureReader } from "../../audience/contacts/departures.ts";
import type { MailSource, SourceStateReader } from "../mail-sources.ts";
import type { IdempotencyWindow } from "../provider-calls/provider-call.ts";
import type { HandOverDelay } from "../provider-calls/rate-limiter.ts";
import type { ParallelCalls } from "./parallel-calls.ts";

/**
 * The entry of a chunk in its lane. For each provider call it has the last claim (`c0`, `c1`, ...)
 * and whether it is settled (`d0`, ...).
 */
export interface QueuedChunk {
  pk: string;
  sk: string;
  block: number;
  chunk: number;
  n: number;
  siteId: number;
  /** When it is due (ISO 8601). */
  at: string;
  /** When it was first due, if it was postponed since. */
  since?: string;
  /** Recipients per call, fixed when the first call is claimed. */
  callSize?: number;
  /** Number of recipients cancelled while the chunk waits. */
  cancels?: number;
  /** Set on marketing mail. */
  source?: MailSource;
  /** Number of recipients with a settled call. Counted for marketing mail only. */
  doneLines?: number;
  /**
   * Version of the entry. Each claim and each settled call increments it; moving the chunk requires
   * the version that was read.
   */
  moves?: number;
  /** Consecutive internal errors, and how many calls were settled at that time. */
  failed?: { tries: number; done: number };
  [call: `c${number}`]: CallClaim | undefined;
  [done: `d${number}`]: true | undefined;
  configId?: number;
}

/** The last attempt at a call. */
export interface CallClaim {
  attempt: number;
  /** Random id of this claim, so that a worker recognizes its own. */
  by: string;
  /**
   * The idempotency window of the first attempt that the provider may have received. Absent when
   * the provider has no idempotency keys.
   */
  key?: IdempotencyWindow | undefined;
  /** One provider call per mail, instead of one batch call. */
  alone?: true | undefined;
  /** Recipients left out, by index, with the reason. */
  skip: Record<string, string>;
  /** Indexes of the recipients whose domain is paused: they get their mail later. */
  later?: number[] | undefined;
}

/** The outcome of one attempt at a call, stored as the first write after the response. */
export interface CallResult {
  attempt: number;
  outcomes: [i: number, outcome: HandOverOutcome][];
  /**
   * Indexes of the recipients whose mail the provider may have, without confirming it. From now on
   * each gets a call of its own.
   */
  doubt: number[];
  /**
   * When the provider responded (ISO 8601). Set when the result is the only record of the accepted
   * mails. When absent, each accepted mail has an item of its own.
   */
  at?: string | undefined;
  /** Key of the provider that was called. Stored together with `at`. */
  provider?: string | undefined;
  /** By index: the contact who had the address of a transactional mail. */
  contactIds?: Record<string, number> | undefined;
}

/** What came of handing over a chunk, or one of its calls. */
export interface LaneRunResult {
  done: boolean;
  delay?: HandOverDelay | undefined;
  /** The provider accepted or refused some of it. */
  hasProgress: boolean;
  /** The rest can be handed over after this time, and the chunks behind it need not wait. */
  resumeAfterSeconds?: number | undefined;
  /** Absent while the call has no result and will be repeated with the same content. */
  results?: CallResult[] | undefined;
}

/** The state of the runner that hands a chunk over. */
export interface Runner {
  /** False when its time is up: it starts no further calls. */
  shouldContinue(): boolean;
  /** False when its lease has expired: another runner may have the lane. */
  holdsLease(): boolean;
  /** Since when the provider has accepted nothing of the lane (ISO 8601). */
  stalledSince: string | undefined;
  departures: DepartureReader;
  readSourceState: SourceStateReader;
  /** The calls in flight of all chunks that are handed over at the same time. */
  calls: ParallelCalls;
}

export const claimOf = (chunk: QueuedChunk, call: number): CallClaim | undefined =>
  chunk[`c${call}`];
export const isSettled = (chunk: QueuedChunk, call: number): boolean => chunk[`d${call}`] === true;

export const listClaimedCalls = (chunk: QueuedChunk): number[] => listCalls(chunk, /^c(\d+)$/);

const listCalls = (chunk: QueuedChunk, attribute: RegExp): number[] =>
  Object.keys(chunk).flatMap((name) => {
    const [, call] = attribute.exec(name) ?? [];
    return call === undefined ? [] : [Number(call)];
  });

export const queuedChunkKey = (
  orgId: number,
  configId: number,
  chunk: Pick<QueuedChunk, "block" | "chunk" | "at">,
): Key => keys.queuedChunk(orgId, configId, laneSortKey(chunk));

export const laneSortKey = ({
  block,
  chunk,
  at,
}: Pick<QueuedChunk, "block" | "chunk" | "at">): string => `5${at}#${zeroPad(block)}#${chunk}`;

/**
 * Adds chunks to a lane and marks it as due at once. The next runner sets the due time of the first
 * chunk.
 */
export const enqueueChunkWrites = (
  orgId: number,
  configId: number,
  added: Pick<QueuedChunk, "block" | "chunk" | "n" | "siteId" | "at">[],
): Write[] => [
  ...added.map((chunk) => put(queuedChunkKey(orgId, configId, chunk), chunk)),
  markArrivalWrite(orgId, configId),
];

const markArrivalWrite = (orgId: number, configId: number): Write =>
  update(keys.lane(orgId, configId), {
    add: { arrivals: 1 },
    set: { orgId, configId, ...laneDueAttributes(configId, now()) },
  });

/** Sets when the due index starts a runner for the lane. */
export const laneDueAttributes = (configId: number, at: Date) =>
  indexAttributes(indexes.due("LANE", dueShardOf(configId)), at.toISOString());

/** The attributes of a lane that its runner keeps, beside those of the rate limiter. */
export interface LaneState {
  /**
   * Incremented whenever chunks are added. A runner may leave the lane as empty only at the value
   * that it read.
   */
  arrivals: number;
  owner?: string;
  /** When the runner's lease ends (ISO 8601). */
  lease?: string;
}

export const leaseSeconds = queues.lane.timeoutSeconds + 90;

/**
 * Marks the lane as due and wakes a runner, unless one has the lane: it looks for arrivals before
 * it leaves. Callers that add chunks in many parallel transactions call it after the commit, so
 * that the transactions do not conflict on the lane item. A worker that takes over from a crashed
 * one calls it again.
 */
export async function announceArrival(orgId: number, configId: number): Promise<void> {
  const lane = await updateReturning<LaneState>(markArrivalWrite(orgId, configId));
  const isLeased = (lane?.lease ?? "") > endedBy(leaseSeconds).toISOString();
  if (!isLeased) await wakeLane(orgId, configId);
}

export const wakeLane = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });

/** The chunk is as it was read: not even a runner with an expired lease has changed it. */
export const unchangedCondition = ({
  moves,
  cancels,
}: Pick<QueuedChunk, "moves" | "cancels">): Condition =>
  all(
    exists,
    moves === undefined ? absent("moves") : equals("moves", moves),
    cancels === undefined ? absent("cancels") : equals("cancels", cancels),
  );

/**
 * Moves the chunk back in its lane, so that the chunks behind it go first. False when it changed in
 * the meantime.
 */
export async function postponeChunk(
  { orgId, configId }: { orgId: number; configId: number },
  { pk, sk }: Key,
  seconds: number,
): Promise<boolean> {
  const queued = await get<QueuedChunk>({ pk, sk });
  return queued !== undefined && reinsertLater({ orgId, configId, queued, seconds });
}

async function reinsertLater({
  orgId,
  configId,
  queued,
  seconds,
}: {
  orgId: number;
  configId: number;
  queued: QueuedChunk;
  seconds: number;
}): Promise<boolean> {
  const { pk, sk, ...rest } = queued;
  const postponed = {
    ...rest,
    at: addSeconds(Math.max(seconds, 1)).toISOString(),
    since: rest.since ?? rest.at,
  };
  return transact(
    remove({ pk, sk }, { if: unchangedCondition(queued) }),
    put(queuedChunkKey(orgId, configId, postponed), postponed),
  );
}

const maxFailures = 3;
const [firstPostponeSeconds, longestPostponeSeconds] = [300, 3600];

/**
 * Records an internal error during the hand-over of a chunk. After three errors without progress it
 * postpones the chunk, longer each time, and returns the number of tries.
 */
export async function recordFailure(
  orgId: number,
  configId: number,
  { pk, sk }: Key,
): Promise<number | undefined> {
  const queued = await get<QueuedChunk>({ pk, sk });
  if (!queued) return undefined;
  const done = listCalls(queued, /^d(\d+)$/).length;
  const tries = queued.failed?.done === done ? queued.failed.tries + 1 : 1;
  const failed = { tries, done };
  if (tries >= maxFailures) {
    const seconds = Math.min(
      firstPostponeSeconds * 2 ** (tries - maxFailures),
      longestPostponeSeconds,
    );
    const postponed = { orgId, configId, queued: { ...queued, failed }, seconds };
    return (await reinsertLater(postponed)) ? tries : undefined;
  }
  await transact(update({ pk, sk }, { set: { failed } }, { if: unchangedCondition(queued) }));
  return undefined;
}
