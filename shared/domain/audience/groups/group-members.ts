// Adds contacts to groups and removes them, many at once: one transaction per membership shard, so
// that the counter of the shard changes with its members.

import { contains } from "../../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, transact, type Write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { type PageRequest, type Pagination, toPagination } from "../../../kernel/paging.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import type { GroupKey } from "../../../keys.ts";
import * as contactReader from "../contacts/contact-reader.ts";
import { type Contact, type ContactItem, groupAttribute } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import { contactReactions, type ReactionWrites } from "../contacts/reactions.ts";
import type * as groups from "./groups.ts";
import * as memberships from "./membership-writes.ts";

export interface MembershipResult {
  /** Contacts that joined or left. */
  changed: number;
  /** Contacts that were members already, or were not. */
  unchanged: number;
  failed: { contactId: number; error: string }[];
}

/** Idempotent. A contact that does not exist in the site of the group fails alone. */
export const addMembers = (
  caller: CallerScope,
  group: GroupKey,
  contactIds: number[],
): Promise<MembershipResult> =>
  changeMembers(
    caller,
    { group, contactIds },
    {
      needsChange: (isMember) => !isMember,
      triggersSequences: true,
      writes: (group, members, reaction) =>
        memberships.addMembersWrites(group, members, { reaction }),
    },
  );

/** Idempotent. */
export const removeMembers = (
  caller: CallerScope,
  group: GroupKey,
  contactIds: number[],
): Promise<MembershipResult> =>
  changeMembers(
    caller,
    { group, contactIds },
    {
      needsChange: (isMember) => isMember,
      triggersSequences: false,
      writes: memberships.removeMembersWrites,
    },
  );

interface MembershipChange {
  needsChange(isMember: boolean): boolean;
  triggersSequences: boolean;
  writes(group: memberships.Membership, contacts: ContactItem[], reaction: ReactionWrites): Write[];
}

// A transaction takes 100 writes: 2 for each contact, 1 for each sequence it enters, a counter and
// a cohort for each sequence, and the counter of the group.
const maxContactsPerWrite = (sequences: number): number =>
  Math.floor((99 - 2 * sequences) / (2 + sequences));

async function changeMembers(
  caller: CallerScope,
  { group: { kind, id }, contactIds }: { group: GroupKey; contactIds: number[] },
  { needsChange, triggersSequences, writes }: MembershipChange,
): Promise<MembershipResult> {
  const group = await records.find<groups.Group>(kind, caller, id);
  const ids = [...new Set(contactIds)];
  const sequenceIds = triggersSequences ? [...(group.starts ?? [])] : [];
  const commit = async (batch: ContactItem[]): Promise<number> => {
    const reaction = await contactReactions().startEnrollments(
      batch.map((contact) => ({ contact, sequenceIds })),
    );
    const committed = await transact(
      ...writes({ kind, group: id }, batch, reaction),
      ...reaction.writes,
    );
    if (committed) await reaction.afterCommit();
    return committed ? batch.length : 0;
  };
  let changed = 0;
  return retryOnConflict("The contacts of the request", async () => {
    const { found, failed } = await loadContacts(caller, group.siteId, ids);
    const pending = found.filter((contact) =>
      needsChange(contact[groupAttribute(kind)]?.has(id) === true),
    );
    const batches = groupByShard(pending, maxContactsPerWrite(sequenceIds.length));
    const counts = await inParallel(4, batches, commit);
    changed += counts.reduce((sum, count) => sum + count, 0);
    if (!counts.every(Boolean)) throw new ConditionFailed(0);
    return { changed, unchanged: ids.length - failed.length - changed, failed };
  });
}

async function loadContacts(caller: CallerScope, siteId: number, ids: number[]) {
  const byId = new Map(
    (await contacts.getByIds(caller.orgId, ids, { consistent: true })).map((contact) => [
      contact.id,
      contact,
    ]),
  );
  const errorOf = (contact: ContactItem | undefined): string | undefined => {
    if (!contact) return "The contact does not exist";
    return contact.siteId === siteId ? undefined : "The contact belongs to another site";
  };
  const failed = ids.flatMap((contactId) => {
    const error = errorOf(byId.get(contactId));
    return error === undefined ? [] : [{ contactId, error }];
  });
  return { found: [...byId.values()].filter((contact) => !errorOf(contact)), failed };
}

const groupByShard = (pending: ContactItem[], maxSize: number): ContactItem[][] =>
  [...Map.groupBy(pending, memberships.membershipShardOf).values()].flatMap((shardContacts) =>
    splitIntoBatches(shardContacts, maxSize),
  );

/** For a request about one contact: throws 404 or 400 when it failed. */
export async function requireSuccess(
  caller: CallerScope,
  contactId: number,
  result: MembershipResult,
): Promise<MembershipResult> {
  const [failed] = result.failed;
  if (!failed) return result;
  await contacts.findItem(caller, contactId);
  throw invalid(failed.error, { details: [{ path: "contactId", message: failed.error }] });
}

type ListCandidate = Contact & { member: boolean };

/** Searches the contacts of a list's site, in email order, and says which of them are members. */
export async function searchCandidates(
  caller: CallerScope,
  listId: number,
  { text, ...request }: PageRequest & { text: string },
): Promise<{ items: ListCandidate[]; pagination: Pagination }> {
  const { siteId } = await records.find<groups.Group>("LIST", caller, listId);
  const { items, next } = await contactReader.readSitePage(
    { orgId: caller.orgId, siteId },
    request,
    {
      filter: contains("search", text.toLowerCase()),
    },
  );
  const contactsForApi = await contacts.toApiAll(caller.orgId, items);
  return {
    items: contactsForApi.map((contact, i) => ({
      ...contact,
      member: items[i]!.lists?.has(listId) === true,
    })),
    pagination: toPagination(request, null, next),
  };
}
