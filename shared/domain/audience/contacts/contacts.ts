// Contacts. The key is the email address in a site, so the address is unique; a pointer finds a
// contact by id.

import {
  ConditionFailed,
  get,
  queryPages,
  remove as removeItem,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope, SiteRef } from "../../../caller.ts";
import { conflict, missing, type Problem } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { retryInTurn } from "../../../kernel/retry-on-conflict.ts";
import { permitSite } from "../../../kernel/site-access.ts";
import { type GroupKind, type Key, keys, ranges } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import * as groups from "../groups/groups.ts";
import { createMailReader, type MailReader } from "../mail-counts/mail-counts.ts";
import * as suppressionLookups from "../suppressions/suppression-lookups.ts";
import * as suppressions from "../suppressions/suppressions.ts";
import { listOfSite, listOfSites } from "../topics/site-topics.ts";
import type { TopicChoice } from "../topics/topic-choice-schemas.ts";
import { applyChoices, type Choice, resolveChoices } from "../topics/topic-choices.ts";
import { topicCountWrites } from "../topics/topic-counts.ts";
import * as confirmations from "./confirmations.ts";
import { requestConsentWrites, topicLogWrites } from "./consent-log.ts";
import { commitContactChanges, maxExtraWrites } from "./contact-events.ts";
import { findSurvivor, getByIds, mergedPointers } from "./contact-lookups.ts";
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
import * as declaredFields from "./declared-fields.ts";
import { externalIdTaken, listTaken } from "./external-ids.ts";
import { type ChangeContext, contactReactions } from "./reactions.ts";

export { getByIds } from "./contact-lookups.ts";

const emailTaken = () =>
  conflict("The site already has a contact with this email", { code: "email_exists" });
const notFound = () => missing("The contact does not exist");

/**
 * 409 `email_exists` when the email is taken. A suppressed email address gives a suppressed
 * contact.
 */
export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, tags, lists, topics = [], sendConfirmation, ...fields }: NewContact,
): Promise<Contact> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const { orgId } = caller;
  const [date, listIds, choices, suppressed, [id = 0], existing] = await Promise.all([
    organizations.getToday(orgId),
    groups.checkLists(caller, siteId, lists),
    resolveTopics({ orgId, siteId }, topics),
    suppressionLookups.filterSuppressed(orgId, [fields.email], { purpose: "marketing" }),
    ids.nextContactIds(1),
    get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(fields.email))),
    sendConfirmation && confirmations.requireSender(orgId),
  ]);
  // A retry after a crash has the same id and finds its own contact.
  if (existing && existing.id !== id) throw emailTaken();
  const { externalId } = fields;
  if ((await listTaken([{ orgId, siteId, id, externalId }])).size) throw externalIdTaken();
  const readFields = await declaredFields.readOne({ orgId, siteId }, fields);
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
  const item = contactWrites.createItem(readFields, context);
  await write(contactWrites.pointerWrite(item));
  const request = { request: `row ${id}`, source: confirmations.sourceOf(caller) };
  // A suppressed address gets no mail.
  const isAsked = sendConfirmation && item.status === "pending";
  await insert(item, date, [
    ...topicLogWrites(item, { source: "api" }, entries),
    ...topicCountWrites(item, changes, date),
    ...(isAsked ? [confirmations.requestWrite(item, request)] : []),
  ]);
  if (isAsked) await confirmations.enqueueMails(orgId, [id]);
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
  const suppression = await suppressions.find(orgId, email);
  if (suppression && !suppressions.isSoft(suppression)) return;
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

/**
 * Throws 404, which names the other contact if it was merged, and 403 for an API key of another
 * site.
 */
export async function findItem(caller: CallerScope, id: number): Promise<ContactItem> {
  const [contact] = await getByIds(caller.orgId, [id], { consistent: true });
  if (!contact) throw await toMissing(caller, id);
  await permitSite(caller, contact.siteId, notFound);
  return contact;
}

