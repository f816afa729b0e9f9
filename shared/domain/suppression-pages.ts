// Suppressions as lists: newest first across the 16 collections, and all of them in the order of their hashes for exports.
import { equals } from "../conditions.ts";
import { getMany, query } from "../doors/table.ts";
import { type Address, ranges, shards, shelves } from "../keys.ts";
import { decodeCursor, encodeCursor, type PageRequest, type Pagination, pagination, skipped } from "../paging.ts";
import { mostAhead, newest } from "./newest.ts";
import { counts, type Reason, type Suppression } from "./suppressions.ts";

/** One page, newest first, with the exact number of all. Entries that are added meanwhile shift no later page by cursor. */
export async function list(
  orgId: number,
  { reason, ...request }: PageRequest & { reason?: Reason | undefined },
): Promise<{ items: Suppression[]; pagination: Pagination }> {
  const byReason = await counts(orgId);
  const everything = Object.values(byReason).reduce((sum, one) => sum + one, 0);
  const total = reason ? byReason[reason] : everything;
  // How many entries are read past for each of the wanted reason.
  const { items, next } = await collect(orgId, request, reason, everything / Math.max(total, 1));
  return { items, pagination: pagination(request, total, next) };
}

/** Where an entry stands on the index. */
interface Place {
  newsk: string;
  pk: string;
  sk: string;
}
const timeAndHash = ({ newsk }: Place): string => newsk.slice(0, newsk.lastIndexOf("#"));
const reasonOf = ({ newsk }: Place): string => newsk.slice(newsk.lastIndexOf("#") + 1);

async function collect(orgId: number, request: PageRequest, reason: Reason | undefined, sparseness: number) {
  const skip = skipped(request);
  const wanted = skip + request.limit;
  const found: Place[] = [];
  const size = Math.min(mostAhead, Math.ceil((wanted * sparseness * 1.25) / shards.length) + 4);
  const collections = shards.map((shard) => shelves.newSuppressions(orgId, shard));
  for await (const place of newest<Place>(collections, ({ newsk }) => newsk, { below: decodeCursor(request.cursor), size })) {
    if (!reason || reasonOf(place) === reason) found.push(place);
    if (found.length > wanted) break;
  }
  const places = found.slice(skip, wanted);
  const items = await getMany<Suppression>(places.map(({ pk, sk }) => ({ pk, sk })));
  const last = places.at(-1);
  return {
    // The index lags a little behind: what has left the list, or changed its reason, is not shown any more.
    items: items.filter((item) => item !== undefined && (!reason || item.reason === reason)) as Suppression[],
    next: found.length > wanted && last ? timeAndHash(last) : undefined,
  };
}

/**
 * Up to `limit` entries, and not many more than `maxBytes` of them, in the order of their hashes: the cheap way to read all.
 * `next` is the cursor to go on with, absent at the end.
 */
export async function all(
  orgId: number,
  { reason, limit, cursor, maxBytes }: { reason?: Reason | undefined; limit: number; cursor?: string | undefined; maxBytes: number },
): Promise<{ items: Suppression[]; next?: string }> {
  const items: Suppression[] = [];
  let place = decodeCursor(cursor, (sk) => /^[0-9a-f]{64}$/.test(sk));
  let bytes = 0;
  for (const shard of shards.slice(place ? shards.indexOf(place[0]!) : 0)) {
    for await (const item of collection(orgId, shard, place?.startsWith(shard) ? place : undefined, reason)) {
      if (items.length === limit || bytes > maxBytes) return { items, next: encodeCursor(place!) };
      items.push(item);
      bytes += Buffer.byteLength(JSON.stringify(item));
      place = item.sk;
    }
  }
  return { items };
}

async function* collection(
  orgId: number,
  shard: string,
  begin: string | undefined,
  reason: Reason | undefined,
): AsyncGenerator<Suppression & Address> {
  let after = begin;
  do {
    const page = await query<Suppression & Address>(ranges.suppressions(orgId, shard), {
      limit: mostAhead,
      after,
      filter: reason && equals("reason", reason),
    });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
