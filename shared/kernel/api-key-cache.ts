// API keys by the SHA-256 of the key. A process keeps a key for up to 5 seconds, so that requests
// in a row read it once. A revoked key stops at once in the process that revoked it, and within 5
// seconds everywhere else.
import { get } from "../adapters/dynamodb/table.ts";
import { now } from "../clock.ts";
import { keys } from "../keys.ts";
import { createLruCache } from "./lru-cache.ts";

export interface ApiKeyItem {
  orgId: number;
  keyId: number;
  userId: number;
  siteId?: number;
  scopes: string[];
  /** From then on, the key is not valid. */
  expiresAt?: string;
}

const cacheMs = 5000;
const cache = createLruCache<{ item: ApiKeyItem | undefined; readAt: number }>(10_000);
/** Increases when this process revokes a key: a read that began before must not be kept. */
let revocations = 0;

/** Undefined for a key that does not exist or has expired. */
export async function findApiKey(hash: string): Promise<ApiKeyItem | undefined> {
  const item = await findStored(hash);
  const hasExpired = item?.expiresAt !== undefined && item.expiresAt <= now().toISOString();
  return hasExpired ? undefined : item;
}

async function findStored(hash: string): Promise<ApiKeyItem | undefined> {
  const cached = cache.get(hash);
  const readAt = now().getTime();
  if (cached?.item && cached.readAt <= readAt && readAt < cached.readAt + cacheMs)
    return cached.item;
  const before = revocations;
  const item = await get<ApiKeyItem>(keys.apiKey(hash));
  if (before === revocations) cache.set(hash, { item, readAt }, 1);
  return item;
}

/** Call it after the key was deleted. */
export function forgetApiKey(hash: string): void {
  revocations++;
  cache.set(hash, { item: undefined, readAt: 0 }, 1);
}
