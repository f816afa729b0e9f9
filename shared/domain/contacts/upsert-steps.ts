// What many contacts at once write: each person's part, and as many parts to a transaction as fit, with every counter once.
// Pointers and memberships go first, plainly: one whose contact does not say the same tells nobody anything.
import { isDeepStrictEqual } from "node:util";
import { put, remove, Unmet, type Write, write, writeMany } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import { type GroupKind, keys } from "../../keys.ts";
import type { ContactItem, ContactRow } from "./contact.ts";
import { asRead, changed, counting, membershipsOf, newItem, pointing } from "./items.ts";
import { counted, entering, homeOf, type Membership, withdrawing } from "./memberships.ts";

/** Rows that say something of one address, on their way. */
export interface Person {
  orgId: number;
  siteId: number;
  /** The organization's day. */
  date: string;
  /** Of one that is made. */
  id: number;
  rows: ContactRow[];
  /** What they say together. */
  row: ContactRow;
  tags: number[];
  resubscribe: boolean;
  mode: Mode;
  /** What a contact has that is made, where its row does not say. */
  fresh: Fresh;
  suppressed: boolean;
  current: ContactItem | undefined;
  made: boolean;
  /** What was said of it before it was to be made. */
  announced?: Step;
  /** Left alone, as the mode has it. */
  skipped?: boolean;
  error?: string;
}

/** Whether addresses that are not there are made, and those that are there changed. */
export type Mode = "create" | "update" | "upsert";
export type Fresh = Pick<ContactRow, "status" | "source">;

/** One person's part of a transaction. */
export interface Step {
  person: Person;
  next: ContactItem;
  isNew: boolean;
  memberships: Membership[];
  storing: Write;
  /** Names of the counters it moves. */
  counters: string[];
  bytes: number;
}

/** Undefined when nothing is to be written. */
export function stepOf(person: Person, current: ContactItem | undefined): Step | undefined {
  person.current = current;
  // Made before: the same request again, after it died.
  person.made = current ? current.id === person.id : person.mode !== "update";
  person.skipped = !person.made && (current ? person.mode === "create" : true);
  if (person.skipped || (current && person.mode === "create")) return undefined;
  try {
    return current ? following(person, current) : beginning(person);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    person.error = error.message;
    return undefined;
  }
}

function beginning(person: Person): Step {
  const { row, tags, orgId, siteId, id, suppressed, fresh } = person;
  const { tags: _, lists, ...fields } = row;
  const next = newItem(
    { ...fields, status: fields.status ?? fresh.status, source: fields.source ?? fresh.source },
    { orgId, siteId, id, tags, lists, suppressed },
  );
  return stepTo(person, next, membershipsOf(next), put(next, next, { new: true }));
}

function following(person: Person, current: ContactItem): Step | undefined {
  const { tags: _, lists, status, email: __, ...fields } = person.row;
  const next = changed(current, { ...fields, ...statusOf(current, status, person) });
  const grown = { ...next, ...united("tags", current.tags, person.tags), ...united("lists", current.lists, lists) };
  const memberships = membershipsOf({ tags: minus(grown.tags, current.tags), lists: minus(grown.lists, current.lists) });
  if (!memberships.length && isSame(current, grown)) return undefined;
  return stepTo(person, grown, memberships, put(current, grown, { if: asRead(current) }));
}

/** Nobody who left comes back unless the caller says so. */
function statusOf(
  { status: now, unsuppressed }: ContactItem,
  wanted: ContactRow["status"],
  { resubscribe, fresh }: Person,
): Pick<ContactRow, "status"> {
  const current = now === "suppressed" ? (unsuppressed ?? "subscribed") : now;
  const left = current === "unsubscribed";
  if (left) return resubscribe ? { status: wanted ?? fresh.status ?? "subscribed" } : {};
  return wanted === undefined ? {} : { status: wanted };
}

const united = (name: string, current: Set<number> | undefined, more: number[]) =>
  current || more.length ? { [name]: new Set([...(current ?? []), ...more]) } : {};
const minus = (all: Set<number> | undefined, without: Set<number> | undefined): Set<number> =>
  (all ?? new Set<number>()).difference(without ?? new Set());

/** But for the marks of a change. Fields may come in any order, within each other too. */
const isSame = (a: ContactItem, b: ContactItem): boolean => isDeepStrictEqual(bare(a), bare(b));
const bare = ({ updatedAt: _, v: __, tags: ___, lists: ____, ...rest }: ContactItem) =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));

