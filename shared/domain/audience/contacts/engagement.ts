// Counts sends, opens and clicks on the contact, with the time of the latest. A contact stores the
// ids that were counted last, so a run that is repeated after a crash counts nothing twice.
import { all, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  getMany,
  getManyTogether,
  put,
  transact,
  update,
  updateMany,
  type Write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { retryLosers } from "../../../kernel/retry-on-conflict.ts";
import { keys, zeroPad } from "../../../keys.ts";
import { getSurvivors } from "./contact-lookups.ts";
import type { ContactItem } from "./contact-schema.ts";

import {
  contactReactions,
  type MailEngagement,
  noReaction,
  type ReactionWrites,
} from "./reactions.ts";
import { addCampaign, type CampaignInteraction } from "./segment-attributes.ts";

/**
 * The recipient of a mail: the contact with the id, otherwise the site's contact with the email.
 */
export interface MailedContactRef {
  siteId: number;
  contactId?: number | null | undefined;
  toEmail: string;
}

/**
 * The contacts in the given order, undefined if none exists. Reads by email first, and by id only
 * if the contact has another email by now or was merged. Without `consistent`, a contact may be
 * older than its latest change, but none is missing.
 */
export async function getAddressees(
  orgId: number,
  addressees: MailedContactRef[],
  { consistent = true } = {},
): Promise<(ContactItem | undefined)[]> {
  const byEmail = await getByEmail(orgId, addressees, consistent);
  const movedIds = addressees.flatMap(({ contactId }, i) =>
    contactId && byEmail[i]?.id !== contactId ? contactId : [],
  );
  if (!movedIds.length) return byEmail;
  const moved = await getSurvivors(orgId, [...new Set(movedIds)]);
  return addressees.map(
    ({ contactId }, i) =>
      (contactId && byEmail[i]?.id !== contactId && moved.get(contactId)) || byEmail[i],
  );
}

/** Reads known contacts eventually consistently if that suffices, because it costs half. */
async function getByEmail(
  orgId: number,
  addressees: MailedContactRef[],
  consistent: boolean,
): Promise<(ContactItem | undefined)[]> {
  const keyOf = ({ siteId, toEmail }: MailedContactRef) =>
    keys.contact(orgId, siteId, normalizeEmail(toEmail));
  const known = consistent ? [] : addressees.filter(({ contactId }) => contactId);
  const found = new Map<MailedContactRef, ContactItem | undefined>();
  const perhapsStale = await getMany<ContactItem>(known.map(keyOf));
  for (const [i, one] of known.entries())
    if (perhapsStale[i]?.id === one.contactId) found.set(one, perhapsStale[i]);
  const others = addressees.filter((one) => !found.has(one));
  const current = await getManyTogether<ContactItem>(others.map(keyOf), { consistent: true });
  for (const [i, one] of others.entries()) found.set(one, current[i]);
  return addressees.map((one) => found.get(one));
}

export interface EngagementEvent extends MailedContactRef, MailEngagement {
  /** Identifies the event, so that it is counted once. */
  key: number;
  /** ISO 8601 */
  at: string;
  /** No earlier event opened the mail, or clicked the link. */
  isFirst?: boolean;
}

/** Counts opens and clicks, which may start sequences. */
export const recordEngagement = (orgId: number, events: EngagementEvent[]): Promise<void> =>
  updateWithRetry(orgId, events, {
    change: async (contact, some) => applyEngagement(contact, some),
    react: (contact, some, change) =>
      contactReactions().contactChanged(contact, {
        engagements: listFresh(contact, some).filter(({ isFirst }) => isFirst),
        after: { ...contact, ...(change as ContactItem) },
      }),
  });

// After a crash, a run repeats its last events and some of those before.
const maxCountedIds = 200;
const minCountedIds = 16;

type Change = Partial<ContactItem> & { v: number };

/** The events that the contact does not count yet. */
const listFresh = ({ counted = [] }: ContactItem, events: EngagementEvent[]): EngagementEvent[] =>
  distinctBy(events, ({ key }) => key).filter(({ key }) => !counted.includes(key));

function applyEngagement(contact: ContactItem, events: EngagementEvent[]): Change | undefined {
  const counted = contact.counted ?? [];
  const fresh = listFresh(contact, events);
  if (!fresh.length) return undefined;
  const ofType = (type: EngagementEvent["type"]) => fresh.filter((one) => one.type === type);
  const latest = (type: EngagementEvent["type"], last: string | undefined) =>
    [...ofType(type).map(({ at }) => at), last ?? ""].sort().at(-1)!;
  return {
    ...(ofType("open").length && {
      openCount: (contact.openCount ?? 0) + ofType("open").length,
      lastOpenedAt: latest("open", contact.lastOpenedAt),
    }),
    ...(ofType("click").length && {
      clickCount: (contact.clickCount ?? 0) + ofType("click").length,
      lastClickedAt: latest("click", contact.lastClickedAt),
    }),
    ...campaignChanges(contact, "opened", ofType("open")),
    ...campaignChanges(contact, "clicked", ofType("click")),
    counted: [...counted, ...fresh.map(({ key }) => key)].slice(
      -Math.min(maxCountedIds, Math.max(minCountedIds, fresh.length)),
    ),
    v: contact.v + 1,
  };
}

const distinctBy = <T>(all: T[], keyOf: (one: T) => number): T[] => [
  ...new Map(all.map((one) => [keyOf(one), one])).values(),
];

function campaignChanges(
  contact: ContactItem,
  fact: CampaignInteraction,
  some: { campaignId?: number | null | undefined }[],
): Partial<ContactItem> {
  let set: Partial<ContactItem> = {};
  for (const { campaignId } of some)
    if (campaignId) set = addCampaign({ ...contact, ...set } as ContactItem, fact, campaignId);
  return set;
}

export interface RecordedSend extends MailedContactRef {
  id: number;
  /** ISO 8601 */
  sentAt?: string | null | undefined;
  campaignId?: number | null | undefined;
  sequenceId?: number | null | undefined;
  holidayId?: number | null | undefined;
}

/** Counts mail that was handed over. `found` is the result of `getAddressees` for `sends`. */
export const recordSends = (
  orgId: number,
  sends: RecordedSend[],
  found: (ContactItem | undefined)[],
): Promise<void> =>
  updateWithRetry(orgId, sends, {
    alreadyRead: found,
    change: async (contact, some) => {
      const change = applySends(contact, some);
      if (!change) return undefined;
      const { older, ...kept } = change;
      await writeMany(archiveWrites(orgId, contact, older));
      return kept;
    },
  });

/**
 * Writes that count one mail that was handed over, for the transaction that stores it. Their
 * condition fails when the contact has changed since it was read.
 */
export function countSendWrites(orgId: number, contact: ContactItem, send: RecordedSend): Write[] {
  const change = applySends(contact, [send]);
  if (!change) return [];
  const { pk, sk, v } = contact;
  const { older, ...set } = change;
  return [
    ...archiveWrites(orgId, contact, older),
    update({ pk, sk }, { set }, { if: equals("v", v) }),
  ];
}

/** Safe to repeat. */
const archiveWrites = (orgId: number, { id }: ContactItem, older: number[][]): Write[] =>
  older.map((ids) =>
    put(keys.contactLog(orgId, id, `${sendLogPrefix}${zeroPad(ids[0]!)}`), { ids }),
  );

/** Sort key prefix of the log entries with the ids of older sends. */
export const sendLogPrefix = "SENDS|";
/**
 * The contact has the ids of its latest sends. When there are twice as many, the older half moves
 * to a log entry.
 */
const sendIdsPerLogEntry = 16;

const isMarketing = ({ campaignId, sequenceId, holidayId }: RecordedSend): boolean =>
  Boolean(campaignId ?? sequenceId ?? holidayId);

function applySends(
  contact: ContactItem,
  sends: RecordedSend[],
): (Change & { older: number[][] }) | undefined {
  const known = contact.sendIds ?? [];
  const fresh = distinctBy(sends, ({ id }) => id).filter(({ id }) => !known.includes(id));
  if (!fresh.length) return undefined;
  const marketing = fresh.filter(isMarketing);
  const all = [...known, ...fresh.map(({ id }) => id)];
  const archivedIds: number[][] = [];
  while (all.length > 2 * sendIdsPerLogEntry) archivedIds.push(all.splice(0, sendIdsPerLogEntry));
  return {
    sendCount: (contact.sendCount ?? 0) + fresh.length,
    lastSentAt: latestSentAt(fresh, contact.lastSentAt),
    ...(marketing.length && { lastMarketingAt: latestSentAt(marketing, contact.lastMarketingAt) }),
    ...campaignChanges(contact, "sent", fresh),
    sendIds: all,
    older: archivedIds,
    v: contact.v + 1,
  };
}

const latestSentAt = (sends: RecordedSend[], before = ""): string =>
  [...sends.map(({ sentAt }) => sentAt ?? ""), before].sort().at(-1)!;

interface ContactUpdate<T> {
  change(contact: ContactItem, some: T[]): Promise<Change | undefined>;
  /** Further writes of the transaction that changes the contact. */
  react?(contact: ContactItem, some: T[], change: Change): Promise<ReactionWrites>;
}

/** Writes each contact on the condition that its version is still the one that was read. */
async function updateWithRetry<T extends MailedContactRef>(
  orgId: number,
  events: T[],
  {
    alreadyRead,
    ...contactUpdate
  }: ContactUpdate<T> & { alreadyRead?: (ContactItem | undefined)[] | undefined },
): Promise<void> {
  await retryLosers("A contact", events, async (pending, attempt) => {
    // A write to a contact that was read stale fails, and is tried again with a consistent read.
    const contacts =
      attempt === 1 && alreadyRead
        ? alreadyRead
        : await getAddressees(orgId, pending, { consistent: attempt > 1 });
    return updateOnce(pending, contacts, contactUpdate);
  });
}

async function updateOnce<T extends MailedContactRef>(
  events: T[],
  found: (ContactItem | undefined)[],
  { change, react = async () => noReaction }: ContactUpdate<T>,
): Promise<T[]> {
  const byContact = Map.groupBy(
    events.flatMap((one, i) => (found[i] ? [{ one, contact: found[i] }] : [])),
    ({ contact }) => contact.id,
  );
  const parts = await Promise.all(
    [...byContact.values()].map(async (some) => {
      const { contact } = some[0]!;
      const ones = some.map(({ one }) => one);
      const set = await change(contact, ones);
      return { contact, ones, set, reaction: set ? await react(contact, ones, set) : noReaction };
    }),
  );
  const changed = parts.flatMap(({ set, ...part }) => (set ? [{ ...part, set }] : []));
  const [alone, together] = [true, false].map((hasWrites) =>
    changed.filter(({ reaction }) => reaction.writes.length > 0 === hasWrites),
  ) as [typeof changed, typeof changed];
  const [made, committed] = await Promise.all([
    updateMany(
      together.map(({ contact: { pk, sk, v }, set }) => ({
        key: { pk, sk },
        set: { ...set },
        ifEquals: { v },
      })),
    ),
    inParallel(8, alone, ({ contact, set, reaction }) => commitReaction(contact, set, reaction)),
  ]);
  return [...together.filter((_, i) => !made[i]), ...alone.filter((_, i) => !committed[i])].flatMap(
    ({ ones }) => ones,
  );
}

/** Returns false when the contact has changed since it was read. */
async function commitReaction(
  contact: ContactItem,
  set: Change,
  reaction: ReactionWrites,
): Promise<boolean> {
  const { add, conditions } = reaction.forContact(contact);
  const unchanged = all(equals("v", contact.v), ...conditions);
  const isCommitted = await transact(
    update(contact, { set: { ...set }, add }, { if: unchanged }),
    ...reaction.writes,
  );
  if (isCommitted) await reaction.afterCommit();
  return isCommitted;
}
