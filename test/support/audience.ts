// A site with people in it, straight from the domain.
import type { Caller } from "../../shared/caller.ts";
import { ContactRow, type NewContact } from "../../shared/domain/contacts/contact.ts";
import * as engagement from "../../shared/domain/contacts/engagement.ts";
import { newItem } from "../../shared/domain/contacts/items.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as sites from "../../shared/domain/sites.ts";
import { put, queryAll, writeMany } from "../../shared/doors/table.ts";
import { takeContacts } from "../../shared/ids.ts";
import { type GroupKind, ranges, shards } from "../../shared/keys.ts";
import { account } from "./callers.ts";

export interface Audience {
  caller: Caller;
  orgId: number;
  siteId: number;
}

export async function audience(): Promise<Audience> {
  const { caller } = await account();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  return { caller, orgId: caller.orgId, siteId: site.id };
}

export const person = (email: string, more: Partial<NewContact> = {}): NewContact => ({ ...ContactRow.parse({ email }), ...more });

export const create = ({ caller, siteId }: Audience, email: string, more: Partial<NewContact> = {}) =>
  contacts.create(caller, { siteId, ...person(email, more) });

interface Stored {
  id: number;
  pk: string;
  sk: string;
  tags?: Set<number>;
  lists?: Set<number>;
}

/** What is there, by reading everything: to be compared with what is counted. */
export async function stored({ orgId, siteId }: Audience): Promise<Stored[]> {
  const all = await Promise.all(shards.map((shard) => queryAll<Stored>(ranges.contacts(orgId, siteId, shard), { consistent: true })));
  return all.flat();
}

/** Ids of a group's members, and how many are counted. */
export async function members({ orgId }: Audience, kind: GroupKind, group: number): Promise<{ ids: number[]; count: number }> {
  const items = await Promise.all(
    shards.map((shard) => queryAll<{ contactId: number }>(ranges.members(orgId, kind, group, shard), { consistent: true })),
  );
  const counters = await queryAll<{ count: number }>(ranges.groupCounts(orgId, kind, group), { consistent: true });
  const ids = items.flat().map(({ contactId }) => contactId);
  return { ids: ids.sort((a, b) => a - b), count: counters.reduce((sum, { count }) => sum + count, 0) };
}

export async function counted({ orgId, siteId }: Audience): Promise<number> {
  const counters = await queryAll<{ count: number }>(ranges.contactCounts(orgId, siteId), { consistent: true });
  return counters.reduce((sum, { count }) => sum + count, 0);
}

/** Very many at once, without their counts: for what reads them all. */
export async function crowd(
  { orgId, siteId }: Audience,
  n: number,
  fieldsOf: (i: number) => Partial<NewContact> = () => ({}),
): Promise<void> {
  const ids = await takeContacts(n);
  const made = ids.map((id, i) => {
    const { siteId: _, tags: __, lists: ___, ...fields } = person(`crowd${i}@x.com`, fieldsOf(i));
    return newItem(fields, { orgId, siteId, id, tags: [], lists: [], suppressed: false });
  });
  await writeMany(made.map((item) => put(item, item)));
}

/** As a worker tells it. */
export const handedOver = async (orgId: number, sends: engagement.Sent[]): Promise<void> =>
  engagement.sent(orgId, sends, await engagement.contactsOf(orgId, sends));
