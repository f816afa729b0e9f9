// What many contacts at once write: each person's part, and as many parts to a transaction as fit, with every counter once.
import { put, Unmet, type Write, write } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import type { GroupKind } from "../../keys.ts";
import type { ContactItem, ContactRow } from "./contact.ts";
import * as groups from "./groups.ts";
import { asRead, changed, counting, membershipsOf, newItem } from "./items.ts";

/** Rows that say something of one address, on their way. */
export interface Person {
  orgId: number;
  siteId: number;
  /** Of one that is made. */
  id: number;
  rows: ContactRow[];
  /** What they say together. */
  row: ContactRow;
  tags: number[];
  resubscribe: boolean;
  suppressed: boolean;
  current: ContactItem | undefined;
  made: boolean;
  error?: string;
}

/** One person's part of a transaction. */
export interface Step {
  person: Person;
  next: ContactItem;
  isNew: boolean;
  memberships: groups.Membership[];
  writes: Write[];
}

/** Undefined when nothing is to be written. */
export function stepOf(person: Person, current: ContactItem | undefined): Step | undefined {
  person.current = current;
  // Made before: the same request again, after it died.
  person.made = !current || current.id === person.id;
  try {
    return current ? following(person, current) : beginning(person);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    person.error = error.message;
    return undefined;
  }
}

function beginning(person: Person): Step {
  const { row, tags, orgId, siteId, id, suppressed } = person;
  const { tags: _, lists, ...fields } = row;
  const next = newItem(fields, { orgId, siteId, id, tags, lists, suppressed });
  return stepTo(person, next, membershipsOf(next), put(next, next, { new: true }));
}

function following(person: Person, current: ContactItem): Step | undefined {
  const { tags: _, lists, status, email: __, ...fields } = person.row;
  const next = changed(current, { ...fields, ...statusOf(current, status, person.resubscribe) });
  const grown = { ...next, ...united("tags", current.tags, person.tags), ...united("lists", current.lists, lists) };
  const memberships = membershipsOf({ tags: minus(grown.tags, current.tags), lists: minus(grown.lists, current.lists) });
  if (!memberships.length && isSame(current, grown)) return undefined;
  return stepTo(person, grown, memberships, put(current, grown, { if: asRead(current) }));
}

/** Nobody who left comes back unless the caller says so. */
function statusOf(
  { status: now, unsuppressed }: ContactItem,
  wanted: ContactRow["status"],
  resubscribe: boolean,
): Pick<ContactRow, "status"> {
  const current = now === "suppressed" ? (unsuppressed ?? "subscribed") : now;
  const left = current === "unsubscribed";
  if (left) return resubscribe ? { status: wanted ?? "subscribed" } : {};
  return wanted === undefined ? {} : { status: wanted };
}

const united = (name: string, current: Set<number> | undefined, more: number[]) =>
  current || more.length ? { [name]: new Set([...(current ?? []), ...more]) } : {};
const minus = (all: Set<number> | undefined, without: Set<number> | undefined): Set<number> =>
  (all ?? new Set<number>()).difference(without ?? new Set());

/** But for the marks of a change. */
const isSame = (a: ContactItem, b: ContactItem): boolean => JSON.stringify(bare(a)) === JSON.stringify(bare(b));
const bare = ({ updatedAt: _, v: __, tags: ___, lists: ____, ...rest }: ContactItem) =>
  Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, value instanceof Set ? [...value] : value]);

const stepTo = (person: Person, next: ContactItem, memberships: groups.Membership[], storing: Write): Step => ({
  person,
  next,
  isNew: !person.current,
  memberships,
  writes: [storing, ...groups.entering(next, memberships)],
});

const mostWrites = 100;

/** As many to a transaction as it holds, counters included. */
export function packed(steps: Step[]): Step[][] {
  const transactions: Step[][] = [];
  for (const step of steps) {
    const last = transactions.at(-1);
    if (last && writesOf([...last, step]).length <= mostWrites) last.push(step);
    else transactions.push([step]);
  }
  return transactions;
}

const writesOf = (steps: Step[]): Write[] => [...steps.flatMap(({ writes }) => writes), ...countersOf(steps)];

/** What they move, each counter once. */
function countersOf(steps: Step[]): Write[] {
  const made = [
    ...Map.groupBy(
      steps.filter(({ isNew }) => isNew),
      ({ next }) => next.pk,
    ).values(),
  ];
  const joined = steps.flatMap(({ next, memberships }) =>
    memberships.map((one) => ({ ...one, orgId: next.orgId, home: groups.homeOf(next) })),
  );
  const byCounter = [...Map.groupBy(joined, ({ kind, group, home }) => `${kind} ${group} ${home}`).values()];
  return [
    ...made.map((some) => counting(some[0]!.next, some.length)),
    ...byCounter.map((some) => {
      const [{ orgId, kind, group, home }] = some as [{ orgId: number; kind: GroupKind; group: number; home: string }];
      return groups.counted(orgId, kind, group, home, some.length);
    }),
  ];
}

/** All of them or none: false when one of them was written by somebody else meanwhile. */
export async function storeSome(steps: Step[]): Promise<boolean> {
  try {
    await write(...writesOf(steps));
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
  for (const { person, next } of steps) person.current = next;
  return true;
}