async function toMissing(caller: CallerScope, id: number): Promise<Problem> {
  const survivor = await findSurvivor(caller.orgId, id);
  if (!survivor) return notFound();
  await permitSite(caller, survivor.siteId, notFound);
  return missing(`The contact was merged into contact ${survivor.id}`, {
    code: "contact_merged",
    bodyFields: { mergedInto: survivor.id },
  });
}

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

interface ContactRef {
  id: number;
  /** Saves the first read. */
  alreadyRead?: ContactItem | undefined;
}

/** Retries when the contact changes between the read and the write. */
export const changeWithRetry = <T>(
  caller: CallerScope,
  { id, alreadyRead }: ContactRef,
  attempt: (current: ContactItem) => Promise<T>,
): Promise<T> =>
  retryInTurn(contactWrites.lineOf(caller.orgId, id), "The contact", async (isFirst) =>
    attempt((isFirst && alreadyRead) || (await findItem(caller, id))),
  );

/** The same for the contact that a merged contact became. */
export const changeSurvivorWithRetry = <T>(
  orgId: number,
  { id, alreadyRead }: ContactRef,
  attempt: (current: ContactItem) => Promise<T>,
): Promise<T> =>
  retryInTurn(contactWrites.lineOf(orgId, id), "The contact", async (isFirst) => {
    const current = (isFirst && alreadyRead) || (await findSurvivor(orgId, id));
    if (!current) throw notFound();
    return attempt(current);
  });

/** A new email address moves the contact to another key, in one transaction. 409 `email_exists`. */
export async function change(
  caller: CallerScope,
  id: number,
  changes: ContactChanges,
): Promise<Contact> {
  const [before, after] = await changeWithRetry(caller, { id }, async (current) => [
    current,
    await commitChange(current, changes, { commit: write }),
  ]);
  if (before!.sk === after!.sk) return toApi(caller.orgId, after!);
  await contactStatus.syncWithSuppressions(caller.orgId, [after!]);
  return find(caller, id);
}

/**
 * Changes the contact as it was read, and returns it. Throws if it has changed since, and 400 for a
 * value that its field cannot have.
 */
export async function commitChange(
  current: ContactItem,
  { topics = [], ...changes }: ContactChanges,
  { commit, chain }: ChangeContext,
): Promise<ContactItem> {
  const { orgId, id } = current;
  const [date, choices, readChanges] = await Promise.all([
    organizations.getToday(orgId),
    resolveTopics(current, topics),
    declaredFields.readOne(current, changes),
  ]);
  const { stored, entries, changes: topicChanges } = applyChoices(current, choices);
  const next = { ...contactWrites.applyChanges(current, readChanges), ...stored };
  const wantsToLeave =
    (readChanges.status ?? "subscribed") !== "subscribed" ||
    topics.some(({ subscribed }) => !subscribed);
  const change = {
    transitions: [{ before: current, after: next }],
    repeatedIds: wantsToLeave ? [id] : [],
    chain,
  };
  await commitContactChanges(orgId, change, (extraWrites) =>
    commit(
      ...contactWrites.changeWrites(current, next, emailTaken()),
      ...requestConsentWrites(current, next, entries),
      ...topicCountWrites(current, topicChanges, date),
      ...extraWrites,
    ),
  );
  return next;
}

// Each membership takes two writes, and a transaction takes 100.
const maxMembershipsPerWrite = 44;

/** Throws 409 while the history of another contact moves to it. */
export function checkNotMerging({ merging }: ContactItem): void {
  if (merging)
    throw conflict(`Contact ${merging} is being merged into the contact: try again in a moment`, {
      code: "merge_in_progress",
    });
}

/**
 * Removes the contact with its memberships, enrollments and log. Its sends and a suppression stay.
 * Idempotent, also after a crash.
 */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  changeWithRetry(caller, { id }, async (current) => {
    checkNotMerging(current);
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
      writeMany(mergedPointers(current).map((pointer) => removeItem(pointer))),
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
