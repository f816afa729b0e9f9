// Contacts. The key is the email address in a site, so the address is unique; a pointer finds a
// contact by id.

import {
  ConditionFailed,
  get,
  getMany,
  queryPages,
  remove as removeItem,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope, SiteRef } from "../../../caller.ts";
import { conflict, missing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { retryInTurn } from "../../../kernel/retry-on-conflict.ts";
import { deletedSites, permitSite } from "../../../kernel/site-access.ts";
import { type GroupKind, type Key, keys, ranges } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import * as groups from "../groups/groups.ts";
import * as memberships from "../groups/membership-writes.ts";
import { createMailReader, type MailReader } from "../mail-counts/mail-counts.ts";
import * as suppressions from "../suppressions/suppressions.ts";
import type { ConsentEntry } from "../topics/contact-topic-schemas.ts";
import { listOfSite, listOfSites } from "../topics/site-topics.ts";
import type { TopicChoice } from "../topics/topic-choice-schemas.ts";
import { applyChoices, type Choice, resolveChoices } from "../topics/topic-choices.ts";
import { topicCountWrites } from "../topics/topic-counts.ts";
import { consentLogWrite, topicLogWrites } from "./consent-log.ts";
import { commitContactChanges, maxExtraWrites } from "./contact-events.ts";
import {
  type Contact,
  type ContactChanges,
  type ContactItem,
  type CountedContact,
  groupAttribute,
  toApi as itemToApi,
  type NewContact,
} from "./contact-schema.ts";
import * as contactStatus from "./contact-status.ts";
import * as contactWrites from "./contact-writes.ts";
import * as fieldNames from "./field-names.ts";
import { contactReactions } from "./reactions.ts";

const emailTaken = () =>
  conflict("The site already has a contact with this email", { code: "email_exists" });
const notFound = () => missing("The contact does not exist");

/**
 * 409 `email_exists` when the email is taken. A suppressed email address gives a suppressed
 * contact.
 */
export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, tags, lists, topics = [], ...fields }: NewContact,
): Promise<Contact> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const { orgId } = caller;
  const [date, listIds, choices, suppressed, [id = 0], existing] = await Promise.all([
    organizations.getToday(orgId),
    groups.checkLists(caller, siteId, lists),
    resolveTopics({ orgId, siteId }, topics),
    suppressions.filterSuppressed(orgId, [fields.email], { purpose: "marketing" }),
    ids.nextContactIds(1),
    get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(fields.email))),
  ]);
  // A retry after a crash has the same id and finds its own contact.
  if (existing && existing.id !== id) throw emailTaken();
  // After all checks, so that a rejected request creates no tags.
  const tagIds = await groups.getOrCreateTags(caller, siteId, tags);
  const { stored, entries, changes } = applyChoices({}, choices);
  const context = {
    orgId,
    siteId,
    id,
    choices: stored,
    tags: [...new Set(tagIds.values())],
    lists: listIds,
    suppressed: suppressed.size > 0,
  };
  const [spelled] = await fieldNames.applySpellings(orgId, siteId, [fields]);
  const item = contactWrites.createItem(spelled!, context);
  await write(contactWrites.pointerWrite(item));
  await insert(item, date, [
    ...topicLogWrites(item, { source: "api" }, entries),
    ...topicCountWrites(item, changes, date),
  ]);
  // A request that suppressed the address in between may not have found the contact.
  await contactStatus.syncWithSuppressions(orgId, [item]);
  return find(caller, id);
}

/**
 * Creates an unsubscribed contact for an email address without one, so that a later import does not
 * subscribe it. Creates nothing for a suppressed address, such as that of an erased contact.
 */
export async function leaveSite(
  orgId: number,
  { siteId, email, source }: { siteId: number; email: string; source: string },
): Promise<void> {
  if (await suppressions.find(orgId, email)) return;
  try {
    await create({ orgId }, { siteId, email, source, status: "unsubscribed", tags: [], lists: [] });
  } catch (error) {
    // Another click or an import created the contact in between.
    const existing = await get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email)));
    if (!existing) throw error;
    await contactStatus.setSubscription(existing, "unsubscribed");
  }
}

const resolveTopics = async (
  { orgId, siteId }: SiteRef,
  choices: TopicChoice[],
): Promise<Choice[]> =>
  choices.length ? resolveChoices(choices, await listOfSite(orgId, siteId)) : [];

/** Stores a new contact and enrolls it in the sequences that its lists and tags trigger. */
async function insert(item: ContactItem, date: string, topicWrites: Write[]): Promise<void> {
  const joined = contactWrites.membershipsOf(item);
  const startsOf = await contactReactions().startsOf(item.orgId, joined);
  const reaction = await contactReactions().startEnrollments(
    [{ contact: item, sequenceIds: startsOf(joined) }],
    maxTransactionWrites -
      maxExtraWrites -
      topicWrites.length -
      contactWrites.insertWrites(item, date).length,
  );
  const { sequences } = reaction.forContact(item).add;
  try {
    await commitContactChanges(item.orgId, { transitions: [{ after: item }] }, (extraWrites) =>
      write(
        ...contactWrites.insertWrites({ ...item, ...(sequences && { sequences }) }, date),
        ...topicWrites,
        ...reaction.writes,
        ...extraWrites,
      ),
    );
    await reaction.afterCommit();
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const existing = await get<ContactItem>({ pk: item.pk, sk: item.sk });
    // A retry after a crash has the same id and finds its own contact.
    if (existing?.id !== item.id) throw emailTaken();
  }
}

