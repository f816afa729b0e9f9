// Feeds: JSON from a URL that a mail shows as `feed`. What was fetched is stored, so that each mail
// and each retry shows the same.
import { createHash } from "node:crypto";
import * as objects from "../../../adapters/s3/objects.ts";
import { invalid, missing } from "../../../errors.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";

// The values of a parsed JSON text need some times its characters.
const bytesPerCharacter = 8;
const feedCache = createLruCache<unknown>(32_000_000);

/**
 * Stores the JSON text and returns its S3 key. Safe to repeat. A lifecycle rule of the bucket
 * deletes it later than the mails that show it.
 */
export async function storeFeed(orgId: number, json: string): Promise<string> {
  const hash = createHash("sha256").update(json).digest("hex");
  const blob = `bodies/${orgId}/feeds/${hash}.json`;
  await objects.put(blob, Buffer.from(json), "application/json");
  return blob;
}

/** Throws `missing` if it is no longer stored. */
export async function loadFeed(blob: string): Promise<unknown> {
  const known = feedCache.get(blob);
  if (known !== undefined) return known;
  const bytes = await objects.get(blob);
  if (!bytes) throw missing("The feed of this mail is no longer stored");
  const json = Buffer.from(bytes).toString("utf8");
  const feed: unknown = JSON.parse(json);
  feedCache.set(blob, feed, json.length * bytesPerCharacter);
  return feed;
}

/** Stores it again, for the mails of a campaign that starts late. Throws 400 if it is gone. */
export async function keepFeed(orgId: number, blob: string): Promise<string> {
  const bytes = await objects.get(blob);
  if (!bytes)
    throw invalid("The items of the feed are no longer stored, so the campaign cannot start");
  return storeFeed(orgId, Buffer.from(bytes).toString("utf8"));
}
