// Reads due enrollments from the due index, which has 64 shards. One worker at a time
// leases a shard and reads it page by page.
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { findDueShards, readDuePages } from "../../kernel/due-index.ts";
import { type JobOutcome, runLeasedJob } from "../../kernel/leased-job.ts";
import * as leases from "../../kernel/leases.ts";
import { enrollmentShards, indexes, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { advanceEnrollments } from "./advance.ts";
import { maxAdvanceBatch } from "./enrollment-scheduling.ts";

/** Enqueues a message for each shard that has a due entry. */
export async function enqueueDueShards(): Promise<void> {
  const shards = Array.from({ length: enrollmentShards }, (_, shard) => shard);
  const due = await findDueShards(shards, (shard) => indexes.dueEnrollments(shard));
  await enqueue(
    queues.advance,
    due.map((shard) => ({ work: "shard" as const, shard })),
  );
}

const workSeconds = queues.advance.timeoutSeconds - 25;
const leaseSeconds = queues.advance.timeoutSeconds + 30;

/**
 * Does nothing when another worker has the shard. If the time runs out, it enqueues a message that
 * continues.
 */
export async function drainShard(shard: number): Promise<void> {
  const taken = await leases.take(keys.shardLease("ENROLLMENT", shard), { seconds: leaseSeconds });
  if (!taken) return;
  await runLeasedJob(taken.lease, {
    work: () => drainUntil(shard, addSeconds(workSeconds)),
    enqueueNext: () => enqueue(queues.advance, [{ work: "shard", shard }]),
  });
}

/** It only reads forward: the index may still show an entry that was just removed. */
async function drainUntil(shard: number, until: Date): Promise<JobOutcome> {
  const errors: unknown[] = [];
  let outcome: JobOutcome = "idle";
  for await (const due of readDuePages(indexes.dueEnrollments(shard), maxAdvanceBatch)) {
    if (now() >= until) {
      outcome = "paused";
      break;
    }
    await advanceEnrollments(due).catch((error: unknown) => errors.push(error));
  }
  if (errors.length) throw errors[0];
  return outcome;
}
