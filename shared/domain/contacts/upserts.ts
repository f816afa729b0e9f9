// Many contacts at once, made or changed. Rows go in transactions of as many as fit, each with its memberships and all its counts:
// whoever dies in between has written some rows whole, and no count is ever off.
import type { Caller } from "../../caller.ts";
import { getMany, writeMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import * as suppressions from "../suppressions.ts";
import type { ContactItem, ContactRow } from "./contact.ts";
import * as groups from "./groups.ts";
import { pointing } from "./items.ts";
import * as standing from "./standing.ts";
import { type Person, packed, stepOf, storeSome } from "./upsert-steps.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export type Outcome = { outcome: "created" | "updated"; id: number; error?: undefined } | { outcome: "failed"; error: string };

export interface Options {
  /**
   * Whoever unsubscribed is subscribed again, and an address is taken off the suppression list; without it neither ever happens. A
   * caller bound to a site cannot change the list: for it a suppressed contact stays so.
   */
  resubscribe?: boolean | undefined;
}

/** Answers for each row. Rows of one address are taken together, in order. A row fails alone. */
export async function upsert(who: Who, siteId: number, rows: ContactRow[], { resubscribe = false }: Options = {}): Promise<Outcome[]> {
  const lists = await knownLists(who.orgId, siteId, rows);
  const errors = rows.map((row) => row.lists.find((id) => !lists.has(id))).map((id) => id && `lists: there is no list ${id} in this site`);
  const good = rows.filter((_, i) => !errors[i]);
  const people = await planned(who, siteId, good, resubscribe);
  for (const wave of wavesOf(people)) await store(wave);
  const byRow = new Map(people.flatMap((person) => person.rows.map((row) => [row, person])));
  return rows.map((row, i) => (errors[i] ? { outcome: "failed", error: errors[i] } : told(byRow.get(row)!, row)));
}

/** An address that was new is made by its first row and changed by the others. */
function told({ id, current, made, rows, error }: Person, row: ContactRow): Outcome {
  if (error !== undefined) return { outcome: "failed", error };
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

async function planned(who: Who, siteId: number, rows: ContactRow[], resubscribe: boolean): Promise<Person[]> {
  const { orgId } = who;
  const sets = [...Map.groupBy(rows, ({ email }) => canonical(email)).values()].flatMap(fitting);
  const merged = sets.map((same) => same.reduce(joined(resubscribe)));
  if (resubscribe && who.siteId === undefined) await welcome(orgId, merged);
  const emails = merged.map(({ email }) => email);
  const [tags, suppressed, fresh] = await Promise.all([
    groups.tagsNamed(
      who,
      siteId,
      merged.flatMap((row) => row.tags),
    ),
    suppressions.among(orgId, emails, "marketing"),
    ids.takeContacts(merged.length),
  ]);
  return merged.map((row, i) => ({
    orgId,
    siteId,
    id: fresh[i]!,
    rows: sets[i]!,
    row,
    tags: [...new Set(row.tags.map((name) => tags.get(name)!))],
    resubscribe,
    suppressed: suppressed.has(canonical(row.email)),
    current: undefined,
    made: false,
  }));
}

// Of the 100 writes of a transaction two for each, and those of the contact and its count.
const mostMemberships = 49;

/** Rows of one address in as few sets as can be written at once. */
function fitting(rows: ContactRow[]): ContactRow[][] {
  const sets: ContactRow[][] = [];
  for (const row of rows) {
    const last = sets.at(-1);
    if (last && membershipsIn([...last, row]) <= mostMemberships) last.push(row);
    else sets.push([row]);
  }
  return sets;
}

const membershipsIn = (rows: ContactRow[]): number => rows.reduce((sum, { tags, lists }) => sum + tags.length + lists.length, 0);

/** What a later row says of the same person goes over what an earlier one said, as if they had come one after the other. */
const joined =
  (resubscribe: boolean) =>
  (earlier: ContactRow, later: ContactRow): ContactRow => ({
    ...earlier,
    ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== undefined)),
    ...((earlier.customFields ?? later.customFields) && { customFields: { ...earlier.customFields, ...later.customFields } }),
    ...(earlier.status === "unsubscribed" && { status: resubscribe ? (later.status ?? "subscribed") : "unsubscribed" }),
    email: earlier.email,
    tags: [...earlier.tags, ...later.tags],
    lists: [...new Set([...earlier.lists, ...later.lists])],
  });

/** Off the suppression list with those who are subscribed again. */
async function welcome(orgId: number, rows: ContactRow[]): Promise<void> {
  const back = rows.filter(({ status = "subscribed" }) => status === "subscribed").map(({ email }) => email);
  for (const email of await suppressions.among(orgId, back, "marketing"))
    await suppressions.remove(orgId, email).catch((error: unknown) => {
      if (!(error instanceof Problem && error.kind === "missing")) throw error;
    });
}

const mostTries = 8;

async function store(people: Person[]): Promise<void> {
  let open = people;
  for (let tries = 1; open.length; tries++) {
    if (tries > mostTries) for (const person of open) person.error = "The contact is being changed by too many requests at once";
    if (tries > mostTries) return;
    open = await storeOnce(open);
  }
  // Whoever suppressed an address meanwhile may not have found its contact.
  const fresh = people.flatMap(({ current, made }) => (current && made ? [current] : []));
  if (fresh[0]) await standing.follow(fresh[0].orgId, fresh);
}

/** Answers with those that somebody else wrote at the same time. */
async function storeOnce(people: Person[]): Promise<Person[]> {
  const found = await getMany<ContactItem>(people.map(addressOf), { consistent: true });
  const steps = people.flatMap((person, i) => stepOf(person, found[i]) ?? []);
  await writeMany(steps.flatMap(({ next, isNew }) => (isNew ? [pointing(next)] : [])));
  const lost: Person[] = [];
  // One after the other: they move the same counters.
  for (const some of packed(steps)) if (!(await storeSome(some))) lost.push(...some.map(({ person }) => person));
  return lost;
}

const addressOf = ({ orgId, siteId, row }: Person) => keys.contact(orgId, siteId, canonical(row.email));
