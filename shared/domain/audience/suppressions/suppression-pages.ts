// Lists suppressions: newest first across the 16 shards, and in the order of their hashes for
// exports.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { getMany, queryPages } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { maxReadAhead, readNewestFirst } from "../../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  positionParts,
  toPagination,
} from "../../../kernel/paging.ts";
import { inGroups } from "../../../kernel/parallel.ts";
import { emailShards, indexes, type Key, keys, ranges } from "../../../keys.ts";
import { getCounts, type Suppression, type SuppressionReason } from "./suppressions.ts";

/**
 * Newest first, with the exact total. Entries added in between do not shift later pages. A caller
 * who is limited to sites gets the addresses of their contacts only, without a total.
 */
export async function list(
  { orgId, siteIds }: CallerScope,
  { reason, ...request }: PageRequest & { reason?: SuppressionReason | undefined },
): Promise<{ items: Suppression[]; pagination: Pagination }> {
  if (siteIds) {
    const { items, next } = await collectOfSites({ orgId, siteIds }, request, reason);
    return { items, pagination: toPagination(request, null, next) };
  }
  const byReason = await getCounts(orgId);
  const totalOfAll = Object.values(byReason).reduce((sum, one) => sum + one, 0);
  const total = reason ? byReason[reason] : totalOfAll;
  const { items, next } = await collectNewest(orgId, request, {
    reason,
    readAheadFactor: totalOfAll / Math.max(total, 1),
  });
  return { items, pagination: toPagination(request, total, next) };
}

interface SuppressionIndexEntry {
  newsk: string;
  pk: string;
  sk: string;
}
const cursorOf = ({ newsk }: SuppressionIndexEntry): string =>
  newsk.slice(0, newsk.lastIndexOf("#"));
const timeAndHashPattern = new RegExp(`^${positionParts.time}#[0-9a-f]{64}$`);
const reasonOf = ({ newsk }: SuppressionIndexEntry): string =>
  newsk.slice(newsk.lastIndexOf("#") + 1);

interface ReasonFilter {
  reason: SuppressionReason | undefined;
  /** Number of entries to read for each entry with the reason. */
  readAheadFactor: number;
}

async function collectNewest(
  orgId: number,
  request: PageRequest,
  { reason, readAheadFactor }: ReasonFilter,
) {
  const skip = countSkipped(request);
  const wanted = skip + request.limit;
  const found: SuppressionIndexEntry[] = [];
  const size = Math.min(
    maxReadAhead,
    Math.ceil((wanted * readAheadFactor * 1.25) / emailShards.length) + 4,
  );
  const collections = emailShards.map((shard) => indexes.newSuppressions(orgId, shard));
  for await (const place of readNewestFirst<SuppressionIndexEntry>(
    collections,
    ({ newsk }) => newsk,
    {
      below: positionOf(request, timeAndHashPattern),
      size,
    },
  )) {
    if (!reason || reasonOf(place) === reason) found.push(place);
    if (found.length > wanted) break;
  }
  const places = found.slice(skip, wanted);
  const items = await getMany<Suppression>(places.map(({ pk, sk }) => ({ pk, sk })));
  const last = places.at(-1);
  return {
    // The index lags behind: it may still list removed entries and old reasons.
    items: items.filter(
      (item) => item !== undefined && (!reason || item.reason === reason),
    ) as Suppression[],
    next: found.length > wanted && last ? cursorOf(last) : undefined,
  };
}

// If few addresses are those of contacts, the page ends early, with a cursor to continue.
const maxScannedForSites = 1000;

async function collectOfSites(
  sites: Required<CallerScope>,
  request: PageRequest,
  reason: SuppressionReason | undefined,
) {
  const skip = countSkipped(request);
  const enough = skip + request.limit + 1;
  const collections = emailShards.map((shard) => indexes.newSuppressions(sites.orgId, shard));
  const places = readNewestFirst<SuppressionIndexEntry>(collections, ({ newsk }) => newsk, {
    below: positionOf(request, timeAndHashPattern),
    size: Math.ceil((enough * 1.25) / emailShards.length) + 4,
  });
  const found: { item: Suppression; next: string }[] = [];
  let scanned = 0;
  let stoppedAt: string | undefined;
  for await (const some of inGroups(places, 100)) {
    const wanted = some.filter((place) => !reason || reasonOf(place) === reason);
    const items = await getMany<Suppression>(wanted.map(({ pk, sk }) => ({ pk, sk })));
    const own = await findContactEmails(sites, items);
    found.push(
      ...wanted.flatMap((place, i) => {
        const item = items[i];
        const isListed = item && own.has(item.email) && (!reason || item.reason === reason);
        return isListed ? [{ item, next: cursorOf(place) }] : [];
      }),
    );
    scanned += some.length;
    if (found.length >= enough) break;
    stoppedAt = scanned >= maxScannedForSites ? cursorOf(some.at(-1)!) : undefined;
    if (stoppedAt) break;
  }
  const page = found.slice(skip, skip + request.limit);
  return {
    items: page.map(({ item }) => item),
    next: found.length >= enough ? page.at(-1)?.next : stoppedAt,
  };
}

/** The addresses that a contact of one of the sites has. Erased addresses have none. */
async function findContactEmails(
  { orgId, siteIds }: Required<CallerScope>,
  items: (Suppression | undefined)[],
): Promise<Set<string>> {
  const pairs = items.flatMap((item) =>
    item ? siteIds!.map((siteId) => ({ siteId, email: item.email })) : [],
  );
  const contacts = await getMany(
    pairs.map(({ siteId, email }) => keys.contact(orgId, siteId, email)),
  );
  return new Set(pairs.flatMap(({ email }, i) => (contacts[i] ? [email] : [])));
}

/**
 * Up to `limit` entries and about `maxBytes`, in the order of their hashes. This is the cheapest
 * way to read all. No `next` at the end.
 */
export async function readAll(
  orgId: number,
  {
    reason,
    limit,
    cursor,
    maxBytes,
  }: {
    reason?: SuppressionReason | undefined;
    limit: number;
    cursor?: string | undefined;
    maxBytes: number;
  },
): Promise<{ items: Suppression[]; next?: string }> {
  const items: Suppression[] = [];
  let place = positionOf({ cursor }, /^[0-9a-f]{64}$/);
  let bytes = 0;
  for (const shard of emailShards.slice(place ? emailShards.indexOf(place[0]!) : 0)) {
    const after = place?.startsWith(shard) ? place : undefined;
    for await (const item of readShard(orgId, shard, { after, reason })) {
      if (items.length === limit || bytes > maxBytes) return { items, next: place! };
      items.push(item);
      bytes += Buffer.byteLength(JSON.stringify(item));
      place = item.sk;
    }
  }
  return { items };
}

async function* readShard(
  orgId: number,
  shard: string,
  { after, reason }: { after: string | undefined; reason: SuppressionReason | undefined },
): AsyncGenerator<Suppression & Key> {
  const options = { limit: maxReadAhead, after, filter: reason && equals("reason", reason) };
  for await (const { items } of queryPages<Suppression & Key>(
    ranges.suppressions(orgId, shard),
    options,
  ))
    yield* items;
}
