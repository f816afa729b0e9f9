// Lists the sends of a site, newest first, with one entry for each single send or batch. The number
// of sends is counted on the shards of the account, in the write that charges them. Sends that are
// not charged are counted in items of their own, like those of organizations with so many sites
// that a shard would exceed 1 KB.
import { exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, queryPages, remove, update, type Write } from "../../adapters/dynamodb/table.ts";
import { mergeNewestFirst } from "../../kernel/newest-first.ts";
import { type PageRequest, positionOf, positionParts } from "../../kernel/paging.ts";
import * as shardedCounters from "../../kernel/sharded-counters.ts";
import {
  blockOf,
  counterShardOf,
  idsPerBlock,
  type KeyRange,
  keys,
  ranges,
  zeroPad,
} from "../../keys.ts";
import { countSiteSendsWrite } from "../identity/site-send-counts.ts";

interface FeedEntry {
  sk: string;
  id: number;
  n: number;
}

/**
 * A send in the feed. `next` is the position after it. `at` is the time of acceptance (ISO 8601),
 * if known. A single send is listed before it is stored, so readers skip a position without a send,
 * or whose send was accepted at another time.
 */
export interface FeedPosition {
  id: number;
  at?: string;
  /** The position may be of a block that was never accepted, so readers look for its entry. */
  staged?: true;
  next: string;
}

interface FeedEntryRef {
  siteId: number;
  /** Time of acceptance (ISO 8601). */
  at: string;
  firstId: number;
}

/** Sends with consecutive ids from `firstId` on, which share one entry. */
interface ListedSends extends FeedEntryRef {
  count: number;
}

/** Lists `count` sends from `firstId` on. Safe to repeat. */
export const addToFeedWrite = (orgId: number, { count, ...entry }: ListedSends): Write =>
  put(feedKey(orgId, entry), { id: entry.firstId, n: count }, { ifAbsent: true });

/** A plain write that lists a single send. Safe to repeat. */
export const listSingleWrite = (orgId: number, entry: FeedEntryRef): Write =>
  put(feedKey(orgId, entry), { id: entry.firstId, n: 1 });

/** Lists and counts the secure messages among these sends, in the same transaction. */
export const addToSecureFeedWrites = (
  orgId: number,
  { siteId, at, firstId, count, secureCount }: ListedSends & { secureCount: number },
): Write[] => [
  put(keys.secureFeed(orgId, siteId, feedSortKey(at, firstId)), { id: firstId, n: count }),
  update(keys.secureCount(orgId, siteId, counterShardOf(blockOf(firstId))), {
    add: { count: secureCount },
  }),
];

export const isListed = async (orgId: number, entry: FeedEntryRef): Promise<boolean> =>
  (await get(feedKey(orgId, entry))) !== undefined;

/** Removes the sends from the list and the count, once. */
export const removeFromFeedWrites = (
  orgId: number,
  { siteId, at, firstId, count }: ListedSends,
): [Write, Write] => [
  remove(feedKey(orgId, { siteId, at, firstId }), { if: exists }),
  countSiteSendsWrite(orgId, { siteId, n: -count }),
];

const feedSortKey = (at: string, firstId: number): string => `${at}#${zeroPad(firstId)}`;
const feedKey = (orgId: number, { siteId, at, firstId }: FeedEntryRef) =>
  keys.sendsFeed(orgId, siteId, feedSortKey(at, firstId));

export const countSecureSends = (orgId: number, siteIds: number[]): Promise<number> =>
  shardedCounters.sumShards(...siteIds.map((siteId) => ranges.secureCounts(orgId, siteId)));

/** `<entry>|<number of its sends that were returned>` */
const positionPattern = new RegExp(`^${positionParts.time}#${positionParts.id}\\|\\d{1,4}$`);

interface FeedSource {
  orgId: number;
  siteIds: number[];
  /** The feed of one site: all sends, or secure messages only. */
  range?: typeof ranges.sendsFeed;
  /** Only sends that were accepted before this time (ISO 8601). */
  before?: string | undefined;
}

/** Yields the sends of these sites, newest first, from the position of the cursor on. */
export async function* readFeed(
  { orgId, siteIds, range = ranges.sendsFeed, before }: FeedSource,
  request: PageRequest,
): AsyncGenerator<FeedPosition> {
  const [place, offset] = positionOf(request, positionPattern)?.split("|") ?? [];
  // The last page can end within an entry, so the entry is read again: "~" sorts after it.
  const feeds = siteIds.map((siteId) =>
    readEntries(range(orgId, siteId), place === undefined ? before : `${place}~`),
  );
  for await (const entry of mergeNewestFirst(feeds)) {
    const first = entry.sk === place ? Number(offset) : 0;
    const at = entry.sk.slice(0, entry.sk.indexOf("#"));
    for (let i = first; i < entry.n; i++)
      yield { id: entry.id + i, at, next: `${entry.sk}|${i + 1}` };
  }
}

/** Yields the ids of the single sends of a site that were created after `from`, up to `to`. */
export async function* readSinglesBetween(
  orgId: number,
  { siteId, from, to }: { siteId: number; from: string; to: string },
): AsyncGenerator<number[]> {
  // "~" sorts after the id of a send.
  const options = { after: `${from}~`, limit: 500, consistent: true };
  for await (const { items } of queryPages<FeedEntry>(ranges.sendsFeed(orgId, siteId), options)) {
    const inTime = items.filter(({ sk }) => sk <= `${to}~`);
    yield inTime.filter(isSingle).map(({ id }) => id);
    if (inTime.length < items.length) return;
  }
}

const isSingle = ({ n }: FeedEntry): boolean => n === 1;

/** The sends of a batch have the first `size` ids of its block. */
export async function* readBatch(
  batchId: number,
  size: number,
  request: PageRequest,
): AsyncGenerator<FeedPosition> {
  const from = Number(positionOf(request, /^\d{1,4}$/) ?? 0);
  for (let i = from; i < size; i++) yield { id: batchId * idsPerBlock + i, next: String(i + 1) };
}

async function* readEntries(from: KeyRange, start: string | undefined): AsyncGenerator<FeedEntry> {
  const options = { newestFirst: true, limit: 100, after: start };
  for await (const { items } of queryPages<FeedEntry>(from, options)) yield* items;
}
