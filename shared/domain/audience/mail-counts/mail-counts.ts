// Adds the mails of campaigns and holidays to the counts that a contact stores itself. Every answer
// about the mails of contacts goes through here: lists, exports, segments, reports, and the
// frequency cap. A mail is in the log or in a bucket of counts. The log is read first: it names the
// last fold that began. A bucket that is newer than that fold means that the log changed, so both
// are read again.
import type { SiteRef } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { backOff } from "../../../kernel/retry-on-conflict.ts";
import { idsOf } from "../contacts/contact-lookups.ts";
import type { ContactItem, CountedContact, StoredContact } from "../contacts/contact-schema.ts";
import {
  bucketOf,
  type CountBucket,
  countCalls,
  findCount,
  getAllBuckets,
  getBuckets,
  type MailCount,
} from "./count-buckets.ts";
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

// Reading all buckets costs 0.08 read units each, reading one of them 0.5.
const maxSingleBuckets = 200;

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
    const ids = contacts.flatMap(idsOf);
    const [countOf, ...sentIds] = await Promise.all([
      counts ? readCounts(ids) : undefined,
      ...sentReaders.map(async ({ id, readSent }) => ({ id, sent: await readSent(ids) })),
    ]);
    return contacts.map((contact) => ({
      ...contact,
      ...toCountFields(contact, countOf && sumCounts(idsOf(contact).map(countOf))),
      ...toSentCampaigns(
        contact,
        sentIds.flatMap(({ id, sent }) => (idsOf(contact).some((one) => sent.has(one)) ? id : [])),
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
 * second: while a large campaign is sent, each of them would read the same log and buckets.
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

/** The mail log and the buckets that go with it. */
interface CountSnapshot {
  fold: number;
  /** Mails that no fold has begun to add to buckets, and those of the fold that has not ended. */
  open: Map<number, MailCount>;
  folding: Map<number, MailCount>;
  buckets: Map<number, Promise<CountBucket>>;
  allBuckets?: Promise<Map<number, CountBucket>>;
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
      const buckets = await getSnapshotBuckets(site, current, { contactIds, ...readOptions });
      const isCurrent = contactIds.every(
        (id) => (buckets.get(bucketOf(id))?.fold ?? 0) <= current.fold,
      );
      if (isCurrent)
        return (contactId) => sumMails(current, buckets.get(bucketOf(contactId)), contactId);
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
    buckets: new Map(),
  };
}

/** Several buckets of contacts are read at the same time, and each bucket of counts once. */
async function getSnapshotBuckets(
  site: SiteRef,
  snapshot: CountSnapshot,
  { contactIds, consistent }: { contactIds: number[]; consistent: boolean },
): Promise<Map<number, CountBucket>> {
  const { fold, open, buckets } = snapshot;
  if (fold === 0 && !open.size) return new Map();
  const wanted = [...new Set(contactIds.map(bucketOf))];
  const missing = wanted.filter((bucket) => !buckets.has(bucket));
  if (buckets.size + missing.length > maxSingleBuckets) snapshot.allBuckets ??= getAllBuckets(site);
  if (snapshot.allBuckets) return snapshot.allBuckets;
  if (missing.length) {
    const reading = getBuckets(site, missing, { consistent });
    for (const bucket of missing)
      buckets.set(
        bucket,
        reading.then((read) => read.get(bucket)!),
      );
  }
  return new Map(
    await Promise.all(
      wanted.map(
        async (bucket): Promise<[number, CountBucket]> => [bucket, await buckets.get(bucket)!],
      ),
    ),
  );
}

function sumMails(
  { fold, open, folding }: CountSnapshot,
  bucket: CountBucket | undefined,
  contactId: number,
): MailCount {
  return sumCounts([
    bucket && findCount(bucket, contactId),
    open.get(contactId),
    // The bucket has the mails of the last fold already, or not yet.
    (bucket?.fold ?? 0) < fold ? folding.get(contactId) : undefined,
  ]);
}

function sumCounts(counts: (MailCount | undefined)[]): MailCount {
  const sum = { count: 0, lastAt: 0 };
  for (const one of counts) {
    sum.count += one?.count ?? 0;
    sum.lastAt = Math.max(sum.lastAt, one?.lastAt ?? 0);
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
