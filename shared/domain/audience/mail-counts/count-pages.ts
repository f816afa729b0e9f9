// Pages of mail counts. A page has the counts of 128 consecutive contact ids in less than 1 KB, so
// a fold writes one unit for all of them.
import { getMany, insertMany, queryAll, updateMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { retryLosers } from "../../../kernel/retry-on-conflict.ts";
import { keys, ranges } from "../../../keys.ts";
import type { LoggedCall } from "./mail-log.ts";

const contactsPerPage = 128;
export const pageOf = (contactId: number): number => Math.floor(contactId / contactsPerPage);

/** The mails to one contact. */
export interface MailCount {
  count: number;
  /** When the last was handed over (milliseconds since 1970). */
  lastAt: number;
}

/** A million contacts have 7,800 pages, so a page stays as it is stored. */
export interface CountPage {
  /** Number of the last fold that changed it. 0: it does not exist. */
  fold: number;
  /** The contact id at its first position. */
  firstId: number;
  stored: StoredCounts;
}

interface CountPageItem extends CompressedValue {
  sk: string;
  fold: number;
}

/** By position in the page. The times are relative to the earliest. 0: no mail. */
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

/** By page number. A page that does not exist is empty. */
export async function getPages(
  { orgId, siteId }: SiteRef,
  pages: number[],
  { consistent }: { consistent: boolean },
): Promise<Map<number, CountPage>> {
  const items = await getMany<CountPageItem>(
    pages.map((page) => keys.mailCountPage(orgId, siteId, page)),
    { consistent },
  );
  const read = await Promise.all(items.map((item) => (item ? toPage(item) : undefined)));
  return new Map(pages.map((page, i) => [page, read[i] ?? emptyPage(page)]));
}

/** All pages of the site, by page number. */
export async function getAllPages({ orgId, siteId }: SiteRef): Promise<Map<number, CountPage>> {
  const items = await queryAll<CountPageItem>(ranges.mailCountPages(orgId, siteId));
  const read = await inParallel(100, items, toPage);
  return new Map(items.map(({ sk }, i) => [Number(sk), read[i]!]));
}

async function toPage(item: CountPageItem): Promise<CountPage> {
  return {
    fold: item.fold,
    firstId: Number(item.sk) * contactsPerPage,
    stored: await decompress<StoredCounts>(item),
  };
}

const emptyPage = (page: number): CountPage => ({
  fold: 0,
  firstId: page * contactsPerPage,
  stored: { counts: [], since: 0, times: [] },
});

/** Undefined without mails. */
export function findCount(
  { firstId, stored: { counts, since, times } }: CountPage,
  contactId: number,
): MailCount | undefined {
  const count = counts[contactId - firstId];
  return count ? { count, lastAt: since + times[contactId - firstId]! } : undefined;
}

/** By contact id. */
const toCounts = (page: CountPage): Map<number, MailCount> =>
  new Map(
    page.stored.counts.flatMap((_, i): [number, MailCount][] => {
      const one = findCount(page, page.firstId + i);
      return one ? [[page.firstId + i, one]] : [];
    }),
  );

function toStored(page: number, counts: Map<number, MailCount>): StoredCounts {
  const since = Math.min(...[...counts.values()].map(({ lastAt }) => lastAt));
  const stored: StoredCounts = { counts: [], since, times: [] };
  const positions = [...counts.keys()].map((id) => id - page * contactsPerPage);
  for (let i = 0; i <= Math.max(...positions); i++) {
    const one = counts.get(page * contactsPerPage + i);
    stored.counts.push(one?.count ?? 0);
    stored.times.push(one ? one.lastAt - since : 0);
  }
  return stored;
}

const pagesAtOnce = 100;

/**
 * Adds the mails of a fold to the pages. Safe to repeat: a page takes each fold once, because folds
 * have increasing numbers and a fold ends before the next begins.
 */
export async function addToPages(
  site: SiteRef,
  fold: number,
  mails: Map<number, MailCount>,
): Promise<void> {
  const byPage = Map.groupBy(mails, ([contactId]) => pageOf(contactId));
  await inParallel(4, splitIntoBatches([...byPage.keys()], pagesAtOnce), (pages) =>
    retryLosers("A page of mail counts", pages, (open) => addOnce(site, { fold, open, byPage })),
  );
}

/** Returns the pages that another worker changed in the meantime. */
async function addOnce(
  site: SiteRef,
  {
    fold,
    open,
    byPage,
  }: { fold: number; open: number[]; byPage: Map<number, [number, MailCount][]> },
): Promise<number[]> {
  const before = await getPages(site, open, { consistent: true });
  const changed = open.filter((page) => before.get(page)!.fold < fold);
  const writes = await Promise.all(
    changed.map(async (page) => {
      const { fold: fromFold } = before.get(page)!;
      const counts = toCounts(before.get(page)!);
      for (const [contactId, more] of byPage.get(page)!) addMails(counts, contactId, more);
      const key = keys.mailCountPage(site.orgId, site.siteId, page);
      return {
        page,
        key,
        fromFold,
        item: { fold, ...(await compress(key, toStored(page, counts))) },
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
  ].map(({ page }) => page);
}
