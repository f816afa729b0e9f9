// Triggers of sequences. The record of a list or tag names the sequences it triggers; code that
// adds a contact reads that record anyway.
// All other triggers of a site are in one item, which each process caches for a few seconds. The
// enrollment is created in the transaction of the change that triggers it, so it happens exactly
// once, even after a crash.

import {
  absent,
  all,
  any,
  atMost,
  type Condition,
  equals,
  exists,
  isNew,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import { get, getMany, put, transact, update, type Write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import { conflict, invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { type GroupKind, keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import {
  type ContactChanged,
  type GroupMembership,
  noReaction,
  type ReactionWrites,
  type SequenceEntrant,
} from "../audience/contacts/reactions.ts";
import { enqueueAdvance, type ScheduledEnrollment } from "./cohorts.ts";
import { prepareEnrollmentEvents } from "./enrollment-events.ts";
import * as enrollment from "./enrollment-schema.ts";
import type {
  SequenceItem,
  SequenceTriggerConfig,
  SequenceTriggerType,
} from "./sequence-schema.ts";

/** Active sequences that share a trigger. */
const maxPerTrigger = 20;
const tooMany = () =>
  conflict(`At most ${maxPerTrigger} active sequences can share a trigger`, {
    code: "too_many_sequences",
  });

type SiteTrigger = Pick<SequenceItem, "triggerType" | "triggerConfig"> & { sequenceId: number };

const groupKindByTrigger: Partial<Record<SequenceTriggerType, GroupKind>> = {
  tag_add: "TAG",
  list_join: "LIST",
};
const siteTriggerTypes: SequenceTriggerType[] = ["form_submit", "custom_event", "score_reached"];
const requiredFields: Partial<Record<SequenceTriggerType, (keyof SequenceTriggerConfig)[]>> = {
  tag_add: ["tagId", "tagName"],
  list_join: ["listId"],
  form_submit: ["formId"],
  custom_event: ["eventName"],
  score_reached: ["score"],
};

/**
 * 400 when the config does not fit the trigger. `mustBeComplete`: the required field must be set.
 */
export function checkTriggerConfig(
  { triggerType, triggerConfig }: Pick<SequenceItem, "triggerType" | "triggerConfig">,
  mustBeComplete: boolean,
): void {
  const fields = requiredFields[triggerType] ?? [];
  const unexpected = Object.keys(triggerConfig ?? {}).find(
    (field) => !fields.includes(field as keyof SequenceTriggerConfig),
  );
  if (unexpected)
    throw invalidTrigger(
      `triggerConfig.${unexpected}`,
      `${triggerType} allows ${fields.join(" or ") || "no triggerConfig"}`,
    );
  if (
    mustBeComplete &&
    fields.length &&
    !fields.some((field) => triggerConfig?.[field] !== undefined)
  )
    throw invalidTrigger(
      `triggerConfig.${fields[0]}`,
      `${triggerType} requires ${fields.join(" or ")}`,
    );
}

const invalidTrigger = (path: string, message: string) =>
  invalid(`${path}: ${message}`, { details: [{ path, message }] });

interface TriggerGroup {
  starts?: Set<number>;
}

/**
 * Moves the registration of a trigger. `before` is undefined for a new sequence, `after` for a
 * deleted one.
 */
export async function triggerWrites(
  orgId: number,
  before: SequenceItem | undefined,
  after: SequenceItem | undefined,
): Promise<Write[]> {
  const [from, to] = [registrationOf(before), registrationOf(after)];
  const moved = from?.name !== to?.name;
  return [
    ...(from && moved ? await unregisterWrites(orgId, before!) : []),
    ...(to && (moved || to.name === "site") ? await registerWrites(orgId, after!, !moved) : []),
  ];
}

function registrationOf(sequence: SequenceItem | undefined): { name: string } | undefined {
  if (sequence?.status !== "active") return undefined;
  if (sequence.waitsAt) return { name: `${sequence.waitsAt.kind}/${sequence.waitsAt.id}` };
  return siteTriggerTypes.includes(sequence.triggerType) ? { name: "site" } : undefined;
}

async function unregisterWrites(
  orgId: number,
  { id, siteId, waitsAt }: SequenceItem,
): Promise<Write[]> {
  if (!waitsAt)
    return [
      update(keys.siteTriggers(orgId, siteId), {
        remove: [`q${id}`],
        deleteFromSet: { ids: new Set([id]) },
      }),
    ];
  const group = keys.record(orgId, waitsAt.kind, waitsAt.id);
  const stored = await get<TriggerGroup>(group);
  return stored?.starts?.has(id)
    ? [update(group, { deleteFromSet: { starts: new Set([id]) } }, { if: exists })]
    : [];
}

async function registerWrites(
  orgId: number,
  sequence: SequenceItem,
  isReplacement: boolean,
): Promise<Write[]> {
  const { id, siteId, waitsAt, triggerType, triggerConfig } = sequence;
  if (waitsAt) {
    const hasRoom = all(exists, any(absent("starts"), sizeBelow("starts", maxPerTrigger)));
    return [
      update(
        keys.record(orgId, waitsAt.kind, waitsAt.id),
        { add: { starts: new Set([id]) } },
        { if: hasRoom, orThrow: tooMany() },
      ),
    ];
  }
  const others = (await readSiteTriggers(orgId, siteId)).filter(
    ({ sequenceId }) => sequenceId !== id,
  );
  const same = others.filter(
    (other) =>
      other.triggerType === triggerType && isEqualConfig(other.triggerConfig, triggerConfig),
  );
  if (same.length >= maxPerTrigger || (!isReplacement && others.length >= maxPerSite))
    throw tooMany();
  const trigger: SiteTrigger = { sequenceId: id, triggerType, triggerConfig };
  return [
    update(keys.siteTriggers(orgId, siteId), {
      set: { [`q${id}`]: trigger },
      add: { ids: new Set([id]) },
    }),
  ];
}

// Keeps the item far below the 400 KB of DynamoDB.
const maxPerSite = 500;
const isEqualConfig = (a: SequenceTriggerConfig | null, b: SequenceTriggerConfig | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

async function readSiteTriggers(orgId: number, siteId: number): Promise<SiteTrigger[]> {
  const item = (await get<Record<string, unknown>>(keys.siteTriggers(orgId, siteId))) ?? {};
  return Object.entries(item).flatMap(([name, value]) =>
    /^q\d+$/.test(name) ? [value as SiteTrigger] : [],
  );
}

// A change takes effect in every process within this time.
const cacheMs = 3000;
const siteTriggerCache = new Map<string, { triggers: SiteTrigger[]; until: number }>();
const cacheKeyOf = (orgId: number, siteId: number): string => `${orgId}/${siteId}`;
export const clearTriggerCache = (orgId: number, siteId: number): void =>
  void siteTriggerCache.delete(cacheKeyOf(orgId, siteId));

async function getSiteTriggers(orgId: number, siteId: number): Promise<SiteTrigger[]> {
  const cached = siteTriggerCache.get(cacheKeyOf(orgId, siteId));
  if (cached && cached.until > performance.now()) return cached.triggers;
  const triggers = await readSiteTriggers(orgId, siteId);
  if (siteTriggerCache.size >= 1000) siteTriggerCache.clear();
  siteTriggerCache.set(cacheKeyOf(orgId, siteId), { triggers, until: performance.now() + cacheMs });
  return triggers;
}

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
): Promise<ReactionWrites & { scheduled: ScheduledEnrollment[] }> {
  const plans = await inParallel(8, candidates, async (candidate) => {
    const { contact, oncePerDay } = candidate;
    // One write is for the events of the enrollments.
    const maxStarts = Math.max(0, Math.floor((maxWrites - 1) / (oncePerDay ? 3 : 2)));
    const enterable = enrollment.enterableSequences(contact, [...new Set(candidate.sequenceIds)]);
    const startable = oncePerDay ? await withoutStartedToday(contact, enterable) : enterable;
    return {
      ...candidate,
      startedIds: startable.slice(0, maxStarts),
      deferredIds: startable.slice(maxStarts),
    };
  });
  const count = plans.reduce((sum, { startedIds }) => sum + startedIds.length, 0);
  const isEmpty = plans.every(
    ({ deferredIds, conditions = [] }) => !deferredIds.length && !conditions.length,
  );
  if (!count && isEmpty) return { ...noReaction, scheduled: [] };
  let serial = count ? await ids.nextEnrollmentIds(count) : 0;
  const items = plans.flatMap(({ contact, startedIds }) =>
    startedIds.map((sequenceId) =>
      enrollment.newEnrollment(contact, { sequenceId, serial: serial++ }),
    ),
  );
  const byContact = new Map(
    plans.map(({ contact, startedIds, conditions = [] }) => {
      const { add, conditions: setConditions } = enrollment.sequenceSetChanges(startedIds);
      return [
        contact.id,
        { add: add as Record<string, Set<number>>, conditions: [...setConditions, ...conditions] },
      ];
    }),
  );
  const { scheduled, writes } = enrollment.enrollmentWrites(items);
  const events = await prepareEnrollmentEvents("sequence.enrolled", items);
  const deferred = plans.flatMap(({ contact, deferredIds, oncePerDay }) =>
    deferredIds.length ? [{ contact, sequenceIds: deferredIds, oncePerDay }] : [],
  );
  return {
    scheduled,
    writes: [
      ...writes,
      ...plans.flatMap(({ contact, startedIds, oncePerDay }) =>
        oncePerDay ? startedTodayWrites(contact, startedIds) : [],
      ),
      ...events.writes,
    ],
    forContact: ({ id }) => byContact.get(id) ?? noReaction.forContact({ id }),
    afterCommit: async () => {
      await events.afterCommit();
      await advanceStarted(scheduled, deferred);
    },
  };
}

const daySeconds = 24 * 3600;

/** Sequences that a public endpoint has not started for this address within the last 24 hours. */
async function withoutStartedToday(
  { orgId, sk: email }: ContactItem,
  sequenceIds: number[],
): Promise<number[]> {
  const starts = await getMany<{ until: number }>(
    sequenceIds.map((id) => keys.publicStart(orgId, id, email)),
    { consistent: true },
  );
  return sequenceIds.filter((_, i) => (starts[i]?.until ?? 0) <= epochSeconds());
}

/** For the transaction that starts the sequences: a concurrent second start fails. */
function startedTodayWrites({ orgId, sk: email }: ContactItem, sequenceIds: number[]): Write[] {
  const until = epochSeconds(addSeconds(daySeconds));
  const isOver = any(isNew, atMost("until", epochSeconds()));
  return sequenceIds.map((id) =>
    put(keys.publicStart(orgId, id, email), { until, expires: until }, { if: isOver }),
  );
}

async function advanceStarted(
  scheduled: ScheduledEnrollment[],
  deferred: SequenceEntrant[],
): Promise<void> {
  if (scheduled.length) await enqueueAdvance(scheduled);
  for (const candidate of deferred) await enrollSeparately(candidate);
}

/** Enrolls in a transaction of its own what did not fit into the triggering one. */
async function enrollSeparately(candidate: SequenceEntrant): Promise<void> {
  const { contact } = candidate;
  const reaction = await startEnrollments([candidate]);
  const { add, conditions } = reaction.forContact(contact);
  if (!reaction.scheduled.length) return;
  const contactWrite = update(
    contact,
    { add: { ...add, v: 1 } },
    { if: all(equals("id", contact.id), ...conditions) },
  );
  if (await transact(contactWrite, ...reaction.writes)) await reaction.afterCommit();
}

/** Reads at most the cached triggers of the site. `maxWrites`: see `startEnrollments`. */
export async function reactToContactChange(
  contact: ContactItem,
  { starts = [], eventNames = [], formId, points = 0, oncePerDay }: ContactChanged,
  maxWrites?: number,
): Promise<ReactionWrites> {
  const needsTriggers = eventNames.length > 0 || formId !== undefined || points !== 0;
  const triggers = needsTriggers ? await getSiteTriggers(contact.orgId, contact.siteId) : [];
  const matching = triggers.filter(
    ({ triggerType, triggerConfig }) =>
      (triggerType === "custom_event" && eventNames.includes(triggerConfig?.eventName ?? "")) ||
      (triggerType === "form_submit" && formId !== undefined && triggerConfig?.formId === formId) ||
      (triggerType === "score_reached" && crossesScore(contact, points, triggerConfig?.score)),
  );
  const sequenceIds = [...starts, ...matching.map(({ sequenceId }) => sequenceId)];
  // Two concurrent changes could cross the score together while neither does alone, so require the
  // score that was read.
  const scoreMatters =
    points !== 0 && triggers.some(({ triggerType }) => triggerType === "score_reached");
  return startEnrollments(
    [
      {
        contact,
        sequenceIds,
        conditions: scoreMatters ? [scoreUnchangedCondition(contact)] : [],
        oncePerDay,
      },
    ],
    maxWrites,
  );
}

/** Whether a score triggers an active sequence of the site. */
export const hasScoreTrigger = async (orgId: number, siteId: number): Promise<boolean> =>
  (await getSiteTriggers(orgId, siteId)).some(({ triggerType }) => triggerType === "score_reached");

const crossesScore = (
  { score = 0 }: ContactItem,
  points: number,
  threshold = Number.POSITIVE_INFINITY,
): boolean => score < threshold && score + points >= threshold;

const scoreUnchangedCondition = ({ score }: ContactItem): Condition =>
  score === undefined ? absent("score") : equals("score", score);

/** The list or tag that triggers a sequence. `getOrCreateTag` resolves a tag given by name. */
export async function resolveTriggerGroup(
  { triggerType, triggerConfig }: Pick<SequenceItem, "triggerType" | "triggerConfig">,
  getOrCreateTag: (name: string) => Promise<number>,
): Promise<{ kind: GroupKind; id: number } | null> {
  const kind = groupKindByTrigger[triggerType];
  const { tagId, tagName, listId } = triggerConfig ?? {};
  if (!kind) return null;
  if (kind === "LIST") return listId === undefined ? null : { kind, id: listId };
  if (tagId !== undefined) return { kind, id: tagId };
  return tagName === undefined ? null : { kind, id: await getOrCreateTag(tagName) };
}
