// Which sends a site has, newest first: one entry for a single send, one for a batch. How many they are is counted on the account of the
// organization, in the write that takes them from its plan; and in items of their own where nothing is taken, or where the sites are so
// many that the account would outgrow its kilobyte.
import { absent, type Condition, equals, exists } from "../../conditions.ts";
import { check, get, getMany, put, query, queryAll, remove, update, type Write } from "../../doors/table.ts";
import type { Problem } from "../../errors.ts";
import { blockOf, countShardOf, idsPerBlock, keys, type Range, ranges, sortable } from "../../keys.ts";
import { newestOf } from "../../merge.ts";
import type { PageRequest } from "../../paging.ts";
import { decodeCursor } from "../../paging.ts";
import * as counters from "../counters.ts";

interface Entry {
  sk: string;
  id: number;
  n: number;
}

/**
 * A send's place in the feed; `next` is where to go on after it. It is of the send that was made `at` (ISO 8601), where that is known: a
 * single send is listed before it is made, and one that was never made, or anew at another time, is to be passed over.
 */
export interface Place {
  id: number;
  at?: string;
  next: string;
}

/** `n` sends from `firstId` on, listed once, however often this is written. */
export const listing = (orgId: number, siteId: number, at: string, firstId: number, n: number): Write =>
  put(entryOf(orgId, siteId, at, firstId), { id: firstId, n }, { new: true });

/** Sends of a site. */
export interface Some {
  siteId: number;
  n: number;
}

const prefix = "sends.";
const mostOnAccount = 32;

/** The attribute of this account that counts the sends of a site; undefined when they are to be counted apart, with `counting`. */
export function counter(account: object, siteId: number): string | undefined {
  const name = `${prefix}${siteId}`;
  const names = Object.keys(account).filter((one) => one.startsWith(prefix));
  return names.includes(name) || names.length < mostOnAccount ? name : undefined;
}

export const counting = (orgId: number, { siteId, n }: Some): Write => update(keys.sendCount(orgId, siteId), { add: { count: n } });

/** Beside it, in the same transaction: `count` of these `n` sends are secure messages. */
export const listingSecure = (orgId: number, siteId: number, at: string, firstId: number, n: number, count: number): Write[] => [
  put(keys.secureFeed(orgId, siteId, placeOf(at, firstId)), { id: firstId, n }),
  update(keys.secureCount(orgId, siteId, countShardOf(blockOf(firstId))), { add: { count } }),
];

export const isListed = async (orgId: number, siteId: number, at: string, firstId: number): Promise<boolean> =>
  (await get(entryOf(orgId, siteId, at, firstId))) !== undefined;

/** Off the list and the count again, once. */
export const unlisting = (orgId: number, siteId: number, at: string, firstId: number, n: number): [Write, Write] => [
  remove(entryOf(orgId, siteId, at, firstId), { if: exists }),
  counting(orgId, { siteId, n: -n }),
];

const placeOf = (at: string, firstId: number): string => `${at}#${sortable(firstId)}`;
const entryOf = (orgId: number, siteId: number, at: string, firstId: number) => keys.sendsFeed(orgId, siteId, placeOf(at, firstId));

export async function total(orgId: number, siteIds: number[]): Promise<number> {
  const [account, apart] = await Promise.all([
    get<Record<string, number>>(keys.account(orgId), { consistent: false }),
    queryAll<{ sk: string; count: number }>(ranges.sendCounts(orgId)),
  ]);
  const counted = new Map(apart.map(({ sk, count }) => [sk, count]));
  return siteIds.reduce((sum, id) => sum + (account?.[`${prefix}${id}`] ?? 0) + (counted.get(keys.sendCount(orgId, id).sk) ?? 0), 0);
}

/** Holds as long as the site has no sends, else fails with `otherwise`. */
export async function checkNone(orgId: number, siteId: number, otherwise: Problem): Promise<Write[]> {
  const [onAccount, apart] = [keys.account(orgId), keys.sendCount(orgId, siteId)];
  const [account, own] = await getMany<Record<string, number>>([onAccount, apart], { consistent: true });
  const [n, m] = [account?.[`${prefix}${siteId}`], own?.count];
  if ((n ?? 0) + (m ?? 0)) throw otherwise;
  return [check(onAccount, as(`${prefix}${siteId}`, n), otherwise), check(apart, as("count", m), otherwise)];
}

const as = (attribute: string, n: number | undefined): Condition => (n === undefined ? absent(attribute) : equals(attribute, n));

export const totalSecure = (orgId: number, siteIds: number[]): Promise<number> =>
  counters.total(...siteIds.map((siteId) => ranges.secureCounts(orgId, siteId)));

/** All sends of these sites in order of time, newest first, from where a cursor stands. */
export async function* places(orgId: number, siteIds: number[], from: string | undefined, book = ranges.sendsFeed): AsyncGenerator<Place> {
  const [place, offset] = from?.split("|") ?? [];
  // An entry may have been left in its middle, so it is read again: "~" sorts after it.
  const feeds = siteIds.map((siteId) => entries(book(orgId, siteId), place === undefined ? undefined : `${place}~`));
  for await (const entry of newestOf(feeds)) {
    const first = entry.sk === place ? Number(offset) : 0;
    const at = entry.sk.slice(0, entry.sk.indexOf("#"));
    for (let i = first; i < entry.n; i++) yield { id: entry.id + i, at, next: `${entry.sk}|${i + 1}` };
  }
}

/** The sends of one batch are the first `size` of a block. */
export async function* placesOfBatch(batchId: number, size: number, { cursor }: PageRequest): AsyncGenerator<Place> {
  const from = Math.trunc(Number(decodeCursor(cursor) ?? 0));
  for (let i = Math.max(0, from); i < size; i++) yield { id: batchId * idsPerBlock + i, next: String(i + 1) };
}

async function* entries(from: Range, start: string | undefined): AsyncGenerator<Entry> {
  let after = start;
  do {
    const page = await query<Entry>(from, { newestFirst: true, limit: 100, after });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
