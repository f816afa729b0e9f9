// The site of each host name of tracked links. A host name belongs to one site.
import { all, equals } from "../../adapters/dynamodb/conditions.ts";
import { get, remove, type Write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict } from "../../errors.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";

export interface HostOwner {
  orgId: number;
  siteId: number;
}

export const getHostOwner = (host: string): Promise<HostOwner | undefined> =>
  get<HostOwner>(keys.trackingHost(host));

export const isSameSite = (a: HostOwner | undefined, b: HostOwner): boolean =>
  a?.orgId === b.orgId && a.siteId === b.siteId;

/** The condition that a host belongs to the site. */
export const isHostOf = ({ orgId, siteId }: HostOwner) =>
  all(equals("orgId", orgId), equals("siteId", siteId));

/** Releases the host name, unless it belongs to another site by now. */
export async function releaseHostWrites(
  owner: HostOwner,
  host: string | undefined,
): Promise<Write[]> {
  if (host === undefined || !isSameSite(await getHostOwner(host), owner)) return [];
  const orThrow = conflict("The tracking domain changed at the same time: try again");
  return [remove(keys.trackingHost(host), { if: isHostOf(owner), orThrow })];
}

interface CachedOwner {
  owner: HostOwner | undefined;
  /** Milliseconds since 1970. */
  expires: number;
}
const cacheSeconds = 60;
const cachedOwners = createLruCache<CachedOwner>(10_000);

/**
 * The site whose host name a request has. Undefined: the address of the service, or another host
 * that leads to it. Is up to a minute old.
 */
export async function findSiteOfHost(hostHeader: string | undefined) {
  const host = hostHeader?.toLowerCase().replace(/:\d+$/, "");
  if (!host || host.length > 253 || host === new URL(config.publicUrl).hostname) return undefined;
  const cached = cachedOwners.get(host);
  if (cached && cached.expires > now().getTime()) return cached.owner;
  const owner = await getHostOwner(host);
  cachedOwners.set(host, { owner, expires: now().getTime() + cacheSeconds * 1000 }, 1);
  return owner;
}
