// The entry of a chunk in its lane, or outside of it while the chunk is suspended. It has the state
// of each provider call of the chunk: hand-over.ts shows these states.

import {
  absent,
  all,
  type Condition,
  equals,
  exists,
} from "../../../adapters/dynamodb/conditions.ts";
import { get, put, remove, transact, update } from "../../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../../clock.ts";
import { type Key, keys, zeroPad } from "../../../keys.ts";
import type { MailSource } from "../mail-sources.ts";
import type { IdempotencyWindow } from "../provider-calls/provider-call.ts";

/**
 * The entry of a chunk in its lane. For each provider call it has the last claim (`c0`, `c1`, ...),
 * which attempts of it are settled (`p0`, ...), and whether all of it is (`d0`, ...).
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
  /** Number of recipients that are settled. Counted for marketing mail only. */
  doneLines?: number;
  /**
   * Version of the entry. Each claim and each settled call increments it; moving the chunk requires
   * the version that was read.
   */
  moves?: number;
  /** What the daily counters have of it already, because it was suspended before. */
  dayCounts?: OutcomeCounts;
  /** Consecutive internal errors, and how many calls were settled at that time. */
  failed?: { tries: number; done: number };
  [call: `c${number}`]: CallClaim | undefined;
  [done: `d${number}`]: true | undefined;
  [attempts: `p${number}`]: SettledAttempts | undefined;
  configId?: number;
  /** The sending config from whose lane it moved. */
  movedFrom?: number;
  /** It moved as a share, so it can move once more, to a fallback. */
  isShare?: true | undefined;
}

export type OutcomeCounts = Record<"sent" | "failed" | "uncertain", number>;

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
  /** Revision of the sending config that makes the call. Absent: unknown. */
  revision?: number | undefined;
  /** One provider call per mail, instead of one batch call. */
  alone?: true | undefined;
  /** Recipients left out, by index, with the reason. */
  skip: Record<string, string>;
  /** Indexes of the recipients whose domain is paused: they get their mail later. */
  later?: number[] | undefined;
}

/**
 * The attempts of an open call that were settled when its source was paused: what came of them
 * until then.
 */
export interface SettledAttempts {
  lastAttempt: number;
  recipients: number;
}

export const claimOf = (chunk: QueuedChunk, call: number): CallClaim | undefined =>
  chunk[`c${call}`];
export const isSettled = (chunk: QueuedChunk, call: number): boolean => chunk[`d${call}`] === true;

export const settledAttemptsOf = (chunk: QueuedChunk, call: number): SettledAttempts =>
  chunk[`p${call}`] ?? { lastAttempt: -1, recipients: 0 };

/** No other worker settled more of the call since `chunk` was read. */
export const unsettledCondition = (chunk: QueuedChunk, call: number): Condition => {
  const attempts = chunk[`p${call}`];
  return all(absent(`d${call}`), attempts ? equals(`p${call}`, attempts) : absent(`p${call}`));
};

export const listClaimedCalls = (chunk: QueuedChunk): number[] => listCalls(chunk, /^c(\d+)$/);

/** Calls that are claimed and not settled. */
export const listOpenClaims = (chunk: QueuedChunk): number[] =>
  listClaimedCalls(chunk).filter((call) => !isSettled(chunk, call));

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

export const entryKey = ({ pk, sk }: Key): Key => ({ pk, sk });

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
 * After an internal error during the hand-over of a chunk. The third error without progress
 * postpones the chunk, longer each time, and returns the number of tries.
 */
export async function postponeAfterErrors(
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
