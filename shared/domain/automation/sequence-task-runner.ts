// Runs a sequence task: in passes over all shards, page by page, with the progress stored on the
// task. The last pass over the enrollments starts when every worker that read the old state of the
// sequence has ended.

import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  query,
  queryAll,
  remove,
  transact,
  update,
  updateMany,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { type JobOutcome, runLeasedJob } from "../../kernel/leased-job.ts";
import * as leases from "../../kernel/leases.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { emailShards, type Key, type KeyRange, keys, ranges } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as lanes from "../sending/bulk/lanes.ts";
import * as suspendedChunks from "../sending/bulk/suspended-chunks.ts";
import { dueIndexAttributes } from "./enrollment-scheduling.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { loadTimezones } from "./send-window.ts";
import { findItem } from "./sequence-schema.ts";
import * as sequenceTasks from "./sequence-tasks.ts";
import { enqueueTask, type SequenceTask } from "./sequence-tasks.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import type { SequenceStep } from "./step-schema.ts";
import { differs, endOfStepWait } from "./step-waits.ts";
import { getContactsOf } from "./transition-commits.ts";

// A worker that read the sequence before the task was written has ended after this time.
const lateWriterSeconds = 600;
const workSeconds = queues.advance.timeoutSeconds - 20;
const leaseSeconds = queues.advance.timeoutSeconds + 30;

/**
 * Works until the pass is done or the time is up. In the second case it enqueues a message that
 * continues. A newer task replaces the item and with it the lease.
 */
export async function runTask(orgId: number, sequenceId: number): Promise<void> {
  const until = addSeconds(workSeconds);
  const taken = await leases.take<SequenceTask>(keys.sequenceTask(orgId, sequenceId), {
    seconds: leaseSeconds,
    set: sequenceTasks.dueIndexAttributes(sequenceId, addSeconds(leaseSeconds + 30)),
    if: exists,
  });
  if (!taken) return;
  await runLeasedJob(taken.lease, {
    work: () => runPass(taken.item, taken.lease, until),
    enqueueNext: () => enqueueTask(orgId, sequenceId),
  });
}

async function runPass(task: SequenceTask, lease: leases.Lease, until: Date): Promise<JobOutcome> {
  const passes = passesByKind[task.what];
  const pass = passes[task.round]!;
  const places = Object.fromEntries(
    await inParallel(8, emailShards, async (shard) => [shard, await pass(task, shard, until)]),
  );
  if (!Object.values(places).every((place) => place === shardDone))
    return (await leases.change(lease, { set: { places } })) ? "paused" : "lost";
  const round = task.round + 1;
  if (round === passes.length) await finishTask(task, lease);
  else {
    const at = round === 1 ? addSeconds(lateWriterSeconds, new Date(task.since)) : now();
    const set = { round, ...sequenceTasks.dueIndexAttributes(task.sequenceId, at) };
    await leases.finish(lease, { set, remove: ["places"] });
  }
  return "done";
}

async function finishTask(
  { orgId, sequenceId, what }: SequenceTask,
  lease: leases.Lease,
): Promise<void> {
  if (what === "remove")
    await writeMany(
      (await queryAll<Key>(ranges.sequenceCounts(orgId, sequenceId))).map((item) => remove(item)),
    );
  await transact(remove(lease.key, { if: leases.isOwnerCondition(lease) }));
}

/** Returns the position that the pass reached in the shard. */
type TaskPass = (task: SequenceTask, shard: string, until: Date) => Promise<string>;

const shardDone = "~";
const pageSize = 100;

const shardPass =
  <T extends Key>(
    rangeOf: (orgId: number, sequenceId: number, shard: string) => KeyRange,
    handle: (task: SequenceTask, page: T[]) => Promise<void>,
  ): TaskPass =>
  async (task, shard, until) => {
    const range = rangeOf(task.orgId, task.sequenceId, shard);
    let place = task.places?.[shard] ?? "";
    while (place !== shardDone && now() < until) {
      const page: { items: T[]; next?: string } = await query<T>(range, {
        limit: pageSize,
        after: place || undefined,
        consistent: true,
      });
      await handle(task, page.items);
      place = page.next ?? shardDone;
    }
    return place;
  };

/**
 * Makes enrollments due now that are held or at a removed step. At a changed delay step they are
 * due when the new wait ends.
 */
