// Requests an RSS or Atom feed. A server that knows its version responds that nothing changed.
import type { PublicResponse } from "../../../../adapters/http/public-client.ts";
import { refuseFeed, requestFeed } from "../../campaign-feed.ts";
import { decodeXml } from "./decode-xml.ts";
import { parseRss } from "./parse-rss.ts";
import type { RssFeed } from "./rss-schema.ts";

/** The version of a feed, in the words of its server. */
export interface RssVersion {
  etag?: string;
  lastModified?: string;
}

export interface FetchedRss {
  feed: RssFeed;
  version: RssVersion;
}

const path = "rss.url";
const accept =
  "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1";
const maxVersionLength = 500;

/**
 * Undefined if the feed still has the `known` version. Throws 400 `feed_unavailable` that says why
 * it cannot be read.
 */
export async function fetchRssIfChanged(
  url: string,
  known: RssVersion,
): Promise<FetchedRss | undefined> {
  const { etag, lastModified } = known;
  const headers = {
    accept,
    ...(etag && { "if-none-match": etag }),
    ...(lastModified && { "if-modified-since": lastModified }),
  };
  const response = await requestFeed({ url, headers, decode: decodeXml }, path);
  const { status } = response;
  if (status === 304 && (etag || lastModified)) return undefined;
  if (status < 200 || status > 299) {
    const { location } = response.headers;
    const target = location ? `, which leads to ${location.slice(0, 200)}` : "";
    throw refuseFeed(`the server responded with status ${status}${target}`, path);
  }
  return { feed: parse(response.text, url), version: versionOf(response.headers) };
}

export const fetchRss = async (url: string): Promise<FetchedRss> =>
  (await fetchRssIfChanged(url, {}))!;

function parse(xml: string, url: string): RssFeed {
  const parsed = parseRss(xml, url);
  if ("fault" in parsed) throw refuseFeed(parsed.fault, path);
  return parsed.feed;
}

function versionOf({ etag, "last-modified": lastModified }: PublicResponse["headers"]): RssVersion {
  return {
    ...(etag && etag.length <= maxVersionLength && { etag }),
    ...(lastModified && lastModified.length <= maxVersionLength && { lastModified }),
  };
}
