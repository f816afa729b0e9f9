// Contacts: one to an address and site. The address is the key, so two of one address cannot be; a pointer finds one by id.
import { type Caller, permit } from "../caller.ts";
import { get, getMany, query, remove as removal, Unmet, type Write, write, writeMany } from "../doors/table.ts";
import { conflict, missing } from "../errors.ts";
import * as ids from "../ids.ts";
import { type Address, type GroupKind, keys, ranges } from "../keys.ts";
import { type Contact, type ContactChanges, type ContactItem, groupSet, type NewContact, told } from "./contacts/contact.ts";
import * as groups from "./contacts/groups.ts";
import * as items from "./contacts/items.ts";
import * as memberships from "./contacts/memberships.ts";
import * as standing from "./contacts/standing.ts";
import * as organizations from "./organizations.ts";
import { leaveSome } from "./sequences/leaving.ts";
import * as triggers from "./sequences/triggers.ts";
import * as sites from "./sites.ts";
import * as suppressions from "./suppressions.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const emailTaken = () => conflict("The site has a contact with this email", { code: "email_exists" });
const notFound = () => missing("There is no such contact");

/** 409 `email_exists`. An address that is suppressed makes a suppressed contact. */
export async function create(who: Who, { siteId: given, tags, lists, ...fields }: NewContact): Promise<Contact> {
  const siteId = await sites.resolve(who, given);
  const { orgId } = who;
  const [date, tagIds, listIds, suppressed] = await Promise.all([
    organizations.today(orgId),
    groups.tagsNamed(who, siteId, tags),
    groups.listsOf(who, siteId, lists),
    suppressions.among(orgId, [fields.email], "marketing"),
  ]);
  const [id = 0] = await ids.takeContacts(1);
  const setting = { orgId, siteId, id, tags: [...new Set(tagIds.values())], lists: listIds, suppressed: suppressed.size > 0 };
  const item = items.newItem(fields, setting);
  await write(items.pointing(item));
  await insert(item, date);
  // Whoever suppressed the address meanwhile may not have found the contact.
  await standing.follow(orgId, [item]);
  return find(who, id);
}

async function insert(item: ContactItem, date: string): Promise<void> {
  try {
    await write(...items.inserting(item, date));
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    const there = await get<ContactItem>({ pk: item.pk, sk: item.sk });
    // The same request, made again after it died, meets its own contact.
    if (there?.id !== item.id) throw emailTaken();
  }
}

/** By id. Throws 404, and 403 for a key that is bound to another site. */
export async function item(who: Who, id: number): Promise<ContactItem> {
  for (let tries = 1; ; tries++) {
    const pointer = await get<Pointer>(keys.contactPointer(who.orgId, id));
    if (!pointer) throw notFound();
    const found = await get<ContactItem>(addressOf(who.orgId, pointer));
    if (found?.id === id) {
      permit(who, found.siteId);
      return found;
    }
    // It may have moved to another address between the two reads.
    if (tries >= 2) throw notFound();
  }
}

interface Pointer {
  siteId: number;
  email: string;
}
const addressOf = (orgId: number, { siteId, email }: Pointer): Address => keys.contact(orgId, siteId, email);

export const find = async (who: Who, id: number): Promise<Contact> => tell(who.orgId, await item(who, id));

/** With the names of its tags and lists. */
export const tell = async (orgId: number, one: ContactItem): Promise<Contact> => (await tellAll(orgId, [one]))[0]!;

export async function tellAll(orgId: number, all: ContactItem[]): Promise<Contact[]> {
  const idsIn = (kind: GroupKind) => all.flatMap((one) => [...(one[groupSet(kind)] ?? [])]);
  const [tags, lists] = await Promise.all([groups.names(orgId, "TAG", idsIn("TAG")), groups.names(orgId, "LIST", idsIn("LIST"))]);
  return all.map((one) => told(one, { tags, lists }));
}

