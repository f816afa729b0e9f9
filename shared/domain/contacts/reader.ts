// All contacts of a site: 16 collections side by side, page by page, with what DynamoDB can decide pushed into the query.
// Segments, exports, campaigns and free filters of the list read through here. In each collection the order is by address.
import type { Condition } from "../../conditions.ts";
import { count as countOf, type Page, query } from "../../doors/table.ts";
import { ranges, shards } from "../../keys.ts";
import { decodeCursor, type PageRequest, skipped } from "../../paging.ts";
import { inParallel } from "../../parallel.ts";
import type { ContactItem } from "./contact.ts";

/** Which contacts are wanted; all of them when it says nothing. */
export interface Wanted {
  /** What DynamoDB decides. */
  filter?: Condition | undefined;
  /** What it cannot: asked of those that passed the filter. */
  matches?: ((contact: ContactItem) => boolean) | undefined;
  /** All that `matches` looks at, by the names of attributes: who is only counted need not be brought over whole. */
  attributes?: string[] | undefined;
}

interface Reading extends Wanted {
  after?: string | undefined;
  /** With these attributes and no others. */
  only?: string[] | undefined;
}

/** As many contacts as one call can bring: 1 MB. */
const mostAtOnce = 5000;

/**
 * One collection, page by page: `limit` contacts are looked at for each, so a page may be short or empty. Its `next` is where to
 * go on `after` when the work is taken up again; the last page has none.
 */
export async function* scan(
  orgId: number,
  siteId: number,
  shard: string,
  { after, limit = mostAtOnce, ...wanted }: Reading & { limit?: number } = {},
): AsyncGenerator<Page<ContactItem>> {
  let place = after;
  do {
    const page = await read(orgId, siteId, shard, { ...wanted, after: place, limit });
    yield page;
    place = page.next;
  } while (place !== undefined);
}

async function read(
  orgId: number,
  siteId: number,
  shard: string,
  { filter, matches, only, after, limit }: Reading & { limit: number },
): Promise<Page<ContactItem>> {
  const page = await query<ContactItem>(ranges.contacts(orgId, siteId, shard), { filter, only, after, limit });
  return matches ? { ...page, items: page.items.filter(matches) } : page;
}

/** Exact, by reading all of the site: 76 units to 1,000 contacts. */
export async function count(orgId: number, siteId: number, { filter, matches, attributes }: Wanted = {}): Promise<number> {
  const counted = await inParallel(shards.length, shards, (shard) =>
    matches
      ? matching(orgId, siteId, shard, { filter, matches, only: attributes })
      : countOf(ranges.contacts(orgId, siteId, shard), { filter }),
  );
  return counted.reduce((sum, n) => sum + n, 0);
}

async function matching(orgId: number, siteId: number, shard: string, wanted: Reading): Promise<number> {
  let total = 0;
  for await (const { items } of scan(orgId, siteId, shard, wanted)) total += items.length;
  return total;
}

/** Reads of 1 MB that one page may cost, about 1.5 million contacts; then it ends short, with a cursor to go on. */
const mostReads = 1000;

/**
 * One page over the whole site, by address. `next` is the address to go on after: contacts that are made or removed meanwhile
 * shift no later page. A page may be short and yet have a `next`, when hardly any of very many contacts are wanted.
 */
export async function page(
  orgId: number,
  siteId: number,
  request: PageRequest,
  wanted: Wanted,
): Promise<{ items: ContactItem[]; next?: string | undefined }> {
  const skip = skipped(request);
  const enough = skip + request.limit + 1;
  const found: ContactItem[] = [];
  const size = Math.min(mostAtOnce, Math.ceil((enough * 1.25) / shards.length) + 4);
  for await (const { items, reach, reads } of byAddress(orgId, siteId, decodeCursor(request.cursor), wanted, size)) {
    found.push(...items);
    if (found.length >= enough) break;
    if (reads >= mostReads && found.length >= skip) return { items: found.slice(skip), next: reach };
  }
  const items = found.slice(skip, skip + request.limit);
  return { items, next: found.length >= enough ? items.at(-1)?.sk : undefined };
}

/** A collection on its way: what is read and not yet given, and how far it was read. */
interface Strand {
  shard: string;
  items: ContactItem[];
  reach: string | undefined;
  done: boolean;
}

/** Runs of contacts in the order of their addresses, each with the address up to which all are told; undefined at the end. */
async function* byAddress(
  orgId: number,
  siteId: number,
  after: string | undefined,
  wanted: Wanted,
  size: number,
): AsyncGenerator<{ items: ContactItem[]; reach: string | undefined; reads: number }> {
  const strands: Strand[] = shards.map((shard) => ({ shard, items: [], reach: after, done: false }));
  let reads = 0;
  for (let limit = size; ; limit = Math.min(limit * 2, mostAtOnce)) {
    const behind = strands.filter(({ items, done }) => !done && !items.length);
    await Promise.all(behind.map((strand) => extend(orgId, siteId, strand, wanted, limit)));
    reads += behind.length;
    const reach = nearest(strands);
    yield { items: strands.flatMap((strand) => given(strand, reach)).sort((a, b) => (a.sk < b.sk ? -1 : 1)), reach, reads };
    if (reach === undefined) return;
  }
}

async function extend(orgId: number, siteId: number, strand: Strand, wanted: Wanted, limit: number): Promise<void> {
  const { items, next } = await read(orgId, siteId, strand.shard, { ...wanted, after: strand.reach, limit });
  strand.items.push(...items);
  strand.done = next === undefined;
  strand.reach = next;
}

/** How far every collection has been read. */
const nearest = (strands: Strand[]): string | undefined =>
  strands
    .flatMap(({ done, reach }) => (done ? [] : [reach!]))
    .reduce<string | undefined>((least, one) => (least === undefined || one < least ? one : least), undefined);

/** Takes out what lies within reach. */
function given(strand: Strand, reach: string | undefined): ContactItem[] {
  const end = reach === undefined ? strand.items.length : strand.items.findIndex(({ sk }) => sk > reach);
  return strand.items.splice(0, end < 0 ? strand.items.length : end);
}
