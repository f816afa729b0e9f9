// Folds a log of the recipient index: moves its mails into buckets by hash of the address. A fold
// writes 64 buckets of 1 to 4 KB. Buckets are a set: a mail that two workers have written is found
// once, so a fold can be repeated and needs no lease.
import { getMany, put, remove, writeMany } from "../../../adapters/dynamodb/table.ts";
import { randomBase62 } from "../../../ids.ts";
import { type Key, keys } from "../../../keys.ts";
import { bucketOf, packMails, positionOfMail } from "./indexed-mails.ts";
import {
  type LogEntryItem,
  listMails,
  minEntriesPerFold,
  minMailsPerFold,
  type RecipientLog,
  readLog,
} from "./recipient-log.ts";

const maxMailsPerFold = 16_000;

/** Does nothing while the log has less than 4,000 mails and 400 entries. */
export async function foldRecipientLog(log: RecipientLog): Promise<void> {
  for (const entries of splitIntoFolds(await readLog(log))) await foldEntries(log, entries);
}

/** The last entries stay in the log if they are too few. */
function splitIntoFolds(entries: LogEntryItem[]): LogEntryItem[][] {
  const folds: LogEntryItem[][] = [];
  let some: LogEntryItem[] = [];
  let mails = 0;
  for (const [i, entry] of entries.entries()) {
    some.push(entry);
    mails += listMails(entry).length;
    const isLast = i === entries.length - 1;
    const isEnough = mails >= minMailsPerFold || some.length >= minEntriesPerFold;
    if (isLast ? !isEnough : mails < maxMailsPerFold) continue;
    folds.push(some);
    [some, mails] = [[], 0];
  }
  return folds;
}

/**
 * A recipient may be erased meanwhile, or another worker may have folded entries and deleted them.
 * So the entries are read again after the buckets are written, until the buckets have what the log
 * has.
 */
async function foldEntries({ orgId, log }: RecipientLog, entries: LogEntryItem[]): Promise<void> {
  // No mail of the buckets is newer than their sort key: the entries are in the order of time.
  const newest = entries.flatMap(listMails).map(positionOfMail).toSorted().at(-1)!;
  const position = `${newest}#${randomBase62(8)}`;
  const keyOfBucket = (bucket: number) => keys.recipientBucket(orgId, { log, bucket }, position);
  const entryKeys = entries.map(({ sk }) => keys.recipientLogEntry(orgId, log, sk));
  let [previous, current]: [LogEntryItem[], LogEntryItem[]] = [[], entries];
  while (!areEqual(previous, current)) {
    await replaceBuckets(keyOfBucket, previous, current);
    const found = await getMany<LogEntryItem>(entryKeys, { consistent: true });
    [previous, current] = [current, found.flatMap((entry) => entry ?? [])];
  }
  await writeMany(current.map(({ sk }) => remove(keys.recipientLogEntry(orgId, log, sk))));
}

async function replaceBuckets(
  keyOfBucket: (bucket: number) => Key,
  previous: LogEntryItem[],
  current: LogEntryItem[],
): Promise<void> {
  const expires = Math.max(...current.map((entry) => entry.expires));
  const mails = Map.groupBy(current.flatMap(listMails), ({ tag }) => bucketOf(tag));
  const buckets = new Set(previous.flatMap(listMails).map(({ tag }) => bucketOf(tag)));
  const emptyBuckets = [...buckets].filter((bucket) => !mails.has(bucket));
  await writeMany([
    ...[...mails].map(([bucket, some]) =>
      put(keyOfBucket(bucket), { mails: packMails(some), expires }),
    ),
    ...emptyBuckets.map((bucket) => remove(keyOfBucket(bucket))),
  ]);
}

const areEqual = (some: LogEntryItem[], others: LogEntryItem[]): boolean =>
  some.length === others.length &&
  some.every(({ tags }, i) => Buffer.compare(tags, others[i]!.tags) === 0);
