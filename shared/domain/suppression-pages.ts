// Suppressions as lists: newest first across the 16 collections, and all of them in the order of their hashes for exports.
import { equals } from "../conditions.ts";
import { getMany, query } from "../doors/table.ts";
import { invalid } from "../errors.ts";
import { keys, ranges, shelves } from "../keys.ts";
import { decodeCursor, encodeCursor, type PageRequest, type Pagination, pagination, skipped } from "../paging.ts";
import { counts, type Reason, type Suppression } from "./suppressions.ts";

const shards = [..."0123456789abcdef"];

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
  const size = Math.min(scanSize, Math.ceil((wanted * sparseness * 1.25) / 16) + 4);
  for await (const place of newest(orgId, decodeCursor(request.cursor), size)) {
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

/** As many as one call can bring. */
const scanSize = 5000;

/** All places below a `time#hash`, newest first: 16 shelves merged, `size` places of each read ahead. */
async function* newest(orgId: number, below: string | undefined, size: number): AsyncGenerator<Place> {
  const piles: Pile[] = shards.map((shard) => ({ shard, places: [], taken: 0, after: undefined, dry: false }));
  for (;;) {
    while (piles.some(isEmpty))
      await Promise.all(piles.filter((pile) => left(pile) <= size / 4).map((pile) => refill(orgId, pile, below, size)));
    const full = piles.filter((pile) => left(pile));
    if (!full.length) return;
    const first = full.reduce((best, pile) => (head(pile).newsk > head(best).newsk ? pile : best));
    yield head(first);
    first.taken++;
  }
}

interface Pile {
  shard: string;
  places: Place[];
  taken: number;
  after: string | undefined;
  /** Nothing is left to be read. */
  dry: boolean;
}
const left = ({ places, taken }: Pile): number => places.length - taken;
const head = ({ places, taken }: Pile): Place => places[taken]!;
const isEmpty = (pile: Pile): boolean => !pile.dry && !left(pile);

async function refill(orgId: number, pile: Pile, below: string | undefined, limit: number) {
  if (pile.dry) return;
  const { items, next } = await query<Place>(shelves.newSuppressions(orgId, pile.shard), {
    newestFirst: true,
    limit,
    below,
    after: pile.after,
  });
  Object.assign(pile, { places: [...pile.places.slice(pile.taken), ...items], taken: 0, after: next, dry: next === undefined });
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
  let place = decodeCursor(cursor);
  if (place !== undefined && !/^[0-9a-f]{64}$/.test(place))
    throw invalid("cursor is not one that this list gave", { details: [{ path: "cursor", message: "unknown cursor" }] });
  let bytes = 0;
  for (const shard of shards.slice(place ? shards.indexOf(place[0]!) : 0)) {
    for await (const item of collection(orgId, shard, place?.startsWith(shard) ? place : undefined, reason)) {
      if (items.length === limit || bytes > maxBytes) return { items, next: encodeCursor(place!) };
      items.push(item);
      bytes += Buffer.byteLength(JSON.stringify(item));
      place = keys.suppression(orgId, item.email).sk;
    }
  }
  return { items };
}

async function* collection(
  orgId: number,
  shard: string,
  begin: string | undefined,
  reason: Reason | undefined,
): AsyncGenerator<Suppression> {
  let after = begin;
  do {
    const page = await query<Suppression>(ranges.suppressions(orgId, shard), {
      limit: scanSize,
      after,
      filter: reason && equals("reason", reason),
    });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
