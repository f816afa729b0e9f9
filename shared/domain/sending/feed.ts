// Which sends a site has, newest first: one entry for a single send, one for a batch, moved together with the site's count.
import { exists } from "../../conditions.ts";
import { get, put, query, queryAll, remove, update, type Write } from "../../doors/table.ts";
import { blockOf, countShardOf, idsPerBlock, keys, type Range, ranges, sortable } from "../../keys.ts";
import { newestOf } from "../../merge.ts";
import type { PageRequest } from "../../paging.ts";
import { decodeCursor } from "../../paging.ts";

interface Entry {
  sk: string;
  id: number;
  n: number;
}

/** A send's place in the feed; `next` is where to go on after it. */
export interface Place {
  id: number;
  next: string;
}

/** `n` sends from `firstId` on, listed once and counted once, however often this is written. */
export const listing = (orgId: number, siteId: number, at: string, firstId: number, n: number): [Write, Write] => [
  put(entryOf(orgId, siteId, at, firstId), { id: firstId, n }, { new: true }),
  update(keys.sendCount(orgId, siteId, countShardOf(blockOf(firstId))), { add: { count: n } }),
];

/** Beside it, in the same transaction: `count` of these `n` sends are secure messages. */
export const listingSecure = (orgId: number, siteId: number, at: string, firstId: number, n: number, count: number): Write[] => [
  put(keys.secureFeed(orgId, siteId, placeOf(at, firstId)), { id: firstId, n }),
  update(keys.secureCount(orgId, siteId, countShardOf(blockOf(firstId))), { add: { count } }),
];

export const isListed = async (orgId: number, siteId: number, at: string, firstId: number): Promise<boolean> =>
  (await get(entryOf(orgId, siteId, at, firstId))) !== undefined;

/** Off the list and the count again, once. */
export const unlisting = (orgId: number, siteId: number, at: string, firstId: number, n: number): [Write, Write] => [
  remove(entryOf(orgId, siteId, at, firstId), { if: exists }),
  update(keys.sendCount(orgId, siteId, countShardOf(blockOf(firstId))), { add: { count: -n } }),
];

const placeOf = (at: string, firstId: number): string => `${at}#${sortable(firstId)}`;
const entryOf = (orgId: number, siteId: number, at: string, firstId: number) => keys.sendsFeed(orgId, siteId, placeOf(at, firstId));

/** A feed: its entries and its counters. */
interface Book {
  entries(orgId: number, siteId: number): Range;
  counts(orgId: number, siteId: number): Range;
}
const sends: Book = { entries: ranges.sendsFeed, counts: ranges.sendCounts };
export const secure: Book = { entries: ranges.secureFeed, counts: ranges.secureCounts };

export async function total(orgId: number, siteIds: number[], { counts }: Book = sends): Promise<number> {
  const counters = await Promise.all(siteIds.map((siteId) => queryAll<{ count: number }>(counts(orgId, siteId))));
  return counters.flat().reduce((sum, { count }) => sum + count, 0);
}

/** All sends of these sites in order of time, newest first, from where a cursor stands. */
export async function* places(orgId: number, siteIds: number[], from: string | undefined, book: Book = sends): AsyncGenerator<Place> {
  const [place, offset] = from?.split("|") ?? [];
  // An entry may have been left in its middle, so it is read again: "~" sorts after it.
  const feeds = siteIds.map((siteId) => entries(book.entries(orgId, siteId), place === undefined ? undefined : `${place}~`));
  for await (const entry of newestOf(feeds)) {
    const first = entry.sk === place ? Number(offset) : 0;
    for (let i = first; i < entry.n; i++) yield { id: entry.id + i, next: `${entry.sk}|${i + 1}` };
  }
}

/** The sends of one batch are the first `size` of a block. */
export async function* placesOfBatch(batchId: number, size: number, { cursor }: PageRequest): AsyncGenerator<Place> {
  const from = Math.trunc(Number(decodeCursor(cursor) ?? 0));
  for (let i = Math.max(0, from); i < size; i++) yield { id: batchId * idsPerBlock + i, next: String(i + 1) };
}

async function* entries(from: Range, start: string | undefined): AsyncGenerator<Entry> {
  let after = start;
  do {
    const page = await query<Entry>(from, { newestFirst: true, limit: 100, after });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
