// Buckets of mail counts. A bucket has the counts of 128 consecutive contact ids in less than 1 KB,
// so a fold writes one unit for all of them.
import { getMany, insertMany, queryAll, updateMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { retryLosers } from "../../../kernel/retry-on-conflict.ts";
import { keys, ranges } from "../../../keys.ts";
import type { LoggedCall } from "./mail-log.ts";

const contactsPerBucket = 128;
export const bucketOf = (contactId: number): number => Math.floor(contactId / contactsPerBucket);

/** The mails to one contact. */
export interface MailCount {
  count: number;
  /** When the last was handed over (milliseconds since 1970). */
  lastAt: number;
}

/** A million contacts have 7,800 buckets, so a bucket stays as it is stored. */
export interface CountBucket {
  /** Number of the last fold that changed it. 0: it does not exist. */
  fold: number;
  /** The contact id at its first position. */
  firstId: number;
  stored: StoredCounts;
}

interface CountBucketItem extends CompressedValue {
  sk: string;
  fold: number;
}

/** By position in the bucket. The times are relative to the earliest. 0: no mail. */
interface StoredCounts {
  counts: number[];
  since: number;
  times: number[];
}

function addMails(counts: Map<number, MailCount>, contactId: number, more: MailCount): void {
  const { count, lastAt } = counts.get(contactId) ?? { count: 0, lastAt: 0 };
  counts.set(contactId, {
    count: count + more.count,
    lastAt: Math.max(lastAt, more.lastAt),
  });
}

/** The mails of calls, by contact id. */
export function countCalls(calls: LoggedCall[]): Map<number, MailCount> {
  const counts = new Map<number, MailCount>();
  for (const { at, mails } of calls) {
    const more = { count: 1, lastAt: Date.parse(at) };
    for (const { contactId } of mails) addMails(counts, contactId, more);
  }
  return counts;
}

/** By bucket number. A bucket that does not exist is empty. */
export async function getBuckets(
  { orgId, siteId }: SiteRef,
  buckets: number[],
  { consistent }: { consistent: boolean },
): Promise<Map<number, CountBucket>> {
  const items = await getMany<CountBucketItem>(
    buckets.map((bucket) => keys.mailCountBucket(orgId, siteId, bucket)),
    { consistent },
  );
  const read = await Promise.all(items.map((item) => (item ? toBucket(item) : undefined)));
  return new Map(buckets.map((bucket, i) => [bucket, read[i] ?? emptyBucket(bucket)]));
}

/** All buckets of the site, by bucket number. */
export async function getAllBuckets({ orgId, siteId }: SiteRef): Promise<Map<number, CountBucket>> {
  const items = await queryAll<CountBucketItem>(ranges.mailCountBuckets(orgId, siteId));
  const read = await inParallel(100, items, toBucket);
  return new Map(items.map(({ sk }, i) => [Number(sk), read[i]!]));
}

async function toBucket(item: CountBucketItem): Promise<CountBucket> {
  return {
    fold: item.fold,
    firstId: Number(item.sk) * contactsPerBucket,
    stored: await decompress<StoredCounts>(item),
  };
}

const emptyBucket = (bucket: number): CountBucket => ({
  fold: 0,
  firstId: bucket * contactsPerBucket,
  stored: { counts: [], since: 0, times: [] },
});

/** Undefined without mails. */
export function findCount(
  { firstId, stored: { counts, since, times } }: CountBucket,
  contactId: number,
): MailCount | undefined {
  const count = counts[contactId - firstId];
  return count ? { count, lastAt: since + times[contactId - firstId]! } : undefined;
}

/** By contact id. */
const toCounts = (bucket: CountBucket): Map<number, MailCount> =>
  new Map(
    bucket.stored.counts.flatMap((_, i): [number, MailCount][] => {
      const one = findCount(bucket, bucket.firstId + i);
      return one ? [[bucket.firstId + i, one]] : [];
    }),
  );

function toStored(bucket: number, counts: Map<number, MailCount>): StoredCounts {
  const since = Math.min(...[...counts.values()].map(({ lastAt }) => lastAt));
  const stored: StoredCounts = { counts: [], since, times: [] };
  const positions = [...counts.keys()].map((id) => id - bucket * contactsPerBucket);
  for (let i = 0; i <= Math.max(...positions); i++) {
    const one = counts.get(bucket * contactsPerBucket + i);
    stored.counts.push(one?.count ?? 0);
    stored.times.push(one ? one.lastAt - since : 0);
  }
  return stored;
}

const bucketsAtOnce = 100;

/**
 * Adds the mails of a fold to the buckets. Safe to repeat: a bucket takes each fold once, because
 * folds have increasing numbers and a fold ends before the next begins.
 */
export async function addToBuckets(
  site: SiteRef,
  fold: number,
  mails: Map<number, MailCount>,
): Promise<void> {
  const byBucket = Map.groupBy(mails, ([contactId]) => bucketOf(contactId));
  await inParallel(4, splitIntoBatches([...byBucket.keys()], bucketsAtOnce), (buckets) =>
    retryLosers("A bucket of mail counts", buckets, (open) =>
      addOnce(site, { fold, open, byBucket }),
    ),
  );
}

/** Returns the buckets that another worker changed in the meantime. */
async function addOnce(
  site: SiteRef,
  {
    fold,
    open,
    byBucket,
  }: { fold: number; open: number[]; byBucket: Map<number, [number, MailCount][]> },
): Promise<number[]> {
  const before = await getBuckets(site, open, { consistent: true });
  const changed = open.filter((bucket) => before.get(bucket)!.fold < fold);
  const writes = await Promise.all(
    changed.map(async (bucket) => {
      const { fold: fromFold } = before.get(bucket)!;
      const counts = toCounts(before.get(bucket)!);
      for (const [contactId, more] of byBucket.get(bucket)!) addMails(counts, contactId, more);
      const key = keys.mailCountBucket(site.orgId, site.siteId, bucket);
      return {
        bucket,
        key,
        fromFold,
        item: { fold, ...(await compress(key, toStored(bucket, counts))) },
      };
    }),
  );
  const [added, existing] = [
    writes.filter(({ fromFold }) => fromFold === 0),
    writes.filter(({ fromFold }) => fromFold > 0),
  ];
  const [areInserted, areUpdated] = await Promise.all([
    insertMany(added),
    updateMany(
      existing.map(({ key, fromFold, item }) => ({
        key,
        set: item,
        ifEquals: { fold: fromFold },
      })),
    ),
  ]);
  return [
    ...added.filter((_, i) => !areInserted[i]),
    ...existing.filter((_, i) => !areUpdated[i]),
  ].map(({ bucket }) => bucket);
}
