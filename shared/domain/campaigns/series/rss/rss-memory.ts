// Remembers the items of an RSS feed, so that each is sent at most once. An item is known by its
// id, and by its title with its date, which stay when a website moves and gives new ids. Items
// that are forgotten, because there are too many, are known by their date.
import { get, put, type Write } from "../../../../adapters/dynamodb/table.ts";
import { now } from "../../../../clock.ts";
import {
  type CompressedValue,
  compress,
  decompress,
} from "../../../../kernel/compressed-values.ts";
import { keys, sha256 } from "../../../../keys.ts";
import type { FetchedRss, RssVersion } from "./fetch-rss.ts";
import type { RssItem } from "./rss-schema.ts";

/** Hash of the id, hash of title and date, minute of publication, and 1 if it was new. */
type Entry = [string, string, number, 0 | 1];

export interface RssMemory {
  version: RssVersion;
  /** Newest first. */
  entries: Entry[];
  /** Items up to this time may have been forgotten. */
  forgottenUntil?: string;
}

interface StoredMemory extends CompressedValue, RssVersion {
  forgottenUntil?: string;
}

// Twice the items that are read of a feed.
const maxEntries = 1000;

export const noMemory: RssMemory = { version: {}, entries: [] };

export async function readMemory(orgId: number, seriesId: number): Promise<RssMemory> {
  const item = await get<StoredMemory>(keys.seriesFeed(orgId, seriesId));
  if (!item) return noMemory;
  const { etag, lastModified, forgottenUntil } = item;
  return {
    version: { ...(etag && { etag }), ...(lastModified && { lastModified }) },
    entries: await decompress<Entry[]>(item),
    ...(forgottenUntil && { forgottenUntil }),
  };
}

export async function storeMemoryWrite(
  orgId: number,
  seriesId: number,
  { version, entries, forgottenUntil }: RssMemory,
): Promise<Write> {
  const key = keys.seriesFeed(orgId, seriesId);
  return put(key, {
    ...version,
    ...(forgottenUntil && { forgottenUntil }),
    ...(await compress(key, entries)),
  });
}

const hash = (text: string): string =>
  Buffer.from(sha256(text).slice(0, 24), "hex").toString("base64url");

const minutesOf = (time: string): number => Math.floor(Date.parse(time) / 60_000);

function toEntry(item: RssItem, isNew: boolean): Entry {
  const { id, title, link, publishedAt } = item;
  return [
    hash(id),
    hash(JSON.stringify([title, publishedAt ?? link])),
    publishedAt ? minutesOf(publishedAt) : 0,
    isNew ? 1 : 0,
  ];
}

/** The items that were published after `since` and are not known, newest first. */
export function selectNewItems(items: RssItem[], memory: RssMemory, since: string): RssItem[] {
  const known = new Set<string | number>(memory.entries.flat());
  const { forgottenUntil = since } = memory;
  const earliest = since > forgottenUntil ? since : forgottenUntil;
  return items.filter((item) => {
    const [id, text] = toEntry(item, false);
    const isOld = item.publishedAt !== null && item.publishedAt <= earliest;
    return !isOld && !known.has(id) && !known.has(text);
  });
}

/** The memory after a run that read the feed and found these new items. */
export function remember(
  memory: RssMemory,
  { feed, version }: FetchedRss,
  newItems: RssItem[],
): RssMemory {
  const isNew = new Set(newItems);
  const before = new Map(memory.entries.map((entry) => [entry[0], entry]));
  const current = feed.items.map((item) => {
    const entry = toEntry(item, isNew.has(item));
    // A text that the website changed afterwards is known as it was, too.
    return before.get(entry[0]) ?? entry;
  });
  const inFeed = new Set(current.map(([id]) => id));
  const all = [...current, ...memory.entries.filter(([id]) => !inFeed.has(id))];
  const lastMinute = minutesOf(now().toISOString());
  const minutes = all.slice(maxEntries).map((entry) => Math.min(entry[2], lastMinute));
  const forgotten = Math.max(0, ...minutes);
  const forgottenUntil = [
    ...(forgotten ? [new Date((forgotten + 1) * 60_000).toISOString()] : []),
    ...(memory.forgottenUntil ? [memory.forgottenUntil] : []),
  ].sort();
  return {
    version,
    entries: all.slice(0, maxEntries),
    ...(forgottenUntil.length && { forgottenUntil: forgottenUntil.at(-1)! }),
  };
}

/**
 * The memory for the first run: it knows the items that are not newer than `since`, and those
 * without a date. What was sent before stays known.
 */
export function rememberOldItems(
  memory: RssMemory,
  { feed }: FetchedRss,
  since: string,
): RssMemory {
  const old = feed.items.filter(({ publishedAt }) => publishedAt === null || publishedAt <= since);
  const sent = memory.entries.filter(([, , , isNew]) => isNew);
  const kept = { ...memory, entries: sent };
  // Without the version, because items of the feed are still to be sent.
  return remember(kept, { feed: { ...feed, items: old }, version: {} }, []);
}
