// How far the fan-out has come in each shard of contacts. A cursor advances in the transaction that
// adds the chunks, on the value that was read, so a late or repeated worker advances nothing.
import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import { put, queryAll, transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../../clock.ts";
import * as leases from "../../../kernel/leases.ts";
import { emailShards, keys, ranges } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import type { BroadcastRef } from "./broadcast.ts";

/**
 * The contacts whose email address changed during the fan-out. It is read after all other shards.
 */
export const movedShard = "late";

export interface FanOutCursor extends leases.Leased {
  shard: string;
  /** Number of advances so far. */
  n: number;
  /** Sort key of the last contact that was read. */
  after?: string;
  done?: true;
}

const addressOf = (ref: BroadcastRef, shard: string) => keys.fanOutCursor(ref.orgId, ref, shard);

/** One cursor for each shard, at its start. */
export const createCursorWrites = (key: BroadcastRef): Write[] =>
  [...emailShards, movedShard].map((shard) =>
    put(addressOf(key, shard), { shard, n: 0 } satisfies FanOutCursor),
  );

export const listCursors = (ref: BroadcastRef): Promise<FanOutCursor[]> =>
  queryAll<FanOutCursor>(ranges.fanOutCursors(ref.orgId, ref), { consistent: true });

/** Another worker can take the cursor: it is not at its end, and no lease is valid. */
export const isFree = ({ done, lease }: FanOutCursor): boolean =>
  !done && (lease ?? "") <= leases.endedBy(leaseSeconds).toISOString();

const leaseSeconds = queues.fanOut.timeoutSeconds + 30;
const until = (): string => addSeconds(leaseSeconds).toISOString();

/** Undefined if the cursor is at its end, leased by another worker, or missing. */
export const acquireCursor = (key: BroadcastRef, shard: string) =>
  leases.take<FanOutCursor>(addressOf(key, shard), {
    seconds: leaseSeconds,
    if: all(exists, absent("done")),
  });

/** `nextPosition`: where to continue, undefined at the end. */
export function advanceCursorWrite(
  key: BroadcastRef,
  { shard, n }: FanOutCursor,
  nextPosition: string | undefined,
): Write {
  const change =
    nextPosition === undefined
      ? { set: { done: true }, remove: ["after", "lease", "owner"] }
      : { set: { after: nextPosition, lease: until() } };
  return update(addressOf(key, shard), { ...change, add: { n: 1 } }, { if: unchangedCondition(n) });
}

// When a worker with an expired lease still runs beside a new one, the first that advances the
// cursor continues.
const unchangedCondition = (n: number) => all(equals("n", n), absent("done"));

export const toAdvancedCursor = (
  cursor: FanOutCursor,
  nextPosition: string | undefined,
): FanOutCursor => ({
  ...cursor,
  n: cursor.n + 1,
  ...(nextPosition === undefined ? { done: true } : { after: nextPosition }),
});

/** Ends the fan-out. A worker that is about to advance a cursor fails its condition. */
export async function stopCursors(key: BroadcastRef): Promise<void> {
  const open = (await listCursors(key)).filter(({ done }) => !done);
  const ending = { set: { done: true }, add: { n: 1 }, remove: ["after"] };
  await Promise.all(
    open.map(({ shard }) => transact(update(addressOf(key, shard), ending, { if: exists }))),
  );
}
