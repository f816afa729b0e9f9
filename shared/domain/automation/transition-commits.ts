// Commits transitions: many in one transaction, with their counters. If one loses to a concurrent
// change, the others are retried without it.
import { ConditionFailed, getMany, transact, type Write } from "../../adapters/dynamodb/table.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as engagement from "../audience/contacts/engagement.ts";
import { prepareEnrollmentEvents } from "./enrollment-events.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import {
  counterIdsOf,
  type EnrollmentTransition,
  isEnd,
  transitionCountWrites,
  transitionWrites,
} from "./enrollment-transition.ts";

const maxTransactionWrites = 100;
/** All events of a transaction are one write. */
const eventWrites = 1;

/**
 * Splits transitions of one sequence into groups. Each fits into one transaction together with
 * `extraWrites` more writes.
 */
export function groupForTransactions(
  transitions: EnrollmentTransition[],
  extraWrites: number,
): EnrollmentTransition[][] {
  const groups: { members: EnrollmentTransition[]; writes: number; counters: Set<number> }[] = [];
  for (const transition of transitions) {
    const writes = transitionWrites(transition).length;
    const counters = counterIdsOf(transition);
    const last = groups.at(-1);
    const allCounters = last?.counters.union(counters) ?? counters;
    const otherWrites = allCounters.size + eventWrites + extraWrites;
    if (last && last.writes + writes + otherWrites <= maxTransactionWrites) {
      last.members.push(transition);
      last.writes += writes;
      last.counters = allCounters;
    } else groups.push({ members: [transition], writes, counters });
  }
  return groups.map(({ members }) => members);
}

/**
 * Commits all in one transaction with `extraWrites`. Returns false, with nothing committed, when
 * one of them is stale.
 */
export async function commitGroup(
  transitions: EnrollmentTransition[],
  extraWrites: Write[] = [],
): Promise<boolean> {
  const completed = transitions.filter(({ to }) => isEnd(to) && to.status === "completed");
  const events = await prepareEnrollmentEvents(
    "sequence.completed",
    completed.map(({ enrollment }) => enrollment),
  );
  const isCommitted = await transact(
    ...transitions.flatMap(transitionWrites),
    ...transitionCountWrites(transitions),
    ...extraWrites,
    ...events.writes,
  );
  if (isCommitted) await events.afterCommit();
  return isCommitted;
}

/**
 * Commits one group. After a conflict it retries without the stale transitions. Returns those that
 * were committed.
 */
export async function commitWithRetry(
  group: EnrollmentTransition[],
  attempt: (transitions: EnrollmentTransition[]) => Promise<boolean> = commitGroup,
): Promise<EnrollmentTransition[]> {
  let pending = group;
  return retryOnConflict("The enrollment", async () => {
    if (await attempt(pending)) return pending;
    pending = await dropStale(pending);
    if (pending.length) throw new ConditionFailed(0);
    return [];
  });
}

/**
 * Keeps the transitions whose enrollment has not changed and, if they end it, whose contact still
 * has the same key.
 */
async function dropStale(transitions: EnrollmentTransition[]): Promise<EnrollmentTransition[]> {
  const [items, contacts] = await Promise.all([
    getMany<EnrollmentItem>(
      transitions.map(({ enrollment }) => enrollment),
      { consistent: true },
    ),
    getMany<ContactItem>(
      transitions.flatMap(({ to }) => (isEnd(to) && to.contact ? [to.contact] : [])),
      { consistent: true },
    ),
  ]);
  const foundContactIds = new Set(contacts.flatMap((contact) => contact?.id ?? []));
  return transitions.filter(
    ({ enrollment, to }, i) =>
      items[i]?.v === enrollment.v &&
      (!isEnd(to) || !to.contact || foundContactIds.has(enrollment.contactId)),
  );
}

/**
 * The contacts of enrollments of one organization, by id. Finds them also after a change of their
 * email address.
 */
export async function getContactsOf(
  orgId: number,
  items: EnrollmentItem[],
): Promise<Map<number, ContactItem>> {
  const found = await engagement.getAddressees(
    orgId,
    items.map(({ siteId, contactId, email: toEmail }) => ({ siteId, contactId, toEmail })),
  );
  return new Map(
    items.flatMap(({ contactId }, i) =>
      found[i]?.id === contactId ? [[contactId, found[i]]] : [],
    ),
  );
}
