// Folds a log of the recipient index: moves its mails into pages by hash of the address. A fold
// writes 64 pages of 1 to 4 KB. Pages are a set: a mail that two runs have written is found once,
// so a run can be repeated and needs no lease.
import { getMany, put, remove, writeMany } from "../../../adapters/dynamodb/table.ts";
import { randomBase62 } from "../../../ids.ts";
import { type Key, keys } from "../../../keys.ts";
import { packMails, pageOf, positionOfMail } from "./indexed-mails.ts";
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
 * A recipient may be erased meanwhile, or another run may have folded entries and deleted them. So
 * the entries are read again after the pages are written, until the pages have what the log has.
 */
async function foldEntries({ orgId, log }: RecipientLog, entries: LogEntryItem[]): Promise<void> {
  // No mail of the pages is newer than their sort key: the entries are in the order of time.
  const newest = entries.flatMap(listMails).map(positionOfMail).toSorted().at(-1)!;
  const position = `${newest}#${randomBase62(8)}`;
  const keyOfPage = (page: number) => keys.recipientPage(orgId, { log, page }, position);
  const entryKeys = entries.map(({ sk }) => keys.recipientLogEntry(orgId, log, sk));
  let [previous, current]: [LogEntryItem[], LogEntryItem[]] = [[], entries];
  while (!areEqual(previous, current)) {
    await replacePages(keyOfPage, previous, current);
    const found = await getMany<LogEntryItem>(entryKeys, { consistent: true });
    [previous, current] = [current, found.flatMap((entry) => entry ?? [])];
  }
  await writeMany(current.map(({ sk }) => remove(keys.recipientLogEntry(orgId, log, sk))));
}

async function replacePages(
  keyOfPage: (page: number) => Key,
  previous: LogEntryItem[],
  current: LogEntryItem[],
): Promise<void> {
  const expires = Math.max(...current.map((entry) => entry.expires));
  const mails = Map.groupBy(current.flatMap(listMails), ({ tag }) => pageOf(tag));
  const pages = new Set(previous.flatMap(listMails).map(({ tag }) => pageOf(tag)));
  const emptyPages = [...pages].filter((page) => !mails.has(page));
  await writeMany([
    ...[...mails].map(([page, some]) => put(keyOfPage(page), { mails: packMails(some), expires })),
    ...emptyPages.map((page) => remove(keyOfPage(page))),
  ]);
}

const areEqual = (some: LogEntryItem[], others: LogEntryItem[]): boolean =>
  some.length === others.length &&
  some.every(({ tags }, i) => Buffer.compare(tags, others[i]!.tags) === 0);
