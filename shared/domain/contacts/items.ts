// Contacts as they are stored, and writes of them that are not yet made.
import { epochSeconds, now } from "../../clock.ts";
import { absent, all, type Condition, equals } from "../../conditions.ts";
import { put, remove, update, type Write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { invalid, type Problem } from "../../errors.ts";
import { faults } from "../../faults.ts";
import { type Address, emailShard, keys, on, shelves, sortable } from "../../keys.ts";
import { type ContactChanges, type ContactItem, CustomFields, derived, type NewContact } from "./contact.ts";
import { growing } from "./growth.ts";
import * as memberships from "./memberships.ts";

export type Fields = Omit<NewContact, "siteId" | "tags" | "lists">;

/** Where it stands, and in what. */
export interface Setting {
  orgId: number;
  siteId: number;
  id: number;
  /** Ids. */
  tags: number[];
  lists: number[];
  /** Its address gets no mail: it is `suppressed`, until then the given status waits. */
  suppressed: boolean;
}

/** A contact as it is first stored. */
export function newItem(
  { status = "subscribed", ...fields }: Fields,
  { orgId, siteId, id, tags, lists, suppressed }: Setting,
): ContactItem {
  const at = now().toISOString();
  const kept = filled(fields) as Pick<ContactItem, "email">;
  const address = keys.contact(orgId, siteId, canonical(fields.email));
  return shelved({
    ...address,
    orgId,
    siteId,
    id,
    ...kept,
    status: suppressed ? "suppressed" : status,
    ...(suppressed && { unsuppressed: status }),
    ...(tags.length && { tags: new Set(tags) }),
    ...(lists.length && { lists: new Set(lists) }),
    ...derived(kept),
    v: 1,
    createdAt: at,
    updatedAt: at,
  });
}

/** Empty fields are not stored. */
const filled = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

const shelved = (item: ContactItem): ContactItem => ({
  ...item,
  ...on(shelves.newContacts(item.orgId, item.siteId, emailShard(item.sk)), `${item.createdAt}#${sortable(item.id)}`),
});

/**
 * A contact after a change: null empties a field, custom fields are changed one by one. Who is suppressed stays so until the
 * suppression is taken away; the wished status is kept for then. Throws 400 past 100 custom fields.
 */
export function changed(current: ContactItem, { status, customFields, ...changes }: ContactChanges): ContactItem {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const kept = filled({ ...current, ...given, customFields: merged(current.customFields, customFields) }) as ContactItem;
  const address = keys.contact(current.orgId, current.siteId, canonical(kept.email));
  const standing =
    current.status === "suppressed"
      ? { unsuppressed: status ?? current.unsuppressed ?? "subscribed" }
      : { status: status ?? current.status };
  const next = { ...kept, ...address, ...standing, ...derived(kept), ...touched(current) };
  return next.sk === current.sk ? next : shelved({ ...next, home: memberships.homeOf(current), ...moved(current, next.updatedAt) });
}

function merged(current: ContactItem["customFields"], changes: ContactChanges["customFields"]): ContactItem["customFields"] | null {
  if (changes === undefined || changes === null) return changes === null ? null : current;
  const fields = { ...current, ...changes };
  const { error } = CustomFields.safeParse(fields, { error: faults });
  const message = error?.issues[0]?.message;
  if (message) throw invalid(`customFields ${message}`, { details: [{ path: "customFields", message }] });
  return fields;
}

/** Every write of a contact moves both, so that who writes on what it read notices. */
export const touched = ({ updatedAt, v = 0 }: ContactItem): Pick<ContactItem, "updatedAt" | "v"> => ({
  updatedAt: [updatedAt, now().toISOString()].sort().at(-1)!,
  v: v + 1,
});

/** Nobody has written it since it was read. */
export const asRead = ({ id, updatedAt, v }: ContactItem): Condition =>
  all(equals("id", id), equals("updatedAt", updatedAt), v === undefined ? absent("v") : equals("v", v));

export const membershipsOf = ({ tags, lists }: Pick<ContactItem, "tags" | "lists">): memberships.Membership[] => [
  ...[...(tags ?? [])].map((group) => ({ kind: "TAG" as const, group })),
  ...[...(lists ?? [])].map((group) => ({ kind: "LIST" as const, group })),
];

const counterOf = ({ orgId, siteId, sk }: ContactItem): Address => keys.contactCount(orgId, siteId, emailShard(sk));

/** Contacts came, or went, on this day of the organization. */
export const counting = (one: ContactItem, by: number, date: string): Write => update(counterOf(one), growing(date, by));

const shifting = (one: ContactItem, by: number): Write => update(counterOf(one), { add: { count: by } });

/** With its count and its memberships; its pointer comes first. `date`: the organization's day. */
export const inserting = (item: ContactItem, date: string): Write[] => [
  put(item, item, { new: true }),
  counting(item, 1, date),
  ...memberships.joining(item, membershipsOf(item)),
];

export const pointing = ({ orgId, siteId, id, sk }: ContactItem): Write => put(keys.contactPointer(orgId, id), { siteId, email: sk });

/** In its place, or moved to that of its new address, which must be free. */
export const changing = (current: ContactItem, next: ContactItem, taken: Problem): Write[] =>
  next.sk === current.sk
    ? [put(current, next, { if: asRead(current) })]
    : [
        remove(current, { if: asRead(current) }),
        put(next, next, { new: taken }),
        pointing(next),
        moving(next),
        ...(emailShard(current.sk) === emailShard(next.sk) ? [] : [shifting(current, -1), shifting(next, 1)]),
      ];

/** That a contact took another address, for who reads all contacts meanwhile. */
export interface Move {
  id: number;
  at: string;
}
// Longer than a campaign may be paused.
const keepMovesSeconds = 90 * 24 * 3600;
const mostShards = 16;

const moved = ({ sk, movedFrom = [] }: ContactItem, at: string): Pick<ContactItem, "movedAt" | "movedFrom"> => ({
  movedAt: at,
  movedFrom: [...new Set([...movedFrom, emailShard(sk)])].slice(-mostShards),
});

const moving = ({ orgId, siteId, id, movedAt: at = "" }: ContactItem): Write =>
  put(keys.contactMove(orgId, siteId, `${at}#${sortable(id)}`), { id, at, expires: epochSeconds() + keepMovesSeconds });

/** All of it; its memberships must fit into a transaction. `date`: the organization's day. */
export const removing = (current: ContactItem, date: string): Write[] => [
  remove(current, { if: asRead(current) }),
  remove(keys.contactPointer(current.orgId, current.id)),
  counting(current, -1, date),
  ...memberships.parting(current, membershipsOf(current)),
];

/** Out of some of its groups. */
export const parting = (current: ContactItem, some: memberships.Membership[]): Write[] => {
  const of = (kind: memberships.Membership["kind"]) => some.filter((one) => one.kind === kind).map(({ group }) => group);
  const leave = Object.fromEntries(
    [["tags", of("TAG")] as const, ["lists", of("LIST")] as const].flatMap(([set, ids]) => (ids.length ? [[set, new Set(ids)]] : [])),
  );
  return [update(current, { leave, set: touched(current) }, { if: asRead(current) }), ...memberships.parting(current, some)];
};
