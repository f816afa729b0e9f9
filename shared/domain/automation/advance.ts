// Advances enrollments. One transaction holds as many enrollments of a sequence as fit: their new
// positions, the counters and their mail. So each step happens exactly once, even after a crash or
// when a message is delivered twice.
import { getMany, updateMany } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem, undefinedIfMissing } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { Key } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import type { MailTopic } from "../audience/topics/topic-subscription.ts";
import * as topics from "../audience/topics/topics.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as lanes from "../sending/bulk/lanes.ts";
import { dueIndexAttributes, enqueueAdvance } from "./cohorts.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { type EnrollmentTransition, isEnd } from "./enrollment-transition.ts";
import { nextOpening } from "./send-window.ts";
import {
  commitGroupWithMails,
  enqueueLaneWakeUp,
  loadMailContext,
  type MailContext,
} from "./sequence-mails.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import { pauseWithReason } from "./sequences.ts";
import { createConditionTest } from "./step-conditions.ts";
import * as graphStore from "./step-graph-store.ts";
import { type EnrollmentRun, runSteps } from "./step-runner.ts";
import { commitWithRetry, getContactsOf, groupForTransactions } from "./transition-commits.ts";

/**
 * Takes enrollments of any organizations and skips those that are gone or not due. An error in one
 * sequence does not stop the others;
 * the first error is thrown at the end. Returns whether all due enrollments have advanced or are
 * held: one that changed in between may still be due.
 */
export async function advanceEnrollments(
  enrollmentKeys: Key[],
  at = now().toISOString(),
): Promise<boolean> {
  const items = new Set(await getMany<EnrollmentItem>(enrollmentKeys, { consistent: true }));
  const due = [...items].flatMap((item) => (item && !item.held && item.at <= at ? [item] : []));
  const bySequence = [
    ...Map.groupBy(due, ({ orgId, sequenceId }) => `${orgId}/${sequenceId}`).values(),
  ];
  const errors: unknown[] = [];
  const counts = await inParallel(4, bySequence, (sequenceItems) =>
    advanceSequence(sequenceItems).catch((error: unknown) => {
      errors.push(error);
      return 0;
    }),
  );
  if (errors.length) throw errors[0];
  return counts.reduce((sum, count) => sum + count, 0) === due.length;
}

/** Returns how many enrollments have advanced or are held. */
async function advanceSequence(items: EnrollmentItem[]): Promise<number> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status !== "active") return holdEnrollments(items);
  try {
    const { mailContext, runs } = await planRuns(orgId, sequence, items);
    return await commitRuns(orgId, { sequence, mailContext, runs });
  } catch (error) {
    if (!(error instanceof Problem) || transientKinds.has(error.kind)) throw error;
    // The sequence cannot continue until its owner repairs it, so its enrollments keep their
    // position.
    await pauseWithReason(orgId, sequence, error.message);
    return holdEnrollments(items);
  }
}

const transientKinds = new Set(["upstream", "limited", "unavailable", "conflict"]);

async function planRuns(
  orgId: number,
  sequence: SequenceItem,
  items: EnrollmentItem[],
): Promise<{ runs: EnrollmentRun[]; mailContext: MailContext }> {
  const [context, contacts] = await Promise.all([
    loadRunContext(orgId, sequence, items),
    getContactsOf(orgId, items),
  ]);
  const runs = await Promise.all(
    items.map((item) => runSteps(context, item, contacts.get(item.contactId))),
  );
  return {
    runs,
    mailContext: await loadMailContext(orgId, { sequence, ...context, runs }),
  };
}

/** Removes enrollments from the due index until the sequence is active again. */
async function holdEnrollments(items: EnrollmentItem[]): Promise<number> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const toHeld = (enrollment: EnrollmentItem): EnrollmentTransition => {
    const { stepId, order, at, waiting = false, sends } = enrollment;
    return {
      enrollment,
      reachedStepIds: [],
      leftStepIds: [],
      to: { stepId, order, at, waiting, sends, held: true },
    };
  };
  const groups = groupForTransactions(items.map(toHeld), 0);
  const held = (await inParallel(2, groups, (group) => commitWithRetry(group))).flat();
  // A request that activated the sequence in between may have looked for held enrollments too
  // early.
  const sequence = await findItem({ orgId }, sequenceId).catch(undefinedIfMissing);
  if (sequence?.status === "active")
    await releaseEnrollments(held.map(({ enrollment }) => enrollment));
  return held.length;
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

async function loadRunContext(orgId: number, sequence: SequenceItem, items: EnrollmentItem[]) {
  const { siteId, sendWindow, topicId } = sequence;
  const [graph, site, { timezone }, topic] = await Promise.all([
    graphStore.getGraph(orgId, sequence),
    sites.find({ orgId }, siteId),
    sendWindow ? organizations.find(orgId) : { timezone: "UTC" },
    topicId ? findTopic(orgId, { id: topicId, siteId }) : undefined,
  ]);
  return {
    site,
    graph,
    topic,
    limits: { capDays: site.sendFrequencyCapDays ?? 0, topic },
    conditionHolds: createConditionTest({ orgId, siteId }, graph, items),
    nextOpening: (contact: ContactItem, at: Date) =>
      nextOpening(sendWindow, contact.timezone ?? sendWindow?.timezone ?? timezone, at),
  };
}

/** Throws 404: without its topic, a sequence cannot tell who wants its mail. */
async function findTopic(
  orgId: number,
  reference: { id: number; siteId: number },
): Promise<MailTopic> {
  return topics.toMailTopic(await topics.findOfSite({ orgId }, reference));
}

async function commitRuns(
  orgId: number,
  {
    sequence: { id },
    mailContext,
    runs,
  }: { sequence: SequenceItem; mailContext: MailContext; runs: EnrollmentRun[] },
): Promise<number> {
  const runOf = new Map(runs.map((run) => [run.transition.enrollment, run]));
  const mailSteps = new Set(runs.flatMap(({ mailStep }) => mailStep ?? []));
  const groups = groupForTransactions(
    runs.map(({ transition }) => transition),
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
  const committed = committedGroups.flat();
  if (mailContext.config && committed.some(({ enrollment }) => runOf.get(enrollment)?.mailStep))
    await lanes.announceArrival(orgId, mailContext.config.id);
  const at = now().toISOString();
  await enqueueAdvance(committed.filter(({ to }) => !isEnd(to) && to.at <= at));
  return committed.length;
}