const maxTransactionWrites = 100;

/** Throws 404, and 403 for an API key of another site. */
export async function findItem(caller: CallerScope, id: number): Promise<ContactItem> {
  const [contact] = await getByIds(caller.orgId, [id], { consistent: true });
  if (!contact) throw notFound();
  await permitSite(caller, contact.siteId, notFound);
  return contact;
}

interface ContactPointer {
  siteId: number;
  email: string;
}
const keyOf = (orgId: number, { siteId, email }: ContactPointer): Key =>
  keys.contact(orgId, siteId, email);

export const find = async (caller: CallerScope, id: number): Promise<Contact> =>
  toApi(caller.orgId, await findItem(caller, id));

/** Adds the mails of campaigns, the names of tags and lists, and the topics of the site. */
export async function toApi(orgId: number, item: ContactItem): Promise<Contact> {
  const readMails = createMailReader(item, { consistent: true });
  return (await toApiAll(orgId, [item], readMails))[0]!;
}

/** `readMails` is for contacts of one site. */
export async function toApiAll(
  orgId: number,
  items: ContactItem[],
  readMails?: MailReader,
): Promise<Contact[]> {
  const idsIn = (kind: GroupKind) =>
    items.flatMap((item) => [...(item[groupAttribute(kind)] ?? [])]);
  const siteIds = items.map(({ siteId }) => siteId);
  const [tags, lists, topics, counted] = await Promise.all([
    groups.getNames(orgId, "TAG", idsIn("TAG")),
    groups.getNames(orgId, "LIST", idsIn("LIST")),
    listOfSites(orgId, siteIds),
    readMails ? readMails(items) : addMails(orgId, items),
  ]);
  return counted.map((item) => itemToApi(item, { tags, lists, topics: topics.get(item.siteId)! }));
}

/** Contacts of any site. */
async function addMails(orgId: number, items: ContactItem[]): Promise<CountedContact[]> {
  const bySite = Map.groupBy(items, ({ siteId }) => siteId);
  const counted = await Promise.all(
    [...bySite].map(([siteId, some]) => createMailReader({ orgId, siteId })(some)),
  );
  const byId = new Map(counted.flat().map((one) => [one.id, one]));
  return items.map(({ id }) => byId.get(id)!);
}

// Two changes of the email between the reads can leave the pointer as it was, so an unchanged
// pointer counts only after these rounds.
const minRounds = 4;

/** Contacts of any site, in the order of the ids. Leaves out ids without a contact. */
export async function getByIds(
  orgId: number,
  contactIds: number[],
  { consistent = false } = {},
): Promise<ContactItem[]> {
  const found = new Map<number, ContactItem>();
  const lastEmail = new Map<number, string>();
  let pending = [...new Set(contactIds)];
  for (let round = 1; pending.length; round++) {
    const readOptions = { consistent: consistent || round > 1 };
    const [pointers, deleted] = await Promise.all([
      getMany<ContactPointer>(
        pending.map((id) => keys.contactPointer(orgId, id)),
        readOptions,
      ),
      deletedSites(orgId),
    ]);
    // If a pointer leads to no contact, the email changed between the two reads. If the pointer
    // does not change either, there is no contact.
    const pointed = pending.flatMap((id, i) => {
      const pointer = pointers[i];
      if (!pointer || deleted.has(pointer.siteId)) return [];
      return round <= minRounds || pointer.email !== lastEmail.get(id) ? [{ id, ...pointer }] : [];
    });
    const items = await getMany<ContactItem>(
      pointed.map((pointer) => keyOf(orgId, pointer)),
      readOptions,
    );
    for (const item of items) if (item) found.set(item.id, item);
    for (const { id, email } of pointed) lastEmail.set(id, email);
    pending = pointed.flatMap(({ id }) => (found.has(id) ? [] : [id]));
  }
  return contactIds.flatMap((id) => found.get(id) ?? []);
}

/**
 * Retries when the contact changes between the read and the write. `alreadyRead` saves the first
 * read.
 */
export const changeWithRetry = <T>(
  caller: CallerScope,
  { id, alreadyRead }: { id: number; alreadyRead?: ContactItem | undefined },
  attempt: (current: ContactItem) => Promise<T>,
): Promise<T> =>
  retryInTurn(contactWrites.lineOf(caller.orgId, id), "The contact", async (isFirst) =>
    attempt((isFirst && alreadyRead) || (await findItem(caller, id))),
  );

