// The RSS feed of a series: its settings, what a change of them does, and what a run sends.
import * as z from "zod";
import { remove, type Write } from "../../../../adapters/dynamodb/table.ts";
import { now } from "../../../../clock.ts";
import { invalid } from "../../../../errors.ts";
import { QueryTime, Timestamp } from "../../../../kernel/record-fields.ts";
import { keys } from "../../../../keys.ts";
import { campaignMailFields } from "../../campaign-mail-fields.ts";
import { type FetchedRss, fetchRss, fetchRssIfChanged } from "./fetch-rss.ts";
import * as rssMemory from "./rss-memory.ts";
import type { RssFeed, RssItem } from "./rss-schema.ts";

const maxCampaignsPerRun = 10;

const settings = {
  url: campaignMailFields.feedUrl
    .unwrap()
    .describe(
      "Address of an RSS or Atom feed, with the rules of `feedUrl`. It is read when the series " +
        "is created and at each of its times. Its server is asked only for changes.",
    ),
  mode: z
    .enum(["digest", "each"])
    .describe("`digest`: one campaign with all new items. `each`: a campaign for each new item."),
  maxItems: z
    .int()
    .min(1)
    .max(50)
    .describe(
      "How many items a run sends, at most 50, or 10 with `each`. When more are new, the newest " +
        "are sent, and the others never.",
    ),
};

export const RssSource = z
  .object({
    ...settings,
    since: Timestamp.describe("Items that were published up to then are not sent."),
  })
  .meta({ id: "RssSource" });
export type RssSource = z.output<typeof RssSource>;

export const RssSourceInput = z
  .object({
    ...settings,
    mode: settings.mode.default("digest"),
    maxItems: settings.maxItems.default(maxCampaignsPerRun),
    since: QueryTime.optional().describe(
      "Items that were published up to then are not sent. Defaults to now, and in an update to " +
        "what it was while `url` stays the same. Items without a date are sent if they come into " +
        "the feed later.",
    ),
  })
  .refine(({ mode, maxItems }) => mode !== "each" || maxItems <= maxCampaignsPerRun, {
    error: `must be at most ${maxCampaignsPerRun} when each item has a campaign`,
    path: ["maxItems"],
  })
  .nullable()
  .describe(
    "An RSS or Atom feed whose new items the campaigns show as `feed.items`. A run without new " +
      "items sends nothing. No item is sent twice. `null`: none.",
  )
  .meta({ id: "RssSourceInput" });
export type RssSourceInput = z.output<typeof RssSourceInput>;

export const RssState = z
  .object({
    status: z
      .enum(["ok", "retrying", "failed"])
      .describe(
        "`ok`: it was read. `retrying`: it could not be read, and is tried again at `nextAt`. " +
          "`failed`: it could not be read several times, and is tried again at the next time of " +
          "the series.",
      ),
    error: z.string().nullable().describe("Why it could not be read. `null` if it was."),
    title: z.string().nullable().describe("Title of the feed when it was last read, or `null`."),
    checkedAt: Timestamp.describe("When it was last requested."),
  })
  .meta({ id: "RssState" });
export type RssState = z.output<typeof RssState>;

/** The attributes of a series about its feed. Absent in series of earlier versions: none. */
export interface StoredRss {
  rss?: RssSource | null;
  rssState?: RssState | null;
  /** How often the run that is due has failed to read it. */
  rssTries?: number;
}

type RssOwner = StoredRss & { orgId: number; id: number; feedUrl?: string | null };

/** Writes and attributes for a feed that was given. Throws 400 if it cannot be read. */
export async function changeRss(
  series: RssOwner,
  given: RssSourceInput,
): Promise<{ set: StoredRss; write: Write }> {
  const { orgId, id, rss: current } = series;
  if (given === null)
    return {
      set: { rss: null, rssState: null, rssTries: 0 },
      write: remove(keys.seriesFeed(orgId, id)),
    };
  const isSame = current?.url === given.url;
  const time = now().toISOString();
  const kept = isSame ? current.since : time;
  const rss = toSource(given, kept);
  const { since } = rss;
  const memory = isSame ? await rssMemory.readMemory(orgId, id) : rssMemory.noMemory;
  if (isSame && current.since === since)
    return { set: { rss }, write: await rssMemory.storeMemoryWrite(orgId, id, memory) };
  const fetched = await fetchRss(given.url);
  const next = rssMemory.rememberOldItems(memory, fetched, since);
  return {
    set: { rss, rssState: toOkState(fetched.feed.title), rssTries: 0 },
    write: await rssMemory.storeMemoryWrite(orgId, id, next),
  };
}

