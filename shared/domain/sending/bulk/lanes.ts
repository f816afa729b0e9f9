// The queue of chunks of a sending config. lane-runner.ts hands the chunks over. Adding chunks puts
// the lane on the due index, so that a lost queue message delays it but does not stop it.

import {
  absent,
  all,
  any,
  atMost,
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
 * The entry of a chunk in its lane. For each provider call it has the last claim (`c0`, `c1`, ...),
 * which part of it is settled (`p0`, ...), and whether all of it is (`d0`, ...).
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
  [part: `p${number}`]: SettledPart | undefined;
  configId?: number;
  /** Owner and end (ISO 8601) of a lease, while several runners share the lane. */
  owner?: string;
  lease?: string;
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
 * The part of an open call that was settled when its source was paused: what came of its attempts
 * until then.
 */
export interface SettledPart {
  lastAttempt: number;
  recipients: number;
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
  /**
   * When the outcomes were stored (ISO 8601), so that a repeat after a crash gives sends and
   * contacts the same time. Absent in results of older versions.
   */
  storedAt?: string | undefined;
  /** Key of the provider that was called. Stored together with `at`. */
  provider?: string | undefined;
  /** Revision of the sending config that made the call. Absent: unknown. */
  revision?: number | undefined;
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
  /** When its leases end. */
  end: Date;
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

export const settledPartOf = (chunk: QueuedChunk, call: number): SettledPart =>
  chunk[`p${call}`] ?? { lastAttempt: -1, recipients: 0 };

/** No other worker settled more of the call since `chunk` was read. */
export const unsettledCondition = (chunk: QueuedChunk, call: number): Condition => {
  const part = chunk[`p${call}`];
  return all(absent(`d${call}`), part ? equals(`p${call}`, part) : absent(`p${call}`));
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
  /** Owner and end of the leases of the assistants, by place. */
  [assistant: `assistant${number}`]: string | undefined;
  [lease: `assistantLease${number}`]: string | undefined;
}

export const leaseSeconds = queues.lane.timeoutSeconds + 90;

/** At each place, one further runner can hand over chunks of a lane. */
export const assistantPlaces = [1, 2, 3];

/** The names of the two attributes of an assistant's lease. */
export const assistantAttributes = (place: number) =>
  ({ owner: `assistant${place}`, end: `assistantLease${place}` }) as const;

export const hasAssistants = (lane: LaneState): boolean =>
  assistantPlaces.some((place) => isLeaseValid(lane[assistantAttributes(place).end]));

const isLeaseValid = (end: string | undefined): boolean =>
  (end ?? "") > endedBy(leaseSeconds).toISOString();

/** Another runner hands the chunk over. */
export const isLeasedByOther = (chunk: QueuedChunk, owner: string): boolean =>
  chunk.owner !== owner && isLeaseValid(chunk.lease);

/** False when the chunk changed since it was read, or another runner has it. */
export const leaseChunk = (
  chunk: QueuedChunk,
  { owner, end }: { owner: string; end: Date },
): Promise<boolean> =>
  transact(
    update(
      { pk: chunk.pk, sk: chunk.sk },
      { set: { owner, lease: end.toISOString() } },
      {
        if: all(
          unchangedCondition(chunk),
          any(
            absent("lease"),
            atMost("lease", endedBy(leaseSeconds).toISOString()),
            equals("owner", owner),
          ),
        ),
      },
    ),
  );

/** For a chunk that this runner already hands over. False when it is no longer in the lane. */
export const leaseOwnChunk = (
  { pk, sk }: Key,
  { owner, end }: { owner: string; end: Date },
): Promise<boolean> =>
  transact(update({ pk, sk }, { set: { owner, lease: end.toISOString() } }, { if: exists }));

/** Lets another runner take the chunk. */
export async function releaseChunk({ pk, sk }: Key, owner: string): Promise<void> {
  await transact(
    update({ pk, sk }, { remove: ["owner", "lease"] }, { if: equals("owner", owner) }),
  );
}

/** The attributes that a chunk keeps when it moves: not its place, and not its lease. */
export function toMovable<C extends QueuedChunk>({ pk, sk, owner, lease, ...rest }: C) {
  return rest;
}

/**
 * Marks the lane as due and wakes a runner, unless one has the lane: it looks for arrivals before
 * it leaves. Callers that add chunks in many parallel transactions call it after the commit, so
 * that the transactions do not conflict on the lane item. A worker that takes over from a crashed
 * one calls it again.
 */
export async function announceArrival(orgId: number, configId: number): Promise<void> {
  const lane = await updateReturning<LaneState>(markArrivalWrite(orgId, configId));
  if (!isLeaseValid(lane?.lease)) await wakeLane(orgId, configId);
}

export const wakeLane = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });

/** `owner`: the runner that shares the lane. */
export const wakeAssistant = (
  orgId: number,
  configId: number,
  assists: { owner: string; place: number },
): Promise<void> => enqueue(queues.lane, [{ orgId, configId, assists }], { group: orgId });

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
  const { pk, sk } = queued;
  const rest = toMovable(queued);
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
