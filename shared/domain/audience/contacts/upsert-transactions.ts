// Commits the steps of many contacts: as many steps per transaction as fit, with every counter
// once.
// Pointers and memberships are written first, without a transaction. Readers ignore one that its
// contact does not confirm.
import {
  ConditionFailed,
  remove,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { keys } from "../../../keys.ts";
import {
  groupCountWrite,
  membershipItemWrites,
  membershipRemovalWrites,
  membershipShardOf,
} from "../groups/membership-writes.ts";
import { topicCountWrites } from "../topics/topic-counts.ts";
import { topicLogWrites } from "./consent-log.ts";
import { commitContactChanges, maxExtraWrites } from "./contact-events.ts";
import { contactCountWrite, pointerWrite } from "./contact-writes.ts";
import { contactReactions } from "./reactions.ts";
import type { UpsertStep, UpsertTarget } from "./upsert-steps.ts";

/**
 * A transaction takes 100 writes; some are left for the departure log, the note for triggers, and
 * the events of contacts and of enrollments.
 */
const maxPackedWrites = 99 - maxExtraWrites;
// A transaction takes 4 MB; the DynamoDB format of an item is larger than its JSON.
const maxTransactionBytes = 2_500_000;

// Each takes an enrollment and a counter. What does not fit is started after the transaction.
const mostStarts = 10;
const writesOf = ({
  sequenceIds,
  applied,
  externalIdWrites,
  confirmationWrites,
}: UpsertStep): number =>
  1 +
  externalIdWrites.length +
  confirmationWrites.length +
  Math.min(applied.entries.length, 1) +
  2 * Math.min(sequenceIds.length, mostStarts);

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
  const externalIdWrites = steps.flatMap((step) => step.externalIdWrites);
  const confirmationWrites = steps.flatMap((step) => step.confirmationWrites);
  const otherWrites = [...counters, ...externalIdWrites, ...confirmationWrites, ...consentWrites];
  const reaction = await contactReactions().startEnrollments(
    starting.map(({ next, sequenceIds }) => ({ contact: next, sequenceIds })),
    100 - maxExtraWrites - steps.length - otherWrites.length,
  );
  try {
    const changes = {
      transitions: steps.map(({ person, next }) => ({ before: person.current, after: next })),
      isQuiet: !steps[0]!.person.startSequences,
    };
    await commitContactChanges(steps[0]!.next.orgId, changes, (extraWrites) =>
      write(
        ...steps.map(({ next, contactWrite }) =>
          contactWrite(reaction.forContact(next).add.sequences),
        ),
        ...otherWrites,
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
