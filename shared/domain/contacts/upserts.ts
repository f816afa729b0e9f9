// Many contacts at once, made or changed. Rows go in transactions of as many as fit, each with all its counts: whoever dies in
// between has written some rows whole, and no count is ever off. Collections go side by side, since they have no counter in common.
import type { Caller } from "../../caller.ts";
import { getMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { unlessMissing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import * as organizations from "../organizations.ts";
import * as suppressions from "../suppressions.ts";
import type { ContactItem, ContactRow } from "./contact.ts";
import * as groups from "./groups.ts";
import * as standing from "./standing.ts";
import { announce, type Fresh, lanesOf, type Mode, type Person, renounce, type Step, stepOf, storeSome } from "./upsert-steps.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export type Outcome = { outcome: "created" | "updated"; id: number; error?: undefined } | { outcome: "failed"; error: string };

export interface Options {
  /**
   * Whoever unsubscribed is subscribed again, and an address is taken off the suppression list; without it neither ever happens. A
   * caller bound to a site cannot change the list: for it a suppressed contact stays so.
   */
  resubscribe?: boolean | undefined;
}
export type { Mode };

/** Further wishes of an import. */
export interface Wishes extends Options {
  mode?: Mode | undefined;
  fresh?: Fresh | undefined;
  /** Under which each row's contact is made: who comes again with the same ids after a death is told the same as the first time. */
  ids?: number[] | undefined;
  /** Somebody may have been here before with these ids. */
  again?: boolean | undefined;
}
export type Skipped = { outcome: "skipped"; error?: undefined };

/** Answers for each row. Rows of one address are taken together, in order. A row fails alone. */
export const upsert = (who: Who, siteId: number, rows: ContactRow[], options: Options = {}): Promise<Outcome[]> =>
  // Only another mode skips.
  apply(who, siteId, rows, options) as Promise<Outcome[]>;

export async function apply(who: Who, siteId: number, rows: ContactRow[], wishes: Wishes): Promise<(Outcome | Skipped)[]> {
  const lists = await knownLists(who.orgId, siteId, rows);
  const errors = rows.map((row) => row.lists.find((id) => !lists.has(id))).map((id) => id && `lists: there is no list ${id} in this site`);
  const good = rows.flatMap((row, i) => (errors[i] ? [] : [{ row, id: wishes.ids?.[i] }]));
  const people = await planned(who, siteId, good, wishes);
  for (const wave of wavesOf(people)) await store(wave, wishes.again);
  const byRow = new Map(people.flatMap((person) => person.rows.map((row) => [row, person])));
  return rows.map((row, i) => (errors[i] ? { outcome: "failed", error: errors[i] } : told(byRow.get(row)!, row)));
}

/** An address that was new is made by its first row and changed by the others. */
function told({ id, current, made, mode, skipped, rows, error }: Person, row: ContactRow): Outcome | Skipped {
  if (error !== undefined) return { outcome: "failed", error };
  if (skipped || (mode === "create" && rows[0] !== row)) return { outcome: "skipped" };
  return { outcome: made && rows[0] === row ? "created" : "updated", id: current?.id ?? id };
}

/** Each address at most once in a wave. */
function wavesOf(people: Person[]): Person[][] {
  const byAddress = [...Map.groupBy(people, ({ row }) => canonical(row.email)).values()];
  const longest = Math.max(0, ...byAddress.map((same) => same.length));
  return Array.from({ length: longest }, (_, i) => byAddress.flatMap((same) => same[i] ?? []));
}

async function knownLists(orgId: number, siteId: number, rows: ContactRow[]): Promise<Set<number>> {
  const wanted = [...new Set(rows.flatMap(({ lists }) => lists))];
  const found = await getMany<groups.Group>(
    wanted.map((id) => keys.record(orgId, "LIST", id)),
    { consistent: true },
  );
  return new Set(found.flatMap((list) => (list?.siteId === siteId ? [list.id] : [])));
}

interface Given {
  row: ContactRow;
  id: number | undefined;
}

async function planned(
  who: Who,
  siteId: number,
  rows: Given[],
  { resubscribe = false, mode = "upsert", fresh = {}, ids: given }: Wishes,
): Promise<Person[]> {
  const { orgId } = who;
  const sets = [...Map.groupBy(rows, ({ row }) => canonical(row.email)).values()].flatMap(mode === "create" ? (same) => [same] : fitting);
  const merged = sets.map((same) =>
    mode === "create" ? same[0]!.row : same.map(({ row }) => row).reduce(joined(resubscribe, fresh.status)),
  );
  if (resubscribe && mode !== "create" && who.siteId === undefined) await welcome(orgId, merged, fresh.status);
  const emails = merged.map(({ email }) => email);
  const [date, tags, suppressed, taken] = await Promise.all([
    organizations.today(orgId),
    groups.tagsNamed(
      who,
      siteId,
      merged.flatMap((row) => row.tags),
    ),
    suppressions.among(orgId, emails, "marketing"),
    given ? [] : ids.takeContacts(merged.length),
  ]);
  return merged.map((row, i) => ({
    orgId,
    siteId,
    date,
    id: given ? sets[i]![0]!.id! : taken[i]!,
    rows: sets[i]!.map((one) => one.row),
    row,
    tags: [...new Set(row.tags.map((name) => tags.get(name)!))],
    resubscribe,
    mode,
    fresh,
    suppressed: suppressed.has(canonical(row.email)),
    current: undefined,
    made: false,
  }));
}

// Of the 100 writes of a transaction a counter for each, and those of the contact and its count.
const mostMemberships = 98;

/** Rows of one address in as few sets as can be written at once. */
function fitting(rows: Given[]): Given[][] {
  const sets: Given[][] = [];
  for (const row of rows) {
    const last = sets.at(-1);
    if (last && membershipsIn([...last, row]) <= mostMemberships) last.push(row);
    else sets.push([row]);
  }
  return sets;
}

const membershipsIn = (rows: Given[]): number => rows.reduce((sum, { row }) => sum + row.tags.length + row.lists.length, 0);

/** What a later row says of the same person goes over what an earlier one said, as if they had come one after the other. */
const joined =
  (resubscribe: boolean, fresh: ContactRow["status"] = "subscribed") =>
  (earlier: ContactRow, later: ContactRow): ContactRow => ({
    ...earlier,
    ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== undefined)),
    ...((earlier.customFields ?? later.customFields) && { customFields: { ...earlier.customFields, ...later.customFields } }),
    ...(earlier.status === "unsubscribed" && { status: resubscribe ? (later.status ?? fresh) : "unsubscribed" }),
    email: earlier.email,
    tags: [...earlier.tags, ...later.tags],
    lists: [...new Set([...earlier.lists, ...later.lists])],
  });

