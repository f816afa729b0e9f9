// Plans the writes of many contacts: a step for each contact, and as many steps per transaction as
// fit, with every counter once.
// Pointers and memberships are written first, without a transaction. Readers ignore one that its
// contact does not confirm.
import { isDeepStrictEqual } from "node:util";
import {
  ConditionFailed,
  put,
  remove,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { Problem } from "../../../errors.ts";
import { keys } from "../../../keys.ts";
import {
  groupCountWrite,
  type Membership,
  membershipItemWrites,
  membershipRemovalWrites,
  membershipShardOf,
} from "../groups/membership-writes.ts";
import {
  type AppliedChoices,
  applyChoices,
  type Choice,
  permittedChoices,
} from "../topics/topic-choices.ts";
import { topicCountWrites } from "../topics/topic-counts.ts";
import { type Consent, topicLogWrites } from "./consent-log.ts";
import { commitContactChanges, maxExtraWrites } from "./contact-events.ts";
import type { ContactItem, ContactRow } from "./contact-schema.ts";
import {
  applyChanges,
  contactCountWrite,
  createItem,
  membershipsOf,
  pointerWrite,
  unchangedCondition,
} from "./contact-writes.ts";
import { contactReactions } from "./reactions.ts";

/** One contact to upsert, with the rows of its email address. */
export interface UpsertTarget {
  orgId: number;
  siteId: number;
  /** The current day in the organization's time zone. */
  date: string;
  /** Id for the contact if it is created. */
  id: number;
  rows: ContactRow[];
  mergedRow: ContactRow;
  tags: number[];
  /** Names of tags that do not exist yet. */
  newTags: string[];
  choices: Choice[];
  consentSource: Consent["source"];
  startSequences: boolean;
  resubscribe: boolean;
  mode: UpsertMode;
  /** Fields of a new contact that its row does not set. */
  defaults: NewContactDefaults;
  suppressed: boolean;
  current: ContactItem | undefined;
  created: boolean;
  /** Step whose pointer and memberships were written. */
  pointedStep?: UpsertStep;
  /** The mode excludes it. */
  skipped?: boolean;
  error?: string;
}

/** Whether new email addresses are created and existing contacts changed. */
export type UpsertMode = "create" | "update" | "upsert";
export type NewContactDefaults = Pick<ContactRow, "status" | "source">;

/** The part of one contact in a transaction. */
export interface UpsertStep {
  person: UpsertTarget;
  next: ContactItem;
  isNew: boolean;
  memberships: Membership[];
  /** Topics that it joins or leaves. */
  applied: AppliedChoices;
  /** Stores the contact, enrolled in these sequences. */
  contactWrite(sequences: Set<number> | undefined): Write;
  /** Sequences that its new memberships trigger. */
  sequenceIds: number[];
  /** Names of the counters it changes. */
  counters: string[];
  bytes: number;
}

/** Undefined when nothing is to be written. */
export function planStep(
  target: UpsertTarget,
  current: ContactItem | undefined,
): UpsertStep | undefined {
  target.current = current;
  // A contact with this id was created by an earlier attempt of the same request.
  target.created = current ? current.id === target.id : target.mode !== "update";
  target.skipped = !target.created && (current ? target.mode === "create" : true);
  if (target.skipped || (current && target.mode === "create")) return undefined;
  try {
    return current ? planUpdate(target, current) : planCreate(target);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    target.error = error.message;
    return undefined;
  }
}

/** Whether the row can be written, with any tags. */
export function isWritable(target: UpsertTarget, current: ContactItem | undefined): boolean {
  const step = planStep(target, current);
  return (
    step !== undefined ||
    (target.error === undefined && !target.skipped && target.mode !== "create")
  );
}

function planCreate(target: UpsertTarget): UpsertStep {
  const { mergedRow, tags, orgId, siteId, id, suppressed, defaults } = target;
  const { tags: _, lists, topics: __, ...fields } = mergedRow;
  const applied = applyChoices({}, target.choices);
  const next = createItem(
    {
      ...fields,
      status: fields.status ?? defaults.status,
      source: fields.source ?? defaults.source,
    },
    { orgId, siteId, id, tags, lists, choices: applied.stored, suppressed },
  );
  return toStep(target, {
    next,
    memberships: membershipsOf(next),
    applied,
    condition: { ifAbsent: true },
  });
}

function planUpdate(target: UpsertTarget, current: ContactItem): UpsertStep | undefined {
  const { tags: _, lists, status, email: __, topics: ___, ...fields } = target.mergedRow;
  const choices = permittedChoices(current, target.choices, target.resubscribe);
  const applied = applyChoices(current, choices);
  const next = applyChanges(current, { ...fields, ...allowedStatus(current, status, target) });
  const merged = {
    ...next,
    ...applied.stored,
    ...unionAttribute("tags", current.tags, target.tags),
    ...unionAttribute("lists", current.lists, lists),
  };
  const memberships = membershipsOf({
    tags: minus(merged.tags, current.tags),
    lists: minus(merged.lists, current.lists),
  });
  if (!memberships.length && isSame(current, merged)) return undefined;
  return toStep(target, {
    next: merged,
    memberships,
    applied,
    condition: { if: unchangedCondition(current) },
  });
}

/** An unsubscribed contact stays unsubscribed without `resubscribe`. */
function allowedStatus(
  { status: now, unsuppressed }: ContactItem,
  wanted: ContactRow["status"],
  { resubscribe, defaults }: UpsertTarget,
): Pick<ContactRow, "status"> {
  const current = now === "suppressed" ? (unsuppressed ?? "subscribed") : now;
  const left = current === "unsubscribed";
  if (left) return resubscribe ? { status: wanted ?? defaults.status ?? "subscribed" } : {};
  return wanted === undefined ? {} : { status: wanted };
}

const unionAttribute = (name: string, current: Set<number> | undefined, more: number[]) =>
  current || more.length ? { [name]: new Set([...(current ?? []), ...more]) } : {};
const minus = (all: Set<number> | undefined, without: Set<number> | undefined): Set<number> =>
  (all ?? new Set<number>()).difference(without ?? new Set());

/** Ignores the version and the order of fields. */
const isSame = (a: ContactItem, b: ContactItem): boolean =>
  isDeepStrictEqual(withoutVersion(a), withoutVersion(b));
const withoutVersion = ({ updatedAt: _, v: __, tags: ___, lists: ____, ...rest }: ContactItem) =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));

const toStep = (
  target: UpsertTarget,
  {
    next,
    memberships,
    applied,
    condition,
  }: Pick<UpsertStep, "next" | "memberships" | "applied"> & {
    condition: Parameters<typeof put>[2];
  },
): UpsertStep => ({
  person: target,
  next,
  isNew: !target.current,
  memberships,
  applied,
  contactWrite: (sequences = new Set()) => {
    const all = sequences.union(next.sequences ?? new Set());
    return put(next, { ...next, ...(all.size && { sequences: all }) }, condition);
  },
  sequenceIds: [],
  counters: [
    ...(target.current ? [] : [next.pk]),
    ...memberships.map(({ kind, group }) => `${kind} ${group} ${membershipShardOf(next)}`),
    ...(applied.changes.length ? [`topics ${membershipShardOf(next)}`] : []),
  ],
  bytes: Buffer.byteLength(JSON.stringify(next)),
});

/** A transaction takes 100 writes; some are left for the departure log and for events. */
const maxPackedWrites = 100 - maxExtraWrites;
// A transaction takes 4 MB; the DynamoDB format of an item is larger than its JSON.
const maxTransactionBytes = 2_500_000;

// Each takes an enrollment, a counter and a cohort. What does not fit is started after the
// transaction.
const mostStarts = 10;
const writesOf = ({ sequenceIds, applied }: UpsertStep): number =>
  1 + Math.min(applied.entries.length, 1) + 3 * Math.min(sequenceIds.length, mostStarts);

interface TransactionLoad {
  steps: UpsertStep[];
  writes: number;
  counters: Set<string>;
  bytes: number;
}

/**
 * Groups steps into transactions, and transactions into lanes. Transactions of a lane share
 * counters, so they run one after the other.
 */
export function groupTransactions(steps: UpsertStep[]): UpsertStep[][][] {
  const lanes: TransactionLoad[][] = [];
  for (const same of Map.groupBy(steps, ({ next }) => membershipShardOf(next)).values()) {
    const loads = packTransactions(same);
    const last = lanes.at(-1);
    const merged = last?.length === 1 && loads.length === 1 && mergeLoads(last[0]!, loads[0]!);
    if (merged) last[0] = merged;
    else lanes.push(loads);
  }
  return lanes.map((loads) => loads.map((load) => load.steps));
}

