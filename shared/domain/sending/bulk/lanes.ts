// The lane of a sending config is the queue of its chunks. Adding chunks puts the lane on the due
// index, so that a lost queue message delays it but does not stop it. lane-runner.ts hands the
// chunks over.

import { put, update, updateReturning, type Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { now } from "../../../clock.ts";
import { endedBy, type Leased } from "../../../kernel/leases.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { type QueuedChunk, queuedChunkKey } from "./queued-chunk.ts";

/** The attributes of a lane that its runner keeps, besides those of the rate limiter. */
export interface LaneState extends Leased {
  /**
   * Incremented whenever chunks are added. A runner may leave the lane as empty only at the value
   * that it read.
   */
  arrivals: number;
}

export const leaseSeconds = queues.lane.timeoutSeconds + 90;

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

/**
 * Marks the lane as due and wakes a runner, unless one has the lane: it looks for arrivals before
 * it leaves. Callers that add chunks in many parallel transactions call it after the commit, so
 * that the transactions do not conflict on the lane item. A worker that takes over from a crashed
 * one calls it again.
 */
export async function announceArrival(orgId: number, configId: number): Promise<void> {
  const lane = await updateReturning<LaneState>(markArrivalWrite(orgId, configId));
  const isRunning = (lane?.lease ?? "") > endedBy(leaseSeconds).toISOString();
  if (!isRunning) await wakeLane(orgId, configId);
}

export const wakeLane = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });
