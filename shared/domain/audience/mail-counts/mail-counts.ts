// Adds the mails of campaigns and holidays to the counts that a contact stores itself. Every answer
// about the mails of contacts goes through here: lists, exports, segments, reports, and the
// frequency cap. A mail is in the log or in a page of counts. The log is read first: it names the
// last fold that began. A page that is newer than that fold means that the log changed, so both are
// read again.
import type { SiteRef } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { backOff } from "../../../kernel/retry-on-conflict.ts";
import type { ContactItem, CountedContact, StoredContact } from "../contacts/contact-schema.ts";
import {
  type CountPage,
  countCalls,
  findCount,
  getAllPages,
  getPages,
  type MailCount,
  pageOf,
} from "./count-pages.ts";
import { type MailLog, readMailLog } from "./mail-log.ts";
import { getMailedIds, isMailed } from "./mailed-contacts.ts";

/** What of a contact a reader needs. */
export interface MailFields {
  /** `sendCount`, `lastSentAt` and `lastMarketingAt`. */
  counts: boolean;
  /** Campaigns to look for in `sentCampaigns`. */
  campaignIds: number[];
}

/**
 * Adds the mails to contacts of one site. It keeps what it has read, so one reader serves one
 * request, or one run of a job.
 */
export type MailReader = (contacts: StoredContact[]) => Promise<CountedContact[]>;

// Reading all pages costs 0.08 read units each, reading one of them 0.5.
const maxSinglePages = 200;

export function createMailReader(
  { orgId, siteId }: SiteRef,
  {
    counts = true,
    campaignIds = [],
    consistent = false,
  }: Partial<MailFields> & { consistent?: boolean } = {},
): MailReader {
  const site = { orgId, siteId };
  const readCounts = createCountReader(site, consistent);
  let log: Promise<MailLog> | undefined;
  const readLog = () => (log ??= readMailLog(site, { consistent }));
  const sentReaders = campaignIds.map((id) => ({
    id,
    readSent: createSentReader(site, id, readLog),
  }));
  return async (contacts) => {
    const ids = contacts.map(({ id }) => id);
    const [countOf, ...sentIds] = await Promise.all([
      counts ? readCounts(ids) : undefined,
      ...sentReaders.map(async ({ id, readSent }) => ({ id, sent: await readSent(ids) })),
    ]);
    return contacts.map((contact) => ({
      ...contact,
      ...toCountFields(contact, countOf?.(contact.id)),
      ...toSentCampaigns(
        contact,
        sentIds.flatMap(({ id, sent }) => (sent.has(contact.id) ? id : [])),
      ),
      hasAllMails: true,
    }));
  };
}

interface SharedReader {
  read: MailReader;
  since: Date;
}
const sharedReaders = new Map<string, SharedReader>();
const sharedForSeconds = 1;

/**
 * A reader of counts for the frequency cap, which all hand-overs of this process share for a
 * second: while a large campaign is sent, each of them would read the same log and pages.
 */
export function getSharedMailReader(site: SiteRef): MailReader {
  const name = `${site.orgId}/${site.siteId}`;
  const since = addSeconds(-sharedForSeconds);
  // The reader of a large site keeps tens of megabytes, so it is dropped when its second is over.
  for (const [other, reader] of sharedReaders)
    if (reader.since <= since) sharedReaders.delete(other);
  const known = sharedReaders.get(name);
  if (known) return known.read;
  const read = createMailReader(site, { consistent: true });
  sharedReaders.set(name, { read, since: now() });
  return read;
}

type CountFields = Pick<ContactItem, "sendCount" | "lastSentAt" | "lastMarketingAt">;

function toCountFields(contact: ContactItem, mails: MailCount | undefined): CountFields {
  if (!mails?.count) return {};
  const lastAt = new Date(mails.lastAt).toISOString();
  return {
    sendCount: (contact.sendCount ?? 0) + mails.count,
    lastSentAt: later(contact.lastSentAt, lastAt),
    lastMarketingAt: later(contact.lastMarketingAt, lastAt),
  };
}

const later = (a = "", b: string): string => (a > b ? a : b);

const toSentCampaigns = (
  { sentCampaigns }: ContactItem,
  ids: number[],
): Pick<ContactItem, "sentCampaigns"> =>
  ids.length ? { sentCampaigns: new Set([...(sentCampaigns ?? []), ...ids]) } : {};

type CountLookup = (contactId: number) => MailCount;

