// Advances enrollments. One transaction holds as many enrollments of a sequence as fit: their new
// positions, the counters and their mail. So each step happens exactly once, even after a crash or
// when a message is delivered twice.
import { getMany, updateMany } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem, undefinedIfMissing } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { Key } from "../../keys.ts";
import * as lanes from "../sending/bulk/lanes.ts";
import { dueIndexAttributes, enqueueAdvance } from "./enrollment-scheduling.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { type EnrollmentTransition, isEnd } from "./enrollment-transition.ts";
import { createRunContext, loadRunSettings } from "./run-context.ts";
import {
  commitGroupWithMails,
  enqueueLaneWakeUp,
  loadMailContext,
  type MailContext,
} from "./sequence-mails.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import { pauseWithReason } from "./sequences.ts";
import { commitActionRun } from "./step-actions/commit-action.ts";
import { createReads } from "./step-conditions.ts";
import { type EnrollmentRun, runSteps } from "./step-runner.ts";
import { commitWithRetry, getContactsOf, groupForTransactions } from "./transition-commits.ts";

/**
 * Takes enrollments of any organizations and skips those that are gone or not due. One that changes
 * in between may stay due. An error in one sequence does not stop the others; the first error is
 * thrown at the end.
 */
export async function advanceEnrollments(enrollmentKeys: Key[]): Promise<void> {
  const at = now().toISOString();
  const items = await getMany<EnrollmentItem>(enrollmentKeys, { consistent: true });
  const due = items.flatMap((item) => (item && !item.held && item.at <= at ? [item] : []));
  const bySequence = [
    ...Map.groupBy(due, ({ orgId, sequenceId }) => `${orgId}/${sequenceId}`).values(),
  ];
  const errors: unknown[] = [];
  await inParallel(4, bySequence, (sequenceItems) =>
    advanceSequence(sequenceItems).catch((error: unknown) => errors.push(error)),
  );
  if (errors.length) throw errors[0];
}

async function advanceSequence(items: EnrollmentItem[]): Promise<void> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status !== "active") return holdEnrollments(items);
  try {
    const { mailContext, runs } = await planRuns(orgId, sequence, items);
    await commitRuns(orgId, { sequence, mailContext, runs });
  } catch (error) {
    if (!(error instanceof Problem) || transientKinds.has(error.kind)) throw error;
    // The sequence cannot continue until its owner repairs it, so its enrollments keep their
    // position.
    await pauseWithReason(orgId, sequence, error.message);
    await holdEnrollments(items);
  }
}

const transientKinds = new Set(["upstream", "limited", "unavailable", "conflict"]);

async function planRuns(
  orgId: number,
  sequence: SequenceItem,
  items: EnrollmentItem[],
): Promise<{ runs: EnrollmentRun[]; mailContext: MailContext }> {
  const reads = createReads(orgId, items);
  const [settings, contacts] = await Promise.all([
    loadRunSettings(orgId, sequence),
    getContactsOf(orgId, items),
  ]);
  const context = createRunContext(sequence, settings, reads);
  const runs = await Promise.all(
    items.map((item) => runSteps(context, item, contacts.get(item.contactId))),
  );
  return {
    runs,
    mailContext: await loadMailContext(orgId, { sequence, ...settings, ...reads, runs }),
  };
}

/** Removes enrollments from the due index until the sequence is active again. */
async function holdEnrollments(items: EnrollmentItem[]): Promise<void> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const toHeld = (enrollment: EnrollmentItem): EnrollmentTransition => {
    const { stepId, order, at, waiting = false, acted = false, sends } = enrollment;
    return {
      enrollment,
      reachedStepIds: [],
      leftStepIds: [],
      to: { stepId, order, at, waiting, acted, sends, held: true },
    };
  };
  const groups = groupForTransactions(items.map(toHeld), 0);
  const held = (await inParallel(2, groups, (group) => commitWithRetry(group))).flat();
  // A request that activated the sequence in between may have looked for held enrollments too
  // early.
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status === "active")
    await releaseEnrollments(held.map(({ enrollment }) => enrollment));
}

async function releaseEnrollments(items: EnrollmentItem[]): Promise<void> {
  const at = now().toISOString();
  await updateMany(
    items.map((item) => ({
      key: item,
      set: { at, held: false, v: item.v + 2, ...dueIndexAttributes(item, at) },
      ifEquals: { v: item.v + 1 },
    })),
  );
}

async function commitRuns(
  orgId: number,
  {
    sequence: { id },
    mailContext,
    runs,
  }: { sequence: SequenceItem; mailContext: MailContext; runs: EnrollmentRun[] },
): Promise<void> {
  const runOf = new Map(runs.map((run) => [run.transition.enrollment, run]));
  const mailSteps = new Set(runs.flatMap(({ mailStep }) => mailStep ?? []));
  const acting = runs.filter(({ actionStep }) => actionStep);
  const others = runs.filter(({ actionStep }) => !actionStep);
  const groups = groupForTransactions(
    others.map(({ transition }) => transition),
    2 * Math.min(mailSteps.size, 20) + 6,
  );
  if (mailContext.config && mailSteps.size) await enqueueLaneWakeUp(orgId, mailContext.config.id);
  const committedGroups = await inParallel(2, groups, (group) =>
    commitWithRetry(group, (transitions) =>
      commitGroupWithMails(
        { orgId, id, mailContext },
        transitions.map(({ enrollment }) => runOf.get(enrollment)!),
      ),
    ),
  );
  const acted = await inParallel(4, acting, commitActionRun);
  const committed = [...committedGroups, ...acted].flat();
  if (mailContext.config && committed.some(({ enrollment }) => runOf.get(enrollment)?.mailStep))
    await lanes.announceArrival(orgId, mailContext.config.id);
  const at = now().toISOString();
  const due = committed.filter(({ to }) => !isEnd(to) && to.at <= at);
  await enqueueAdvance(
    orgId,
    due.map(({ enrollment }) => enrollment),
  );
}
