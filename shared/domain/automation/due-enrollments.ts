// Reads due enrollments and cohorts from the due index, which has 64 shards. One worker at a time
// leases a shard and reads it page by page.
import { getMany, remove, writeMany } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { findDueShards, readDuePages } from "../../kernel/due-index.ts";
import * as leases from "../../kernel/lease.ts";
import { type JobOutcome, runLeasedJob } from "../../kernel/leased-job.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { enrollmentShards, indexes, isCohortKey, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { advanceEnrollments } from "./advance.ts";
import { type Cohort, maxAdvanceBatch, memberKeys } from "./cohorts.ts";

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

async function drainUntil(shard: number, until: Date): Promise<JobOutcome> {
  const errors: unknown[] = [];
  let outcome: JobOutcome = "idle";
  for await (const work of readDueWork(shard)) {
    if (now() >= until) {
      outcome = "paused";
      break;
    }
    await work().catch((error: unknown) => errors.push(error));
  }
  if (errors.length) throw errors[0];
  return outcome;
}

/**
 * Yields for each page the single enrollments in one step, then the cohorts, a few of each sequence
 * in turn. It only reads forward: the index may still show an entry that was just removed.
 */
async function* readDueWork(shard: number): AsyncGenerator<() => Promise<unknown>> {
  for await (const due of readDuePages(indexes.dueEnrollments(shard), maxAdvanceBatch)) {
    const singles = due.filter((entry) => !isCohortKey(entry));
    if (singles.length) yield () => advanceEnrollments(singles);
    const cohorts = (await getMany<Cohort>(due.filter(isCohortKey), { consistent: true })).flatMap(
      (cohort) => cohort ?? [],
    );
    const bySequence = [
      ...Map.groupBy(cohorts, ({ orgId, sequenceId }) => `${orgId}/${sequenceId}`).values(),
    ];
    const batches = bySequence.flatMap((sequenceCohorts) =>
      splitIntoBatches(sequenceCohorts, cohortsPerTurn).map((batch, turn) => ({ batch, turn })),
    );
    for (const { batch } of batches.toSorted((a, b) => a.turn - b.turn))
      yield () => advanceCohorts(batch);
  }
}

// About 1,000 enrollments.
const cohortsPerTurn = 12;

/**
 * Advances cohorts of one sequence and deletes them once all their enrollments have advanced.
 * Otherwise, or if this clock is behind and a cohort is not due yet, they stay, and the next
 * scheduled run finds the rest.
 */
export async function advanceCohorts(cohorts: Cohort[]): Promise<void> {
  const at = now().toISOString();
  const due = cohorts.filter((cohort) => cohort.at <= at);
  if (await advanceEnrollments(due.flatMap(memberKeys), at))
    await writeMany(due.map((cohort) => remove(cohort)));
}
