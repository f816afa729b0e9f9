// Contacts: one to an address and site. The address is the key, so two of one address cannot be; a pointer finds one by id.
import { type Caller, permit } from "../caller.ts";
import { now } from "../clock.ts";
import { absent, all, type Condition, equals } from "../conditions.ts";
import { get, getMany, put, remove as removal, Unmet, update, type Write, write } from "../doors/table.ts";
import { canonical } from "../email.ts";
import { conflict, missing } from "../errors.ts";
import * as ids from "../ids.ts";
import { emailShard, type GroupKind, keys, on, shelves, sortable } from "../keys.ts";
import { type Contact, type ContactChanges, type ContactItem, derived, groupSet, type NewContact, told } from "./contacts/contact.ts";
import * as groups from "./contacts/groups.ts";
import * as sites from "./sites.ts";
import * as suppressions from "./suppressions.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const emailTaken = () => conflict("The site has a contact with this email", { code: "email_exists" });
const notFound = () => missing("There is no such contact");

/** 409 `email_exists`. An address that is suppressed makes a suppressed contact. */
export async function create(who: Who, { siteId: given, tags, lists, ...fields }: NewContact): Promise<Contact> {
  const siteId = await sites.resolve(who, given);
  const { orgId } = who;
  const [tagIds, listIds, suppressed] = await Promise.all([
    groups.tagsNamed(who, siteId, tags),
    groups.listsOf(who, siteId, lists),
    suppressions.among(orgId, [fields.email], "transactional"),
  ]);
  const [id = 0] = await ids.takeContacts(1);
  const item = newItem(orgId, siteId, id, fields, [...tagIds.values()], listIds, suppressed.size > 0);
  await write(put(keys.contactPointer(orgId, id), { siteId, email: item.sk }));
  try {
    await write(...inserting(item));
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    const there = await get<ContactItem>(item);
    // The same request, made again after it died, meets its own contact.
    if (there?.id !== id) throw emailTaken();
  }
  return tell(orgId, item);
}

type Fields = Omit<NewContact, "siteId" | "tags" | "lists">;

/** A contact as it is first stored. */
export function newItem(
  orgId: number,
  siteId: number,
  id: number,
  { status = "subscribed", ...fields }: Fields,
  tags: number[],
  lists: number[],
  suppressed: boolean,
): ContactItem {
  const at = now().toISOString();
  const address = keys.contact(orgId, siteId, canonical(fields.email));
  const kept = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
  return {
    ...address,
    orgId,
    siteId,
    id,
    ...(kept as Pick<ContactItem, "email">),
    status: suppressed ? "suppressed" : status,
    ...(suppressed && { unsuppressed: status }),
    ...(tags.length && { tags: new Set(tags) }),
    ...(lists.length && { lists: new Set(lists) }),
    ...derived(kept as Pick<ContactItem, "email">),
    createdAt: at,
    updatedAt: at,
    ...on(shelves.newContacts(orgId, siteId, emailShard(address.sk)), `${at}#${sortable(id)}`),
  };
}

const memberships = ({ tags, lists }: Pick<ContactItem, "tags" | "lists">): groups.Membership[] => [
  ...[...(tags ?? [])].map((group) => ({ kind: "TAG" as const, group })),
  ...[...(lists ?? [])].map((group) => ({ kind: "LIST" as const, group })),
];

const counting = ({ orgId, siteId, sk }: ContactItem, by: number): Write =>
  update(keys.contactCount(orgId, siteId, emailShard(sk)), { add: { count: by } });

const inserting = (item: ContactItem): Write[] => [
  put(item, item, { new: true }),
  counting(item, 1),
  ...groups.joining(item.orgId, item.sk, item.id, memberships(item)),
];

/** By id. Throws 404, and 403 for a key that is bound to another site. */
export async function item(who: Who, id: number): Promise<ContactItem> {
  const pointer = await get<{ siteId: number; email: string }>(keys.contactPointer(who.orgId, id));
  const found = pointer && (await get<ContactItem>(keys.contact(who.orgId, pointer.siteId, pointer.email)));
  if (!found || found.id !== id) throw notFound();
  permit(who, found.siteId);
  return found;
}

export const find = async (who: Who, id: number): Promise<Contact> => tell(who.orgId, await item(who, id));

/** With the names of its tags and lists. */
export const tell = async (orgId: number, one: ContactItem): Promise<Contact> => (await tellAll(orgId, [one]))[0]!;

export async function tellAll(orgId: number, items: ContactItem[]): Promise<Contact[]> {
  const [tags, lists] = await Promise.all([
    groups.names(
      orgId,
      "TAG",
      items.flatMap((one) => [...(one.tags ?? [])]),
    ),
    groups.names(
      orgId,
      "LIST",
      items.flatMap((one) => [...(one.lists ?? [])]),
    ),
  ]);
  return items.map((one) => told(one, { tags, lists }));
}