async function releaseEnrollments(
  { orgId, sequenceId }: SequenceTask,
  page: EnrollmentItem[],
): Promise<void> {
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status !== "active" || !page.length) return;
  const [graph, contacts, timezoneOf] = await Promise.all([
    stepGraphStore.getGraph(orgId, sequence),
    getContactsOf(
      orgId,
      page.filter(({ waiting }) => waiting),
    ),
    loadTimezones(orgId, sequence.sendWindow),
  ]);
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  const released = page.flatMap((item) => {
    const step = item.stepId === undefined ? undefined : steps.get(item.stepId);
    const contact = contacts.get(item.contactId);
    const at = newDueTime(item, step, { contact, timezone: timezoneOf(contact) });
    return at === undefined ? [] : [{ item, at }];
  });
  await updateMany(
    released.map(({ item, at }) => ({
      key: item,
      set: { at, held: false, v: item.v + 1, ...dueIndexAttributes(item, at) },
      ifEquals: { v: item.v },
    })),
  );
}

/** Undefined for an enrollment that stays as it is. */
function newDueTime(
  item: EnrollmentItem,
  step: SequenceStep | undefined,
  { contact, timezone }: { contact: ContactItem | undefined; timezone: string },
): string | undefined {
  const { held, stepId, waiting, at, lastProgressAt } = item;
  const stepIsRemoved = stepId !== undefined && !step;
  const isWait = step?.type === "delay" || step?.type === "wait_until";
  const start = new Date(lastProgressAt);
  const end = waiting && isWait ? endOfStepWait(step, { start, contact, timezone }) : undefined;
  const waitIsChanged = end ? differs(end, new Date(at)) : waiting;
  if (!held && !stepIsRemoved && !waitIsChanged) return undefined;
  return new Date(Math.max(end?.getTime() ?? 0, now().getTime())).toISOString();
}

/** Releases mail that was ready when the sequence was paused. */
async function releaseHeldMail(task: SequenceTask): Promise<void> {
  const { orgId, sequenceId } = task;
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status === "active") await forHeldMail(task, suspendedChunks.releaseChunks);
}

/**
 * Releases or cancels all held chunks of the sequence and wakes the lanes of their sending configs.
 */
async function forHeldMail(
  { orgId, sequenceId: id }: SequenceTask,
  handleChunks: typeof suspendedChunks.cancelChunks,
): Promise<void> {
  const chunks = await queryAll<{ configId: number }>(
    ranges.suspendedChunks(orgId, { kind: "sequence", id }),
    { consistent: true },
  );
  const [first, ...others] = new Set(chunks.map(({ configId }) => configId));
  const source = { kind: "sequence", id } as const;
  if (first !== undefined) await handleChunks(orgId, { source, configId: first });
  for (const configId of others) await lanes.announceArrival(orgId, configId);
}

/** Removes enrollments without keeping a finished one: the sequence is gone. */
async function removeEnrollments(
  { orgId, sequenceId }: SequenceTask,
  page: EnrollmentItem[],
): Promise<void> {
  const contacts = await getContactsOf(orgId, page);
  await inParallel(8, page, async (item) => {
    const contact = contacts.get(item.contactId);
    const leaving =
      contact &&
      update(
        contact,
        { deleteFromSet: { sequences: new Set([sequenceId]) }, add: { v: 1 } },
        { if: equals("id", contact.id) },
      );
    // An enrollment that changed in between is removed in the next pass, or by the worker that
    // changed it.
    await transact(remove(item), ...(leaving ? [leaving] : []));
  });
}

const removeItems = async (_: SequenceTask, page: Key[]): Promise<void> =>
  writeMany(page.map((item) => remove(item)));

/** Runs work that belongs to no shard together with the first one. */
const withFirstShard =
  (work: (task: SequenceTask) => Promise<void>, pass: TaskPass): TaskPass =>
  async (task, shard, until) => {
    if (shard === emailShards[0]) await work(task);
    return pass(task, shard, until);
  };
const releasePass = withFirstShard(
  releaseHeldMail,
  shardPass<EnrollmentItem>(ranges.enrollments, releaseEnrollments),
);
const removalPass = withFirstShard(
  (task) => forHeldMail(task, suspendedChunks.cancelChunks),
  shardPass<EnrollmentItem>(ranges.enrollments, removeEnrollments),
);

const passesByKind: Record<SequenceTask["what"], TaskPass[]> = {
  release: [releasePass, releasePass],
  remove: [removalPass, removalPass, shardPass<Key>(ranges.finishedEnrollments, removeItems)],
};