const stepTo = (person: Person, next: ContactItem, memberships: Membership[], storing: Write): Step => ({
  person,
  next,
  isNew: !person.current,
  memberships,
  storing,
  counters: [...(person.current ? [] : [next.pk]), ...memberships.map(({ kind, group }) => `${kind} ${group} ${homeOf(next)}`)],
  bytes: Buffer.byteLength(JSON.stringify(next)),
});

const mostWrites = 100;
// Of the 4 MB that a transaction takes, some room is left to how items are written.
const mostBytes = 2_500_000;

interface Load {
  steps: Step[];
  counters: Set<string>;
  bytes: number;
}

/** Loads whose transactions are made one after the other, because they move the same counters. No two lanes have one in common. */
export function lanesOf(steps: Step[]): Step[][][] {
  const lanes: Load[][] = [];
  for (const same of Map.groupBy(steps, ({ next }) => homeOf(next)).values()) {
    const loads = packed(same);
    const last = lanes.at(-1);
    const merged = last?.length === 1 && loads.length === 1 && together(last[0]!, loads[0]!);
    if (merged) last[0] = merged;
    else lanes.push(loads);
  }
  return lanes.map((loads) => loads.map((load) => load.steps));
}

/** As many to a transaction as it holds, counters included. */
function packed(steps: Step[]): Load[] {
  const loads: Load[] = [];
  for (const step of steps) {
    const load = loads.at(-1);
    const counters = step.counters.filter((name) => !load?.counters.has(name));
    if (load && holds(load.steps.length + 1 + load.counters.size + counters.length, load.bytes + step.bytes)) {
      load.steps.push(step);
      for (const name of counters) load.counters.add(name);
      load.bytes += step.bytes;
    } else loads.push({ steps: [step], counters: new Set(step.counters), bytes: step.bytes });
  }
  return loads;
}

const holds = (writes: number, bytes: number): boolean => writes <= mostWrites && bytes <= mostBytes;

/** Undefined where they do not fit. */
function together(a: Load, b: Load): Load | undefined {
  const load = { steps: [...a.steps, ...b.steps], counters: a.counters.union(b.counters), bytes: a.bytes + b.bytes };
  return holds(load.steps.length + load.counters.size, load.bytes) ? load : undefined;
}

/** What they move, each counter once. */
function countersOf(steps: Step[]): Write[] {
  const made = [
    ...Map.groupBy(
      steps.filter(({ isNew }) => isNew),
      ({ next }) => next.pk,
    ).values(),
  ];
  const joined = steps.flatMap(({ next, memberships }) => memberships.map((one) => ({ ...one, orgId: next.orgId, home: homeOf(next) })));
  const byCounter = [...Map.groupBy(joined, ({ kind, group, home }) => `${kind} ${group} ${home}`).values()];
  return [
    ...made.map((some) => counting(some[0]!.next, some.length, some[0]!.person.date)),
    ...byCounter.map((some) => {
      const [{ orgId, kind, group, home }] = some as [{ orgId: number; kind: GroupKind; group: number; home: string }];
      return counted(orgId, kind, group, home, some.length);
    }),
  ];
}

/** Must come before the contacts are stored, each time anew: whoever changes a contact in between is noticed. */
export async function announce(steps: Step[]): Promise<void> {
  for (const step of steps) if (step.isNew) step.person.announced = step;
  await writeMany(steps.flatMap(({ next, isNew, memberships }) => [...(isNew ? [pointing(next)] : []), ...entering(next, memberships)]));
}

/** Of those that somebody else has made meanwhile, under another id. */
export async function renounce(people: Person[]): Promise<void> {
  const vain = people.flatMap(({ announced, current, id }) => (announced && current && current.id !== id ? [announced] : []));
  await writeMany(
    vain.flatMap(({ next, memberships }) => [remove(keys.contactPointer(next.orgId, next.id)), ...withdrawing(next, memberships)]),
  );
  for (const { person } of vain) delete person.announced;
}

/** All of them or none: false when one of them was written by somebody else meanwhile. */
export async function storeSome(steps: Step[]): Promise<boolean> {
  try {
    await write(...steps.map(({ storing }) => storing), ...countersOf(steps));
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
  for (const { person, next } of steps) person.current = next;
  return true;
}