export const toSource = (
  { url, mode, maxItems, since }: NonNullable<RssSourceInput>,
  defaultSince: string,
): RssSource => ({
  ...{ url, mode, maxItems },
  since: since ? new Date(since).toISOString() : defaultSince,
});

/** Throws 400 if the series has two feeds. */
export function requireOneFeed({ rss, feedUrl }: Pick<RssOwner, "rss" | "feedUrl">): void {
  if (!rss || !feedUrl) return;
  const message = "A series has rss or feedUrl, not both: set one of them to null";
  throw invalid(message, { details: [{ path: "feedUrl", message }] });
}

const toOkState = (title: string | null): RssState => ({
  ...{ status: "ok", error: null },
  ...{ title, checkedAt: now().toISOString() },
});

export interface RssNews {
  newItems: number;
  /** The feed of each mail. None without new items. */
  feeds: RssFeed[];
  state: RssState;
  write?: Write;
}

/** What a run has to send. Throws 400 `feed_unavailable`. */
export async function readNews(
  { orgId, id, rssState }: RssOwner,
  rss: RssSource,
): Promise<RssNews> {
  const memory = await rssMemory.readMemory(orgId, id);
  const fetched = await fetchRssIfChanged(rss.url, memory.version);
  if (!fetched) return { newItems: 0, feeds: [], state: toOkState(rssState?.title ?? null) };
  const items = rssMemory.selectNewItems(fetched.feed.items, memory, rss.since);
  const next = rssMemory.remember(memory, fetched, items);
  return {
    newItems: items.length,
    feeds: toFeeds(fetched, items, rss),
    state: toOkState(fetched.feed.title),
    write: await rssMemory.storeMemoryWrite(orgId, id, next),
  };
}

/** For `each`, the oldest comes first, so that the newest is on top of the inbox. */
function toFeeds({ feed }: FetchedRss, items: RssItem[], { mode, maxItems }: RssSource) {
  const sent = items.slice(0, maxItems);
  if (!sent.length) return [];
  if (mode === "digest") return [{ ...feed, items: sent }];
  return sent.toReversed().map((item) => ({ ...feed, items: [item] }));
}

export interface RssPreview {
  feed: RssFeed;
  newItems: number;
}

/**
 * The feed of the next mail, as it is now. Shows the newest items as an example while none is new.
 * Without `stored`, the series is new. Throws 400 `feed_unavailable`.
 */
export async function previewRss(
  rss: RssSource,
  stored?: Pick<RssOwner, "orgId" | "id">,
): Promise<RssPreview> {
  const fetched = await fetchRss(rss.url);
  const memory = stored
    ? await rssMemory.readMemory(stored.orgId, stored.id)
    : rssMemory.rememberOldItems(rssMemory.noMemory, fetched, rss.since);
  const newItems = rssMemory.selectNewItems(fetched.feed.items, memory, rss.since);
  const shown = newItems.length ? newItems : fetched.feed.items;
  const [feed = { ...fetched.feed, items: [] }] = toFeeds(fetched, shown, rss);
  return { feed, newItems: newItems.length };
}

// After these seconds a feed that could not be read is tried again.
const retrySeconds = [60, 300, 900, 3600];

/** Undefined if it was tried often enough. */
export const secondsToRetry = ({ rssTries = 0 }: StoredRss): number | undefined =>
  retrySeconds[rssTries];

export const toFailedState = (
  { rssState }: StoredRss,
  error: string,
  status: "retrying" | "failed",
): RssState => ({
  ...{ status, error },
  title: rssState?.title ?? null,
  checkedAt: now().toISOString(),
});
