// How far the fan-out has come in each collection of contacts. A cursor moves in the transaction that lets its people in, on the value
// that was read: whoever is late or comes twice moves nothing.
import { after, now } from "../../clock.ts";
import { absent, all, any, atMost, equals, exists } from "../../conditions.ts";
import { claim, put, queryAll, update, updateReturning, type Write } from "../../doors/table.ts";
import { keys, ranges, shards } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { Key } from "./broadcast.ts";

/** Who took another address while the others were reached; after all of them. */
export const late = "late";

export interface Cursor {
  shard: string;
  /** Moves so far. */
  n: number;
  /** Sort key of the last contact that is dealt with. */
  after?: string;
  done?: true;
  /** ISO 8601 */
  lease?: string;
}

const addressOf = ({ orgId, kind, id }: Key, shard: string) => keys.fanOutCursor(orgId, kind, id, shard);

/** One for each collection, at its beginning. */
export const opening = (key: Key): Write[] =>
  [...shards, late].map((shard) => put(addressOf(key, shard), { shard, n: 0 } satisfies Cursor));

export const list = ({ orgId, kind, id }: Key): Promise<Cursor[]> =>
  queryAll<Cursor>(ranges.fanOutCursors(orgId, kind, id), { consistent: true });

/** Nobody is at it. */
export const isFree = ({ done, lease }: Cursor): boolean => !done && (lease ?? "") <= now().toISOString();

const leaseSeconds = queues.fanOut.timeoutSeconds + 30;
const until = (): string => after(leaseSeconds).toISOString();

/** Undefined when it is done, in other hands, or not there. */
export async function take(key: Key, shard: string): Promise<Cursor | undefined> {
  const free = any(absent("lease"), atMost("lease", now().toISOString()));
  const rule = { if: all(exists, absent("done"), free) };
  return updateReturning<Cursor>(update(addressOf(key, shard), { set: { lease: until() } }, rule));
}

/** `place`: where to go on, undefined at the end. */
export function moving(key: Key, { shard, n }: Cursor, place: string | undefined): Write {
  const change = place === undefined ? { set: { done: true }, remove: ["after", "lease"] } : { set: { after: place, lease: until() } };
  return update(addressOf(key, shard), { ...change, add: { n: 1 } }, { if: asRead(n) });
}

// Of two at it, one whose time was over, whoever moves first goes on.
const asRead = (n: number) => all(equals("n", n), absent("done"));

export const moved = (cursor: Cursor, place: string | undefined): Cursor => ({
  ...cursor,
  n: cursor.n + 1,
  ...(place === undefined ? { done: true } : { after: place }),
});

/** For somebody else to go on. */
export const giveBack = (key: Key, { shard, n }: Cursor): Promise<boolean> =>
  claim(update(addressOf(key, shard), { remove: ["lease"] }, { if: asRead(n) }));

/** Nobody goes on. Whoever was about to move it cannot any more. */
export async function stop(key: Key): Promise<void> {
  const open = (await list(key)).filter(({ done }) => !done);
  const ending = { set: { done: true }, add: { n: 1 }, remove: ["after"] };
  await Promise.all(open.map(({ shard }) => claim(update(addressOf(key, shard), ending, { if: exists }))));
}
