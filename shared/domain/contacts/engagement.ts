// What was sent to a contact and what it did with it: counts and latest times on the contact, each thing once. A contact remembers
// what was counted last, so that whoever died before he was done may tell it again.
import { getMany, put, updateMany, writeMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { keys, sortable } from "../../keys.ts";
import * as contacts from "../contacts.ts";
import { sourceOf } from "../sending/sources.ts";
import type { SendItem } from "../sends.ts";
import type { ContactItem } from "./contact.ts";
import { type CampaignFact, campaignMet } from "./facts.ts";

/** To whom a mail went: the contact it was meant for, else whoever has the address in its site. */
export type Addressee = Pick<SendItem, "siteId" | "contactId" | "toEmail">;

/** The contacts there are, in the order asked. Only who has another address than the mail went to is looked for by id. */
export async function contactsOf(orgId: number, addressees: Addressee[]): Promise<(ContactItem | undefined)[]> {
  const there = await getMany<ContactItem>(
    addressees.map(({ siteId, toEmail }) => keys.contact(orgId, siteId, canonical(toEmail))),
    { consistent: true },
  );
  const strays = addressees.flatMap(({ contactId }, i) => (contactId && there[i]?.id !== contactId ? contactId : []));
  if (!strays.length) return there;
  const moved = new Map((await contacts.byIds(orgId, [...new Set(strays)], { consistent: true })).map((one) => [one.id, one]));
  return addressees.map(({ contactId }, i) => (contactId && there[i]?.id !== contactId && moved.get(contactId)) || there[i]);
}

export interface Engaged extends Addressee {
  /** Of the event: it is counted once. */
  key: number;
  type: "open" | "click";
  /** ISO 8601 */
  at: string;
  campaignId?: number | null | undefined;
}

/** People opened and clicked. */
export const engaged = (orgId: number, happened: Engaged[]): Promise<void> =>
  settled(orgId, happened, async (contact, some) => withEngaged(contact, some));

// A run that dies tells again what it told last, and some of what came before.
const mostKeys = 200;
const fewestKeys = 16;

type Change = Partial<ContactItem> & { v: number };

function withEngaged(contact: ContactItem, happened: Engaged[]): Change | undefined {
  const counted = contact.counted ?? [];
  const fresh = distinct(happened, ({ key }) => key).filter(({ key }) => !counted.includes(key));
  if (!fresh.length) return undefined;
  const of = (type: Engaged["type"]) => fresh.filter((one) => one.type === type);
  const latest = (type: Engaged["type"], last: string | undefined) => [...of(type).map(({ at }) => at), last ?? ""].sort().at(-1)!;
  return {
    ...(of("open").length && {
      openCount: (contact.openCount ?? 0) + of("open").length,
      lastOpenedAt: latest("open", contact.lastOpenedAt),
    }),
    ...(of("click").length && {
      clickCount: (contact.clickCount ?? 0) + of("click").length,
      lastClickedAt: latest("click", contact.lastClickedAt),
    }),
    ...campaigns(contact, "opened", of("open")),
    ...campaigns(contact, "clicked", of("click")),
    counted: [...counted, ...fresh.map(({ key }) => key)].slice(-Math.min(mostKeys, Math.max(fewestKeys, fresh.length))),
    v: (contact.v ?? 0) + 1,
  };
}

const distinct = <T>(all: T[], keyOf: (one: T) => number): T[] => [...new Map(all.map((one) => [keyOf(one), one])).values()];

function campaigns(contact: ContactItem, fact: CampaignFact, some: { campaignId?: number | null | undefined }[]): Partial<ContactItem> {
  let set: Record<string, number | Set<number>> = {};
  for (const { campaignId } of some) if (campaignId) set = campaignMet({ ...contact, ...set } as ContactItem, fact, campaignId);
  return set as Partial<ContactItem>;
}

export type Sent = Addressee & Pick<SendItem, "id" | "sentAt" | "campaignId" | "sequenceId" | "holidayId">;

/** Mail was handed over. `found`: its contacts, as `contactsOf` has just told. */
export const sent = (orgId: number, sends: Sent[], found: (ContactItem | undefined)[]): Promise<void> =>
  settled(
    orgId,
    sends,
    async (contact, some) => {
      const change = withSent(contact, some);
      if (!change) return undefined;
      const { older, ...kept } = change;
      await writeMany(older.map((ids) => put(keys.contactLog(orgId, contact.id, `${sendsPrefix}${sortable(ids[0]!)}`), { ids })));
      return kept;
    },
    found,
  );

/** Lines of the log of a contact that name its older sends begin so. */
export const sendsPrefix = "SENDS|";
/** The latest sends are on the contact; whenever there are twice as many, the older half goes to a line of its log. */
const sendsToLine = 16;

function withSent(contact: ContactItem, sends: Sent[]): (Change & { older: number[][] }) | undefined {
  const known = contact.sendIds ?? [];
  const fresh = distinct(sends, ({ id }) => id).filter(({ id }) => !known.includes(id));
  if (!fresh.length) return undefined;
  const marketing = fresh.filter((send) => sourceOf(send));
  const all = [...known, ...fresh.map(({ id }) => id)];
  const older: number[][] = [];
  while (all.length > 2 * sendsToLine) older.push(all.splice(0, sendsToLine));
  return {
    sendCount: (contact.sendCount ?? 0) + fresh.length,
    lastSentAt: latestOf(fresh, contact.lastSentAt),
    ...(marketing.length && { lastMarketingAt: latestOf(marketing, contact.lastMarketingAt) }),
    ...campaigns(contact, "sent", fresh),
    sendIds: all,
    older,
    v: (contact.v ?? 0) + 1,
  };
}

const latestOf = (sends: Sent[], before = ""): string => [...sends.map(({ sentAt }) => sentAt ?? ""), before].sort().at(-1)!;

const mostTries = 8;

type Changing<T> = (contact: ContactItem, some: T[]) => Promise<Change | undefined>;

/** Writes each contact on the version that was read; who lost a race is read again. */
async function settled<T extends Addressee>(
  orgId: number,
  told: T[],
  change: Changing<T>,
  known?: (ContactItem | undefined)[],
): Promise<void> {
  let [open, found] = [told, known];
  for (let tries = 1; open.length; tries++) {
    if (tries > mostTries) throw new Error("Contacts kept changing while their mail was counted");
    open = await settleOnce(open, found ?? (await contactsOf(orgId, open)), change);
    found = undefined;
  }
}

async function settleOnce<T extends Addressee>(told: T[], found: (ContactItem | undefined)[], change: Changing<T>): Promise<T[]> {
  const byContact = Map.groupBy(
    told.flatMap((one, i) => (found[i] ? [{ one, contact: found[i] }] : [])),
    ({ contact }) => contact.id,
  );
  const parts = await Promise.all(
    [...byContact.values()].map(async (some) => {
      const { contact } = some[0]!;
      const ones = some.map(({ one }) => one);
      return { contact, ones, set: await change(contact, ones) };
    }),
  );
  const changed = parts.flatMap(({ set, ...part }) => (set ? [{ ...part, set }] : []));
  const made = await updateMany(
    changed.map(({ contact: { pk, sk, v = 0 }, set }) => ({ address: { pk, sk }, set: { ...set }, while: ["v", v] as const })),
  );
  return changed.flatMap(({ ones }, i) => (made[i] ? [] : ones));
}