/** Fills each transaction, counters included. */
function packTransactions(steps: UpsertStep[]): TransactionLoad[] {
  const loads: TransactionLoad[] = [];
  for (const step of steps) {
    const load = loads.at(-1);
    const counters = step.counters.filter((name) => !load?.counters.has(name));
    if (
      load &&
      fits(
        load.writes + writesOf(step) + load.counters.size + counters.length,
        load.bytes + step.bytes,
      )
    ) {
      load.steps.push(step);
      load.writes += writesOf(step);
      for (const name of counters) load.counters.add(name);
      load.bytes += step.bytes;
    } else
      loads.push({
        steps: [step],
        writes: writesOf(step),
        counters: new Set(step.counters),
        bytes: step.bytes,
      });
  }
  return loads;
}

const fits = (writes: number, bytes: number): boolean =>
  writes <= maxPackedWrites && bytes <= maxTransactionBytes;

/** Undefined when both do not fit into one transaction. */
function mergeLoads(a: TransactionLoad, b: TransactionLoad): TransactionLoad | undefined {
  const steps = [...a.steps, ...b.steps];
  const load = {
    steps,
    writes: a.writes + b.writes,
    counters: a.counters.union(b.counters),
    bytes: a.bytes + b.bytes,
  };
  return fits(load.writes + load.counters.size, load.bytes) ? load : undefined;
}

/** Writes each counter once. */
function counterWrites(steps: UpsertStep[]): Write[] {
  const made = [
    ...Map.groupBy(
      steps.filter(({ isNew }) => isNew),
      ({ next }) => next.pk,
    ).values(),
  ];
  const byShard = [...Map.groupBy(steps, ({ next }) => membershipShardOf(next)).values()];
  const newMemberships = steps.flatMap(({ next, memberships }) =>
    memberships.map((one) => ({ ...one, orgId: next.orgId, shard: membershipShardOf(next) })),
  );
  const byCounter = [
    ...Map.groupBy(
      newMemberships,
      ({ kind, group, shard }) => `${kind} ${group} ${shard}`,
    ).values(),
  ];
  return [
    ...made.map((some) => contactCountWrite(some[0]!.next, some.length, some[0]!.person.date)),
    ...byCounter.map((some) => groupCountWrite(some[0]!, some[0]!, some.length)),
    ...byShard.flatMap((some) => {
      const changes = some.flatMap(({ applied }) => applied.changes);
      return topicCountWrites(some[0]!.next, changes, some[0]!.person.date);
    }),
  ];
}

/**
 * Call before every attempt to store the contacts. The conditions of that transaction detect a
 * change in between.
 */
export async function writePointers(steps: UpsertStep[]): Promise<void> {
  for (const step of steps) if (step.isNew) step.person.pointedStep = step;
  await writeMany(
    steps.flatMap(({ next, isNew, memberships }) => [
      ...(isNew ? [pointerWrite(next)] : []),
      ...membershipItemWrites(next, memberships),
    ]),
  );
}

/**
 * Removes the pointers and memberships of contacts that another request created in between, with
 * another id.
 */
export async function removeStalePointers(people: UpsertTarget[]): Promise<void> {
  const stale = people.flatMap(({ pointedStep, current, id }) =>
    pointedStep && current && current.id !== id ? [pointedStep] : [],
  );
  await writeMany(
    stale.flatMap(({ next, memberships }) => [
      remove(keys.contactPointer(next.orgId, next.id)),
      ...membershipRemovalWrites(next, memberships),
    ]),
  );
  for (const { person } of stale) delete person.pointedStep;
}

/**
 * Commits all steps or none. Returns false when one of the contacts has changed since it was read.
 */
export async function commitSteps(steps: UpsertStep[]): Promise<boolean> {
  const counters = counterWrites(steps);
  const starting = steps.filter(({ sequenceIds }) => sequenceIds.length);
  const consentWrites = steps.flatMap(({ person, next, applied }) =>
    topicLogWrites(next, { source: person.consentSource }, applied.entries),
  );
  const free = maxPackedWrites - steps.length - counters.length - consentWrites.length;
  const reaction = await contactReactions().startEnrollments(
    starting.map(({ next, sequenceIds }) => ({ contact: next, sequenceIds })),
    Math.floor((2 * free) / (3 * starting.length)),
  );
  try {
    const changes = {
      transitions: steps.map(({ person, next }) => ({ before: person.current, after: next })),
    };
    await commitContactChanges(steps[0]!.next.orgId, changes, (extraWrites) =>
      write(
        ...steps.map(({ next, contactWrite }) =>
          contactWrite(reaction.forContact(next).add.sequences),
        ),
        ...counters,
        ...consentWrites,
        ...reaction.writes,
        ...extraWrites,
      ),
    );
    await reaction.afterCommit();
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
  for (const { person, next } of steps) person.current = next;
  return true;
}