/** Those that are there, of whatever site, in the order asked. */
export async function byIds(orgId: number, contactIds: number[], { consistent = false } = {}): Promise<ContactItem[]> {
  const pointers = await getMany<Pointer>(
    contactIds.map((id) => keys.contactPointer(orgId, id)),
    { consistent },
  );
  const named = contactIds.flatMap((id, i) => (pointers[i] ? [{ id, address: addressOf(orgId, pointers[i]) }] : []));
  const found = await getMany<ContactItem>(
    named.map(({ address }) => address),
    { consistent },
  );
  return found.flatMap((one, i) => (one && one.id === named[i]!.id ? [one] : []));
}

const mostTries = 8;

/** Does it again when the contact has changed between the reading and the writing. `known` is the contact, where it was just read. */
export async function untilSettled<T>(
  who: Who,
  id: number,
  attempt: (current: ContactItem) => Promise<T>,
  known?: ContactItem,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt((tries === 1 && known) || (await item(who, id)));
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (tries >= mostTries) throw conflict("The contact is being changed by too many requests at once");
    }
  }
}

/** A new address moves the contact, in one transaction. 409 `email_exists`. */
export const change = (who: Who, id: number, changes: ContactChanges): Promise<Contact> =>
  untilSettled(who, id, async (current) => {
    const next = items.changed(current, changes);
    await write(...items.changing(current, next, emailTaken()));
    if (next.sk === current.sk) return tell(who.orgId, next);
    await standing.follow(who.orgId, [next]);
    return find(who, id);
  });

// A transaction takes 100 writes, a membership two of them.
const groupsAtOnce = 45;

/** Memberships, enrollments and its log go with it; its sends and the suppression of its address stay. Dead on the way, it is taken up by doing it again. */
export const remove = (who: Who, id: number): Promise<void> =>
  untilSettled(who, id, async (current) => {
    if (current.sequences?.size) {
      await leaveSome(current);
      return remove(who, id);
    }
    const heavy = items.membershipsOf(current).slice(groupsAtOnce);
    if (heavy.length) {
      await write(...items.parting(current, heavy.slice(0, groupsAtOnce)));
      return remove(who, id);
    }
    const [date] = await Promise.all([organizations.today(who.orgId), forget(who.orgId, id)]);
    await write(...items.removing(current, date));
  });

/** What was logged of it. */
async function forget(orgId: number, id: number): Promise<void> {
  let after: string | undefined;
  do {
    const page = await query<Address>(ranges.contactLog(orgId, id, ""), { limit: 1000, after });
    await writeMany(page.items.map((entry) => removal(entry)));
    after = page.next;
  } while (after !== undefined);
}

/** What joining does beside: points for the contact's score, how the log tells of them, and the sequences that wait for it. */
export interface Earned {
  points: number;
  lines: Write[];
  starts?: Set<number> | undefined;
}

// Of the 100 of a transaction, beside the contact, its membership and the count.
const roomBeside = 97;

/** Idempotent: `applied` says whether it was the first time. */
export const join = (
  who: Who,
  id: number,
  kind: GroupKind,
  group: number,
  earning: (contact: ContactItem) => Promise<Earned> = async () => ({ points: 0, lines: [] }),
): Promise<{ applied: boolean; contact: ContactItem }> =>
  untilSettled(who, id, async (contact) => {
    const applied = !contact[groupSet(kind)]?.has(group);
    if (!applied) return { applied, contact };
    const { points, lines, starts } = await earning(contact);
    const begun = await triggers.startedBy(contact, { starts, points }, roomBeside - lines.length);
    await write(...memberships.adding(kind, group, [contact], points, begun), ...lines, ...begun.writes);
    await triggers.started(begun);
    return { applied, contact };
  });

/** Idempotent: tells whether it was a member. */
export const part = (who: Who, id: number, kind: GroupKind, group: number): Promise<boolean> =>
  untilSettled(who, id, async (contact) => {
    const member = contact[groupSet(kind)]?.has(group) ?? false;
    if (member) await write(...memberships.dropping(kind, group, [contact]));
    return member;
  });
