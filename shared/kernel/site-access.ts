// Access to the records of a site. Requests, public pages and workers all check it here. When a
// site is deleted, its records do not exist from then on, even while a background job still erases
// them.

import { getTogether } from "../adapters/dynamodb/table.ts";
import { type CallerScope, requireSiteAccess } from "../caller.ts";
import type { Problem } from "../errors.ts";
import { keys } from "../keys.ts";
import { createLruCache } from "./lru-cache.ts";

/** An attribute of the organization's item, which every request reads. */
export interface DeletedSites {
  /** Ids of deleted sites whose records are not erased yet. */
  deletedSites?: Set<number>;
}

interface CacheEntry {
  sites: ReadonlySet<number>;
  /** Milliseconds of `performance.now()`. */
  until: number;
}

/**
 * The longest time until a process notices that another process deleted a site. The deleting
 * process knows at once.
 */
const cacheMs = 3000;
const cache = createLruCache<CacheEntry>(100_000);

/** Sites that this process has deleted. An eventually consistent read may still be without them. */
const ownDeletions = createLruCache<CacheEntry>(100_000);
const ownDeletionMs = 60_000;

/**
 * Costs at most 0.5 read units per 3 seconds. Requests pay nothing, because they read the
 * organization's item anyway.
 */
export async function deletedSites(orgId: number): Promise<ReadonlySet<number>> {
  const cached = readCache(cache, orgId);
  if (cached) return cached;
  const organization = await getTogether<DeletedSites>(keys.organization(orgId));
  return cacheDeletedSites(orgId, organization ?? {});
}

/** Caches the deleted sites of an organization's item that was just read. */
export function cacheDeletedSites(
  orgId: number,
  { deletedSites: stored = new Set() }: DeletedSites,
): ReadonlySet<number> {
  const sites = new Set([...stored, ...(readCache(ownDeletions, orgId) ?? [])]);
  cache.set(String(orgId), { sites, until: performance.now() + cacheMs }, 1);
  return sites;
}

/** Call it after the deletion is written. */
export function cacheDeletion(orgId: number, siteId: number): void {
  const sites = new Set([...(readCache(ownDeletions, orgId) ?? []), siteId]);
  ownDeletions.set(String(orgId), { sites, until: performance.now() + ownDeletionMs }, 1);
  cacheDeletedSites(orgId, { deletedSites: new Set(readCache(cache, orgId)) });
}

function readCache(source: typeof cache, orgId: number): ReadonlySet<number> | undefined {
  const entry = source.get(String(orgId));
  return entry && entry.until > performance.now() ? entry.sites : undefined;
}

export const isDeleted = async (orgId: number, siteId: number): Promise<boolean> =>
  (await deletedSites(orgId)).has(siteId);

/**
 * Throws `toMissing()` if the site was deleted, and 403 if the caller's key is bound to another
 * site.
 */
export async function permitSite(
  caller: CallerScope,
  siteId: number,
  toMissing: () => Problem,
): Promise<void> {
  if (await isDeleted(caller.orgId, siteId)) throw toMissing();
  requireSiteAccess(caller, siteId);
}