/** A new email address moves the contact to another key, in one transaction. 409 `email_exists`. */
export async function change(
  caller: CallerScope,
  id: number,
  { topics = [], ...changes }: ContactChanges,
): Promise<Contact> {
  const [before, after] = await changeWithRetry(caller, { id }, async (current) => {
    const [date, choices, [spelled]] = await Promise.all([
      organizations.getToday(caller.orgId),
      resolveTopics(current, topics),
      fieldNames.applySpellings(current.orgId, current.siteId, [changes]),
    ]);
    const { stored, entries, changes: topicChanges } = applyChoices(current, choices);
    const next = { ...contactWrites.applyChanges(current, spelled!), ...stored };
    const wantsToLeave =
      (spelled!.status ?? "subscribed") !== "subscribed" ||
      topics.some(({ subscribed }) => !subscribed);
    const change = {
      transitions: [{ before: current, after: next }],
      repeatedIds: wantsToLeave ? [id] : [],
    };
    await commitContactChanges(caller.orgId, change, (extraWrites) =>
      write(
        ...contactWrites.changeWrites(current, next, emailTaken()),
        ...consentWrites(current, next, entries),
        ...topicCountWrites(current, topicChanges, date),
        ...extraWrites,
      ),
    );
    return [current, next];
  });
  if (before!.sk === after!.sk) return toApi(caller.orgId, after!);
  await contactStatus.syncWithSuppressions(caller.orgId, [after!]);
  return find(caller, id);
}

/** The evidence that a request subscribed or unsubscribed the contact, or changed its topics. */
function consentWrites(
  before: ContactItem,
  { status }: ContactItem,
  topics: ConsentEntry["topics"],
): Write[] {
  const isChoice = status === "subscribed" || status === "unsubscribed";
  const change = {
    ...(isChoice && status !== before.status && { status }),
    ...(topics.length && { topics }),
  };
  return Object.keys(change).length ? [consentLogWrite(before, { source: "api" }, change)] : [];
}

// Each membership takes two writes, and a transaction takes 100.
const maxMembershipsPerWrite = 45;

/**
 * Removes the contact with its memberships, enrollments and log. Its sends and a suppression stay.
 * Idempotent, also after a crash.
 */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  changeWithRetry(caller, { id }, async (current) => {
    if (current.sequences?.size) {
      await contactReactions().leaveSequences(current);
      return remove(caller, id);
    }
    const surplus = contactWrites.membershipsOf(current).slice(maxMembershipsPerWrite);
    if (surplus.length) {
      await write(
        ...contactWrites.leaveGroupsWrites(current, surplus.slice(0, maxMembershipsPerWrite)),
      );
      return remove(caller, id);
    }
    const [date] = await Promise.all([
      organizations.getToday(caller.orgId),
      deleteLog(caller.orgId, id),
    ]);
    const change = { transitions: [{ before: current }] };
    await commitContactChanges(caller.orgId, change, (extraWrites) =>
      write(...contactWrites.removeWrites(current, date), ...extraWrites),
    );
  });

async function deleteLog(orgId: number, id: number): Promise<void> {
  for await (const { items } of queryPages<Key>(ranges.contactLog(orgId, id, ""), { limit: 1000 }))
    await writeMany(items.map((entry) => removeItem(entry)));
}

/** Changes in the same transaction as a new membership. */
export interface JoinEffects {
  points: number;
  /** Score log entries for the points. */
  logWrites: Write[];
  /** Sequences that it triggers. */
  startsSequences?: Set<number> | undefined;
}

// A transaction takes 100 writes; the contact, its membership and the count take three.
const maxReactionWrites = maxTransactionWrites - 3;

interface ContactMembership extends memberships.Membership {
  contactId: number;
}

/** Idempotent. `applied` is false when the contact was a member already. */
export const addToGroup = (
  caller: CallerScope,
  { contactId, kind, group }: ContactMembership,
  getEffects: (contact: ContactItem) => Promise<JoinEffects> = async () => ({
    points: 0,
    logWrites: [],
  }),
): Promise<{ applied: boolean; contact: ContactItem }> =>
  changeWithRetry(caller, { id: contactId }, async (contact) => {
    const applied = !contact[groupAttribute(kind)]?.has(group);
    if (!applied) return { applied, contact };
    const { points, logWrites, startsSequences } = await getEffects(contact);
    const reaction = await contactReactions().contactChanged(
      contact,
      { starts: startsSequences, points },
      maxReactionWrites - logWrites.length,
    );
    await write(
      ...memberships.addMembersWrites({ kind, group }, [contact], { points, reaction }),
      ...logWrites,
      ...reaction.writes,
    );
    await reaction.afterCommit();
    return { applied, contact };
  });

/** Idempotent. Returns whether the contact was a member. */
export const removeFromGroup = (
  caller: CallerScope,
  { contactId, kind, group }: ContactMembership,
): Promise<boolean> =>
  changeWithRetry(caller, { id: contactId }, async (contact) => {
    const isMember = contact[groupAttribute(kind)]?.has(group) ?? false;
    if (isMember) await write(...memberships.removeMembersWrites({ kind, group }, [contact]));
    return isMember;
  });
