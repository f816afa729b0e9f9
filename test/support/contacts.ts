// Sites and contacts, created without HTTP.

import { put, queryAll, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import {
  ContactRow,
  type NewContact,
} from "../../shared/domain/audience/contacts/contact-schema.ts";
import { createItem } from "../../shared/domain/audience/contacts/contact-writes.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as engagement from "../../shared/domain/audience/contacts/engagement.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { nextContactIds } from "../../shared/ids.ts";
import { emailShards, type GroupKind, ranges } from "../../shared/keys.ts";
import { createAccount } from "./accounts.ts";

export interface TestSite {
  caller: Caller;
  orgId: number;
  siteId: number;
}

export async function createTestSite(): Promise<TestSite> {
  const { caller } = await createAccount();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  return { caller, orgId: caller.orgId, siteId: site.id };
}

export const newContact = (email: string, more: Partial<NewContact> = {}): NewContact => ({
  ...ContactRow.parse({ email }),
  ...more,
});

export const createContact = (
  { caller, siteId }: TestSite,
  email: string,
  more: Partial<NewContact> = {},
) => contacts.create(caller, { siteId, ...newContact(email, more) });

interface StoredContact {
  id: number;
  pk: string;
  sk: string;
  tags?: Set<number>;
  lists?: Set<number>;
}

/** Reads all stored contacts of the site, to be compared with counts. */
export async function readAllContacts({ orgId, siteId }: TestSite): Promise<StoredContact[]> {
  const all = await Promise.all(
    emailShards.map((shard) =>
      queryAll<StoredContact>(ranges.contacts(orgId, siteId, shard), { consistent: true }),
    ),
  );
  return all.flat();
}

/** Reads the ids of a group's members, and the stored count. */
export async function readGroupMembers(
  { orgId }: TestSite,
  kind: GroupKind,
  group: number,
): Promise<{ ids: number[]; count: number }> {
  const items = await Promise.all(
    emailShards.map((shard) =>
      queryAll<{ contactId: number }>(ranges.members(orgId, { kind, id: group }, shard), {
        consistent: true,
      }),
    ),
  );
  const counters = await queryAll<{ count: number }>(
    ranges.groupCounts(orgId, { kind, id: group }),
    {
      consistent: true,
    },
  );
  const ids = items.flat().map(({ contactId }) => contactId);
  return {
    ids: ids.sort((a, b) => a - b),
    count: counters.reduce((sum, { count }) => sum + count, 0),
  };
}

export async function readContactCount({ orgId, siteId }: TestSite): Promise<number> {
  const counters = await queryAll<{ count: number }>(ranges.contactCounts(orgId, siteId), {
    consistent: true,
  });
  return counters.reduce((sum, { count }) => sum + count, 0);
}

/** Inserts many contacts without counts, for tests that read all contacts. */
export async function insertContacts(
  { orgId, siteId }: TestSite,
  n: number,
  fieldsOf: (i: number) => Partial<NewContact> = () => ({}),
): Promise<void> {
  const ids = await nextContactIds(n);
  const made = ids.map((id, i) => {
    const {
      siteId: _,
      tags: __,
      lists: ___,
      ...fields
    } = newContact(`crowd${i}@x.com`, fieldsOf(i));
    return createItem(fields, { orgId, siteId, id, tags: [], lists: [], suppressed: false });
  });
  await writeMany(made.map((item) => put(item, item)));
}

/** Records a hand-over like a worker. */
export const recordHandOver = async (
  orgId: number,
  sends: engagement.RecordedSend[],
): Promise<void> =>
  engagement.recordSends(orgId, sends, await engagement.getAddressees(orgId, sends));
