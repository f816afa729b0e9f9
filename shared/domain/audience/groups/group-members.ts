// Adds contacts to groups and removes them, many at once: one transaction per membership shard, so
// that the counter of the shard changes with its members.

import { ConditionFailed, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import { type PageRequest, type Pagination, toPagination } from "../../../kernel/paging.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import type { GroupKey, GroupKind } from "../../../keys.ts";
import * as contactReader from "../contacts/contact-reader.ts";
import { type Contact, type ContactItem, groupAttribute } from "../contacts/contact-schema.ts";
import { searchCondition } from "../contacts/contact-search-text.ts";
import * as contacts from "../contacts/contacts.ts";
import { type ChangeContext, contactReactions } from "../contacts/reactions.ts";
import type * as groups from "./groups.ts";
import * as membershipWrites from "./membership-writes.ts";

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
): Promise<MembershipResult> => changeMembers(caller, { group, contactIds }, true);

/** Idempotent. */
export const removeMembers = (
  caller: CallerScope,
  group: GroupKey,
  contactIds: number[],
): Promise<MembershipResult> => changeMembers(caller, { group, contactIds }, false);

// A transaction takes 100 writes: 2 for each contact, 1 for each sequence it enters, a counter for
// each sequence, the counter of the group, the events and the note for triggers.
const maxContactsPerWrite = (sequences: number): number =>
  Math.floor((97 - sequences) / (2 + sequences));

async function changeMembers(
  caller: CallerScope,
  { group: { kind, id }, contactIds }: { group: GroupKey; contactIds: number[] },
  joins: boolean,
): Promise<MembershipResult> {
  const group = await records.find<groups.Group>(kind, caller, id);
  const ids = [...new Set(contactIds)];
  const startCount = joins ? (group.starts?.size ?? 0) : 0;
  const commit = (batch: ContactItem[]): Promise<number> =>
    commitMembership(batch, { kind, group, joins }, { commit: write }).then(
      () => batch.length,
      zeroIfChanged,
    );
  let changed = 0;
  return retryOnConflict("The contacts of the request", async () => {
    const { found, failed } = await loadContacts(caller, group.siteId, ids);
    const pending = found.filter(
      (contact) => (contact[groupAttribute(kind)]?.has(id) === true) !== joins,
    );
    const batches = groupByShard(pending, maxContactsPerWrite(startCount));
    const counts = await inParallel(4, batches, commit);
    changed += counts.reduce((sum, count) => sum + count, 0);
    if (!counts.every(Boolean)) throw new ConditionFailed(0);
    return { changed, unchanged: ids.length - failed.length - changed, failed };
  });
}

/** Other batches go on when a contact of one has changed. */
function zeroIfChanged(error: unknown): number {
  if (error instanceof ConditionFailed) return 0;
  throw error;
}

interface MembershipChange {
  kind: GroupKind;
  group: Pick<groups.Group, "id" | "starts">;
  /** Contacts that join a group start the sequences that it triggers. */
  joins: boolean;
}

/**
 * Adds the contacts as they were read to the group, or removes them. Throws if one has changed
 * since, or is a member already, or was none.
 */
export async function commitMembership(
  batch: ContactItem[],
  { kind, group: { id, starts = new Set() }, joins }: MembershipChange,
  { commit, chain }: ChangeContext,
): Promise<void> {
  const transitions = batch.map((contact) => ({
    before: contact,
    after: withMembership(contact, { kind, id }, joins),
  }));
  const sequenceIds = joins ? [...starts] : [];
  const [reaction, note] = await Promise.all([
    contactReactions().startEnrollments(
      transitions.map(({ before: contact, after }) => ({ contact, sequenceIds, after, chain })),
    ),
    contactReactions().noteChanges(batch[0]!.orgId, transitions, { chain }),
  ]);
  const membership = { kind, group: id };
  await commit(
    ...(joins
      ? membershipWrites.addMembersWrites(membership, batch, { reaction })
      : membershipWrites.removeMembersWrites(membership, batch)),
    ...reaction.writes,
    ...note.writes,
  );
  await Promise.all([reaction.afterCommit(), note.afterCommit()]);
}

function withMembership(
  contact: ContactItem,
  { kind, id }: GroupKey,
  isMember: boolean,
): ContactItem {
  const attribute = groupAttribute(kind);
  const others = (contact[attribute] ?? new Set()).difference(new Set([id]));
  return { ...contact, [attribute]: isMember ? others.union(new Set([id])) : others };
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
  [...Map.groupBy(pending, membershipWrites.membershipShardOf).values()].flatMap((shardContacts) =>
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
    { filter: searchCondition(text) },
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
