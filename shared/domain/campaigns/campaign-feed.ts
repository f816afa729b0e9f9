// The feed of a campaign: JSON that is fetched from its `feedUrl`, once at the start.
import { NoResponse } from "../../adapters/http/no-response.ts";
import {
  type PublicRequest,
  type PublicResponse,
  requestPublicUrl,
} from "../../adapters/http/public-client.ts";
import { addSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { invalid, type Problem } from "../../errors.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keepFeed, storeFeed } from "../sending/rendering/feeds.ts";

export interface Feed {
  json: string;
  value: unknown;
}

const timeoutSeconds = 10;
const maxBytes = 1_000_000;

export const feedUnavailable = "feed_unavailable";

/** Throws 400 `feed_unavailable` that says why. */
async function fetchFeed(url: string): Promise<Feed> {
  const { status, text } = await request(url);
  if (status < 200 || status > 299) throw refuseFeed(`the server responded with status ${status}`);
  // A byte order mark is no JSON.
  const json = text.replace(/^\uFEFF/, "");
  return { json, value: parseFeed(json) };
}

const request = (url: string): Promise<PublicResponse> =>
  requestFeed({ url, headers: { accept: "application/json" } });

/** With the limits of feeds. Without a response, throws 400 `feed_unavailable` for `path`. */
export async function requestFeed(
  input: Pick<PublicRequest, "url" | "headers" | "decode">,
  path?: string,
): Promise<PublicResponse> {
  try {
    return await requestPublicUrl({
      ...input,
      ...{ timeoutSeconds, maxBytes, allowLoopback: config.allowLoopbackWebhooks },
      headers: { ...input.headers, "user-agent": "Pennymail-Feeds" },
    });
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    throw refuseFeed(toClause(error.reason), path);
  }
}

const toClause = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

function parseFeed(json: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw refuseFeed("the response is not JSON");
  }
  if (typeof value !== "object" || value === null)
    throw refuseFeed("the response is neither a JSON object nor a list");
  return value;
}

/** 400 `feed_unavailable`. The field with the URL is `path`. */
export function refuseFeed(reason: string, path = "feedUrl"): Problem {
  const message = `The feed could not be read: ${reason}`;
  return invalid(message, { code: feedUnavailable, details: [{ path, message }] });
}

const startTries = 2;

/** For a start that somebody waits for. */
export async function fetchFeedWithRetry(url: string): Promise<Feed> {
  for (let tries = 1; ; tries++) {
    try {
      return await fetchFeed(url);
    } catch (error) {
      if (tries >= startTries) throw error;
    }
  }
}

/** Fetches the feed of a plan, and stores it for the mails. Returns its S3 key, if it has one. */
export async function storeFeedOfPlan(
  orgId: number,
  { feedUrl, feed }: { feedUrl?: string; feed?: string },
): Promise<string | undefined> {
  if (feedUrl) return storeFeed(orgId, (await fetchFeedWithRetry(feedUrl)).json);
  return feed && keepFeed(orgId, feed);
}

interface RecentFeed {
  feed: unknown;
  until: Date;
}

const recentSeconds = 60;
const bytesPerCharacter = 8;
const recentFeeds = createLruCache<RecentFeed>(16_000_000);

/** For previews and proofs: as it was within the last minute. */
export async function getRecentFeed(orgId: number, url: string): Promise<unknown> {
  const cacheKey = `${orgId} ${url}`;
  const known = recentFeeds.get(cacheKey);
  if (known && now() < known.until) return known.feed;
  const { json, value } = await fetchFeed(url);
  const entry = { feed: value, until: addSeconds(recentSeconds) };
  recentFeeds.set(cacheKey, entry, json.length * bytesPerCharacter);
  return value;
}