export const byIds = async (orgId: number, contactIds: number[], { consistent = false } = {}): Promise<ContactItem[]> => {
  const pointers = await getMany<{ siteId: number; email: string }>(
    contactIds.map((id) => keys.contactPointer(orgId, id)),
    { consistent },
  );
  const addresses = pointers.flatMap((pointer) => (pointer ? [keys.contact(orgId, pointer.siteId, pointer.email)] : []));
  return (await getMany<ContactItem>(addresses, { consistent })).flatMap((found) => (found ? [found] : []));
};

const mostTries = 8;

/** Does it again when the contact has changed between the reading and the writing. */
async function untilSettled<T>(who: Who, id: number, attempt: (current: ContactItem) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(await item(who, id));
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (tries >= mostTries) throw conflict("The contact is being changed by too many requests at once");
    }
  }
}

const asRead = ({ id, updatedAt, v }: ContactItem): Condition =>
  all(equals("id", id), equals("updatedAt", updatedAt), v === undefined ? absent("v") : equals("v", v));

/** A new address moves the contact: everything that is kept by its hash moves along, in one transaction. */
export const change = (who: Who, id: number, changes: ContactChanges): Promise<Contact> =>
  untilSettled(who, id, async (current) => {
    const next = changed(current, changes);
    if (next.sk === current.sk && next.pk === current.pk) await write(put(current, next, { if: asRead(current) }));
    else await move(current, next);
    return tell(who.orgId, next);
  });

function changed(current: ContactItem, { status, ...changes }: ContactChanges): ContactItem {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const fields = Object.entries({ ...current, ...Object.fromEntries(given) }).filter(([, value]) => value !== null);
  const kept = Object.fromEntries(fields) as unknown as ContactItem;
  const address = keys.contact(current.orgId, current.siteId, canonical(kept.email));
  // Who is suppressed stays so until the suppression is taken away; the wish is kept for then.
  const standing =
    current.status === "suppressed"
      ? { unsuppressed: status ?? current.unsuppressed ?? "subscribed" }
      : { status: status ?? current.status };
  return { ...kept, ...address, ...standing, ...derived(kept), updatedAt: stampAfter(current.updatedAt) };
}

/** Later than the last change even within one millisecond, so that no change is lost. */
const stampAfter = (last: string): string => {
  const time = now().toISOString();
  return time > last ? time : new Date(Date.parse(last) + 1).toISOString();
};

async function move(current: ContactItem, next: ContactItem): Promise<void> {
  const moved = {
    ...next,
    ...on(shelves.newContacts(next.orgId, next.siteId, emailShard(next.sk)), `${next.createdAt}#${sortable(next.id)}`),
  };
  await write(
    removal(current, { if: asRead(current) }),
    put(next, moved, { new: emailTaken() }),
    put(keys.contactPointer(next.orgId, next.id), { siteId: next.siteId, email: next.sk }),
    ...(emailShard(current.sk) === emailShard(next.sk)
      ? memberships(next).map(({ kind, group }) =>
          put(keys.membership(next.orgId, kind, group, emailShard(next.sk), next.id), { contactId: next.id, email: next.sk }),
        )
      : [
          counting(current, -1),
          counting(next, 1),
          ...groups.parting(current.orgId, current.sk, current.id, memberships(current)),
          ...groups.joining(next.orgId, next.sk, next.id, memberships(next)),
        ]),
  );
}

/** Memberships go with it; its sends and the suppression of its address stay. */
export const remove = (who: Who, id: number): Promise<void> =>
  untilSettled(who, id, (current) =>
    write(
      removal(current, { if: asRead(current) }),
      removal(keys.contactPointer(current.orgId, id)),
      counting(current, -1),
      ...groups.parting(current.orgId, current.sk, id, memberships(current)),
    ),
  );

/** Idempotent: `applied` says whether it was the first time. */
export const join = (who: Who, id: number, kind: GroupKind, group: number): Promise<{ applied: boolean; contact: ContactItem }> =>
  untilSettled(who, id, async (contact) => {
    const applied = !contact[groupSet(kind)]?.has(group);
    if (applied) await write(...groups.adding(kind, group, [contact]));
    return { applied, contact };
  });

/** Idempotent: tells whether it was a member. */
export const part = (who: Who, id: number, kind: GroupKind, group: number): Promise<boolean> =>
  untilSettled(who, id, async (contact) => {
    const member = contact[groupSet(kind)]?.has(group) === true;
    if (member) await write(...groups.dropping(kind, group, [contact]));
    return member;
  });