/** The mail log and the pages that go with it. */
interface CountSnapshot {
  fold: number;
  /** Mails that no fold has begun to add to pages, and those of the fold that has not ended. */
  open: Map<number, MailCount>;
  folding: Map<number, MailCount>;
  pages: Map<number, Promise<CountPage>>;
  allPages?: Promise<Map<number, CountPage>>;
}

const maxReads = 8;

function createCountReader(site: SiteRef, consistent: boolean) {
  let snapshot: Promise<CountSnapshot> | undefined;
  return async (contactIds: number[]): Promise<CountLookup> => {
    for (let attempt = 1; ; attempt++) {
      const readOptions = { consistent: consistent || attempt > 1 };
      snapshot ??= readMailLog(site, readOptions).then(toSnapshot);
      const reading = snapshot;
      const current = await reading;
      const pages = await getSnapshotPages(site, current, { contactIds, ...readOptions });
      const isCurrent = contactIds.every(
        (id) => (pages.get(pageOf(id))?.fold ?? 0) <= current.fold,
      );
      if (isCurrent)
        return (contactId) => sumMails(current, pages.get(pageOf(contactId)), contactId);
      if (attempt >= maxReads) throw new Error("The mail log is folded too often to be read");
      if (snapshot === reading) snapshot = undefined;
      await backOff(attempt);
    }
  };
}

function toSnapshot({ state, entries }: MailLog): CountSnapshot {
  const foldingKeys = new Set(state?.folding);
  return {
    fold: state?.fold ?? 0,
    open: countCalls(entries.filter(({ sk }) => !foldingKeys.has(sk))),
    folding: countCalls(entries.filter(({ sk }) => foldingKeys.has(sk))),
    pages: new Map(),
  };
}

/** Several pages of contacts are read at the same time, and each page of counts once. */
async function getSnapshotPages(
  site: SiteRef,
  snapshot: CountSnapshot,
  { contactIds, consistent }: { contactIds: number[]; consistent: boolean },
): Promise<Map<number, CountPage>> {
  const { fold, open, pages } = snapshot;
  if (fold === 0 && !open.size) return new Map();
  const wanted = [...new Set(contactIds.map(pageOf))];
  const missing = wanted.filter((page) => !pages.has(page));
  if (pages.size + missing.length > maxSinglePages) snapshot.allPages ??= getAllPages(site);
  if (snapshot.allPages) return snapshot.allPages;
  if (missing.length) {
    const reading = getPages(site, missing, { consistent });
    for (const page of missing)
      pages.set(
        page,
        reading.then((read) => read.get(page)!),
      );
  }
  return new Map(
    await Promise.all(
      wanted.map(async (page): Promise<[number, CountPage]> => [page, await pages.get(page)!]),
    ),
  );
}

function sumMails(
  { fold, open, folding }: CountSnapshot,
  page: CountPage | undefined,
  contactId: number,
): MailCount {
  const parts = [
    page && findCount(page, contactId),
    open.get(contactId),
    // The page has the mails of the last fold already, or not yet.
    (page?.fold ?? 0) < fold ? folding.get(contactId) : undefined,
  ];
  const sum = { count: 0, lastAt: 0 };
  for (const part of parts) {
    sum.count += part?.count ?? 0;
    sum.lastAt = Math.max(sum.lastAt, part?.lastAt ?? 0);
  }
  return sum;
}

/** Returns which contacts got a campaign. Reads the log once, and the lists after it. */
function createSentReader(site: SiteRef, campaignId: number, readLog: () => Promise<MailLog>) {
  const source = { kind: "campaign", id: campaignId } as const;
  let logged: Promise<Set<number>> | undefined;
  let all: Promise<Set<number>> | undefined;
  return async (contactIds: number[]): Promise<Set<number>> => {
    logged ??= readLog().then((log) => getLoggedIds(log, source));
    const [first] = contactIds;
    const inLog = await logged;
    if (contactIds.length > 1 || all) {
      all ??= getMailedIds(site, source).then((mailed) => inLog.union(mailed));
      return all;
    }
    if (first === undefined) return new Set();
    return inLog.has(first) || (await isMailed(site, source, first)) ? new Set([first]) : new Set();
  };
}

const getLoggedIds = (
  { entries }: MailLog,
  { kind, id }: Parameters<typeof getMailedIds>[1],
): Set<number> =>
  new Set(
    entries.flatMap(({ source, mails }) =>
      source.kind === kind && source.id === id ? mails.map(({ contactId }) => contactId) : [],
    ),
  );
