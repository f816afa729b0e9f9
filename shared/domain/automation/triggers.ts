// Starts the sequences that a change of a contact triggers. The enrollment is created in the
// transaction of that change, so it happens exactly once, even after a crash.

import { absent, all, type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import { getMany, update, write } from "../../adapters/dynamodb/table.ts";
import * as ids from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import {
  type ChangeNote,
  type ContactChanged,
  type GroupMembership,
  type MailEngagement,
  noReaction,
  type ReactionWrites,
  type SequenceEntrant,
} from "../audience/contacts/reactions.ts";
import { normalizeLink } from "../sending/clicked-links.ts";
import { noteChanges } from "./change-notes.ts";
import { prepareEnrollmentEvents } from "./enrollment-events.ts";
import { enqueueAdvance } from "./enrollment-scheduling.ts";
import * as enrollmentSchema from "./enrollment-schema.ts";
import { type WakeUp, wakeListeners } from "./event-listeners.ts";
import { decideStarts } from "./sequence-starts.ts";
import {
  getSiteTriggers,
  isWatched,
  type SiteTrigger,
  type TriggerGroup,
} from "./trigger-registrations.ts";

/**
 * Reads each list and tag once. The returned function gives the active sequences that joining some
 * of them triggers.
 */
export async function startsOf(
  orgId: number,
  groups: GroupMembership[],
): Promise<(joined: GroupMembership[]) => number[]> {
  const byName = new Map(groups.map((entry) => [`${entry.kind} ${entry.group}`, entry]));
  const found = await getMany<TriggerGroup>(
    [...byName.values()].map(({ kind, group }) => keys.record(orgId, kind, group)),
  );
  const starts = new Map(
    [...byName.keys()].map((name, i) => [name, [...(found[i]?.starts ?? [])]]),
  );
  return (joined) => [
    ...new Set(joined.flatMap(({ kind, group }) => starts.get(`${kind} ${group}`) ?? [])),
  ];
}

/**
 * Enrollment writes for the transaction that triggers them. `maxWrites` is the number of writes the
 * transaction has left.
 */
export async function startEnrollments(
  candidates: SequenceEntrant[],
  maxWrites = Number.POSITIVE_INFINITY,
): Promise<ReactionWrites & { started: enrollmentSchema.EnrollmentItem[] }> {
  // One write is for the events of the enrollments.
  const maxStarts = Math.floor(Math.max(0, maxWrites - 1) / candidates.length / 2);
  const plans = await inParallel(8, candidates, async (candidate) => {
    const { starts, conditions } = await decideStarts(candidate);
    return {
      candidate,
      starts: starts.slice(0, maxStarts),
      deferredIds: starts.slice(maxStarts).map(({ sequenceId }) => sequenceId),
      conditions: [...(starts.length ? conditions : []), ...(candidate.conditions ?? [])],
    };
  });
  const count = plans.reduce((sum, { starts }) => sum + starts.length, 0);
  const isEmpty = plans.every(
    ({ deferredIds, conditions }) => !deferredIds.length && !conditions.length,
  );
  if (!count && isEmpty) return { ...noReaction, started: [] };
  let serial = count ? await ids.nextEnrollmentIds(count) : 0;
  const started = plans.flatMap(({ candidate: { contact, chain }, starts }) =>
    starts.map((start) =>
      enrollmentSchema.newEnrollment(contact, {
        ...start,
        serial: serial++,
        depth: chain?.depth,
      }),
    ),
  );
  const byContact = new Map(
    plans.map(({ candidate: { contact }, starts, conditions }) => {
      const startedIds = starts.map(({ sequenceId }) => sequenceId);
      const { add, conditions: setConditions } = enrollmentSchema.sequenceSetChanges(
        contact,
        startedIds,
      );
      return [
        contact.id,
        { add: add as Record<string, Set<number>>, conditions: [...setConditions, ...conditions] },
      ];
    }),
  );
  const events = await prepareEnrollmentEvents("sequence.enrolled", started);
  const deferred = plans.flatMap(({ candidate, deferredIds }) =>
    deferredIds.length ? [{ ...candidate, sequenceIds: deferredIds }] : [],
  );
  return {
    started,
    writes: [...enrollmentSchema.enrollmentWrites(started), ...events.writes],
    forContact: ({ id }) => byContact.get(id) ?? noReaction.forContact({ id }),
    afterCommit: async () => {
      await events.afterCommit();
      await advanceStarted(started, deferred);
    },
  };
}

async function advanceStarted(
  started: enrollmentSchema.EnrollmentItem[],
  deferred: SequenceEntrant[],
): Promise<void> {
  const [first] = started;
  if (first) await enqueueAdvance(first.orgId, started);
  for (const candidate of deferred) await enrollSeparately(candidate);
}

/** Enrolls in a transaction of its own what did not fit into the triggering one. */
const enrollSeparately = ({
  contact: { orgId, id },
  sequenceIds,
  ...candidate
}: SequenceEntrant): Promise<void> =>
  retryOnConflict("The contact", async () => {
    const [contact] = await contacts.getByIds(orgId, [id], { consistent: true });
    if (!contact) return;
    const { events, oncePerDay, chain } = candidate;
    const entrant = { contact, sequenceIds, events, oncePerDay, chain };
    const reaction = await startEnrollments([entrant]);
    if (!reaction.started.length) return;
    const { add, conditions } = reaction.forContact(contact);
    const contactWrite = update(
      contact,
      { add: { ...add, v: 1 } },
      { if: all(equals("id", contact.id), ...conditions) },
    );
    await write(contactWrite, ...reaction.writes);
    await reaction.afterCommit();
  });

/** Reads at most the cached triggers of the site. `maxWrites`: see `startEnrollments`. */
export async function reactToContactChange(
  contact: ContactItem,
  {
    starts = [],
    events = [],
    engagements = [],
    formId,
    points = 0,
    after = withPoints(contact, points),
    oncePerDay,
    chain,
  }: ContactChanged,
  maxWrites?: number,
): Promise<ReactionWrites> {
  const needsTriggers =
    events.length + engagements.length > 0 || formId !== undefined || points !== 0;
  const triggers = needsTriggers ? await getSiteTriggers(contact.orgId, contact.siteId) : [];
  const eventsOf = new Map(
    triggers.flatMap(({ triggerType, triggerConfig, sequenceId }) => {
      const matching = events.filter(({ name }) => name === triggerConfig?.eventName);
      return triggerType === "custom_event" && matching.length ? [[sequenceId, matching]] : [];
    }),
  );
  const matching = triggers.filter(
    ({ triggerType, triggerConfig }) =>
      (triggerType === "form_submit" && formId !== undefined && triggerConfig?.formId === formId) ||
      (triggerType === "score_reached" && crossesScore(contact, points, triggerConfig?.score)) ||
      engagements.some((one) => matchesEngagement({ triggerType, triggerConfig }, one, contact)),
  );
  const sequenceIds = [
    ...starts,
    ...eventsOf.keys(),
    ...matching.map(({ sequenceId }) => sequenceId),
  ];
  // Two concurrent changes could cross the score together while neither does alone, so require the
  // score that was read.
  const scoreMatters =
    points !== 0 && triggers.some(({ triggerType }) => triggerType === "score_reached");
  const conditions = scoreMatters ? [scoreUnchangedCondition(contact)] : [];
  const [wakeUp, note] = await Promise.all([
    wakeListeners(contact, events, maxWrites),
    after === contact
      ? undefined
      : noteChanges(contact.orgId, [{ before: contact, after }], { chain }),
  ]);
  const others = wakeUp.writes.length + (note?.writes.length ?? 0);
  const reaction = await startEnrollments(
    [{ contact, sequenceIds, after, events: eventsOf, conditions, oncePerDay, chain }],
    maxWrites === undefined ? undefined : maxWrites - others,
  );
  return withNote(withWakeUp(reaction, wakeUp), note);
}

const withNote = (reaction: ReactionWrites, note: ChangeNote | undefined): ReactionWrites =>
  note?.writes.length
    ? {
        ...reaction,
        writes: [...reaction.writes, ...note.writes],
        afterCommit: async () => {
          await Promise.all([reaction.afterCommit(), note.afterCommit()]);
        },
      }
    : reaction;

const withWakeUp = (reaction: ReactionWrites, wakeUp: WakeUp): ReactionWrites => ({
  writes: [...reaction.writes, ...wakeUp.writes],
  forContact: (contact) => {
    const { add, conditions } = reaction.forContact(contact);
    return { add, conditions: [...conditions, ...wakeUp.conditions] };
  },
  afterCommit: async () => {
    await wakeUp.afterCommit();
    await reaction.afterCommit();
  },
});

const triggerOfEngagement = { open: "email_opened", click: "email_clicked" } as const;

function matchesEngagement(
  { triggerType, triggerConfig }: Pick<SiteTrigger, "triggerType" | "triggerConfig">,
  engagement: MailEngagement,
  { email: toEmail, id: contactId }: ContactItem,
): boolean {
  const { campaignId, sequenceId, stepId, url } = triggerConfig ?? {};
  return (
    triggerType === triggerOfEngagement[engagement.type] &&
    (campaignId === undefined || campaignId === engagement.campaignId) &&
    (sequenceId === undefined || sequenceId === engagement.sequenceId) &&
    (stepId === undefined || stepId === engagement.stepId) &&
    (url === undefined || normalizeLink(url, { toEmail, contactId }) === engagement.url)
  );
}

const withPoints = (contact: ContactItem, points: number): ContactItem =>
  points ? { ...contact, score: (contact.score ?? 0) + points } : contact;

/** Whether a score can trigger an active sequence of the site. */
export const hasScoreTrigger = async (orgId: number, siteId: number): Promise<boolean> =>
  (await getSiteTriggers(orgId, siteId)).some(
    (trigger) => trigger.triggerType === "score_reached" || isWatched(trigger),
  );

const crossesScore = (
  { score = 0 }: ContactItem,
  points: number,
  threshold = Number.POSITIVE_INFINITY,
): boolean => score < threshold && score + points >= threshold;

const scoreUnchangedCondition = ({ score }: ContactItem): Condition =>
  score === undefined ? absent("score") : equals("score", score);