/** Off the suppression list with those who are subscribed again. */
async function welcome(orgId: number, rows: ContactRow[], fresh: ContactRow["status"] = "subscribed"): Promise<void> {
  const back = rows.filter(({ status = fresh }) => status === "subscribed").map(({ email }) => email);
  for (const email of await suppressions.among(orgId, back, "marketing")) await suppressions.remove(orgId, email).catch(unlessMissing);
}

const mostTries = 8;

async function store(people: Person[], again = false): Promise<void> {
  let open = people;
  for (let tries = 1; open.length; tries++) {
    if (tries > mostTries) for (const person of open) person.error = "The contact is being changed by too many requests at once";
    if (tries > mostTries) return;
    open = await storeOnce(open, again);
  }
  // Whoever suppressed an address meanwhile may not have found its contact.
  const fresh = people.flatMap(({ current, made }) => (current && made ? [current] : []));
  if (fresh[0]) await standing.follow(fresh[0].orgId, fresh);
}

/** Answers with those that somebody else wrote at the same time. */
async function storeOnce(people: Person[], again: boolean): Promise<Person[]> {
  const found = await getMany<ContactItem>(people.map(addressOf), { consistent: true });
  const wanted = people.flatMap((person, i) => stepOf(person, found[i]) ?? []);
  const steps = again ? await withoutMoved(wanted) : wanted;
  await renounce(people);
  await announce(steps);
  const lost = await inParallel(8, lanesOf(steps), async (lane) => {
    const theirs: Person[] = [];
    for (const some of lane) if (!(await storeSome(some))) theirs.push(...some.map(({ person }) => person));
    return theirs;
  });
  return lost.flat();
}

/** Whoever was made under its id before, and has another address by now, is not made once more. */
async function withoutMoved(steps: Step[]): Promise<Step[]> {
  const pointers = await getMany<{ email: string }>(
    steps.map(({ next }) => keys.contactPointer(next.orgId, next.id)),
    { consistent: true },
  );
  return steps.filter(({ isNew, next }, i) => !isNew || pointers[i] === undefined || pointers[i].email === next.sk);
}

const addressOf = ({ orgId, siteId, row }: Person) => keys.contact(orgId, siteId, canonical(row.email));
