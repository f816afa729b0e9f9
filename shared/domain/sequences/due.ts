// Enrollments and cohorts of them that have fallen due: 64 shards of an index, in which the organizations of a minute are mixed. One
// worker at a time has a shard, and goes through it page by page.
import { randomUUID } from "node:crypto";
import { after, now } from "../../clock.ts";
import { absent, any, atMost, equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, getMany, query, remove, update, writeMany } from "../../doors/table.ts";
import { type Address, enrollmentShards, isCohort, keys, shelves } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import { advance } from "./advance.ts";
import { type Cohort, membersOf, mostTogether } from "./waiting.ts";

type Due = Address & { duesk: string };

/** A look at each shard, and a message for those that have something due. */
export async function wakeAll(): Promise<void> {
  const at = now().toISOString();
  const all = Array.from({ length: enrollmentShards }, (_, shard) => shard);
  const first = await inParallel(16, all, (shard) => query<Due>(shelves.dueEnrollments(shard), { limit: 1 }));
  const due = all.filter((shard) => (first[shard]!.items[0]?.duesk ?? "~") <= at);
  await enqueue(
    queues.advance,
    due.map((shard) => ({ work: "shard" as const, shard })),
  );
}

const workSeconds = queues.advance.timeoutSeconds - 25;
const leaseSeconds = queues.advance.timeoutSeconds + 30;

/** Nothing when another worker has it. What it does not come to in its time, the next one does. */
export async function drain(shard: number): Promise<void> {
  const lease = keys.shardLease("ENROLLMENT", shard);
  const owner = randomUUID();
  const free = any(absent("until"), atMost("until", now().toISOString()));
  if (!(await claim(update(lease, { set: { owner, until: after(leaseSeconds).toISOString() } }, { if: free })))) return;
  const left = await drainPages(shard, after(workSeconds)).finally(() => claim(remove(lease, { if: equals("owner", owner) })));
  if (left) await enqueue(queues.advance, [{ work: "shard", shard }]);
}

/** Tells whether there is more. */
async function drainPages(shard: number, until: Date): Promise<boolean> {
  const errors: unknown[] = [];
  let left = false;
  for await (const work of worksOf(shard)) {
    left = now() >= until;
    if (left) break;
    await work().catch((error: unknown) => errors.push(error));
  }
  if (errors.length) throw errors[0];
  return left;
}

/**
 * Of a page, those who stand there by themselves go on together; then cohorts, a few of each sequence in turn. Forward only: what was
 * moved may be seen in its old place for a moment.
 */
async function* worksOf(shard: number): AsyncGenerator<() => Promise<unknown>> {
  let next: string | undefined;
  do {
    const page = await query<Due>(shelves.dueEnrollments(shard), { limit: mostTogether, after: next });
    const at = now().toISOString();
    const due = page.items.filter(({ duesk }) => duesk <= at);
    const alone = due.filter((one) => !isCohort(one));
    if (alone.length) yield () => advance(alone);
    const cohorts = (await getMany<Cohort>(due.filter(isCohort), { consistent: true })).flatMap((cohort) => cohort ?? []);
    const bySequence = [...Map.groupBy(cohorts, ({ orgId, sequenceId }) => `${orgId}/${sequenceId}`).values()];
    const turns = bySequence.flatMap((some) => chunked(some, cohortsInTurn).map((few, turn) => ({ few, turn })));
    for (const { few } of turns.toSorted((a, b) => a.turn - b.turn)) yield () => advanceCohorts(few);
    next = due.length === page.items.length ? page.next : undefined;
  } while (next !== undefined);
}

// About a thousand enrollments.
const cohortsInTurn = 12;

/**
 * Of one sequence. They are done with, unless some of them may be due still, or a moment from now, as clocks differ: those a tick finds
 * by them.
 */
export async function advanceCohorts(cohorts: Cohort[]): Promise<void> {
  const at = now().toISOString();
  const due = cohorts.filter((cohort) => cohort.at <= at);
  if (await advance(due.flatMap(membersOf), at)) await writeMany(due.map((cohort) => remove(cohort)));
}
