// A lease on an item. One worker at a time processes the item, and each of its writes checks that
// it still owns the lease.
import {
  absent,
  all,
  any,
  atMost,
  type Condition,
  equals,
} from "../adapters/dynamodb/conditions.ts";
import {
  type ItemChanges,
  transact,
  update,
  updateReturning,
  type Write,
} from "../adapters/dynamodb/table.ts";
import { addSeconds, now, sleep } from "../clock.ts";
import * as ids from "../ids.ts";
import type { Key } from "../keys.ts";

/** The attributes of a lease on its item. */
export interface Leased {
  /** The random token of the worker that has the lease. */
  owner?: string;
  /** When the lease ends (ISO 8601). */
  lease?: string;
}

export interface Lease {
  key: Key;
  owner: string;
}

/**
 * Set if this process is the only one on its data since this time, so that leases of earlier
 * processes are over.
 */
let aloneSince: Date | undefined;

/**
 * Called by a service on one machine before it takes its first lease. Some leases end at a whole
 * second, rounded down, so it waits for the next second: then all leases of this process end later
 * than those of earlier ones.
 */
export async function aloneFromNow(): Promise<void> {
  aloneSince = now();
  await sleep(1000 - (aloneSince.getTime() % 1000));
}

/**
 * Leases of this duration with an end up to the returned time are over: they expired, or their
 * process has ended.
 */
export function endedBy(seconds: number): Date {
  const time = now();
  const ofEarlierProcess = aloneSince && addSeconds(seconds, aloneSince);
  return ofEarlierProcess && ofEarlierProcess > time ? ofEarlierProcess : time;
}

interface TakeOptions {
  seconds: number;
  /** More changes in the same write. */
  set?: ItemChanges["set"];
  /** An extra condition on the item. */
  if?: Condition;
}

/**
 * Takes the lease and returns it with the changed item. Returns undefined if another worker owns it
 * or `if` does not hold. If the SDK repeats the write after a lost response, the repetition finds
 * its own token and succeeds.
 */
export async function take<T>(
  key: Key,
  { seconds, set = {}, if: condition }: TakeOptions,
): Promise<{ lease: Lease; item: T } | undefined> {
  const owner = ids.randomBase62(12);
  const free = any(
    absent("lease"),
    atMost("lease", endedBy(seconds).toISOString()),
    equals("owner", owner),
  );
  const leaseSet = { owner, lease: addSeconds(seconds).toISOString() };
  const item = await updateReturning<T>(
    update(key, { set: { ...set, ...leaseSet } }, { if: condition ? all(free, condition) : free }),
  );
  return item && { lease: { key, owner }, item };
}

/** The worker still has the lease. */
export const isOwnerCondition = ({ owner }: Pick<Lease, "owner">): Condition =>
  equals("owner", owner);

/**
 * Changes the leased item in one transaction with `others`. Returns false and changes nothing if
 * the lease was lost. The SDK may repeat the write, so `changes` sets values and never adds to
 * them.
 */
export const change = (
  lease: Lease,
  changes: Pick<ItemChanges, "set" | "remove">,
  ...others: Write[]
): Promise<boolean> =>
  transact(update(lease.key, changes, { if: isOwnerCondition(lease) }), ...others);

/**
 * Lets another worker take the item immediately, and makes the other changes. Returns false if the
 * lease was lost.
 */
export const release = (lease: Lease, set: ItemChanges["set"] = {}): Promise<boolean> =>
  change(lease, { set: { ...set, lease: new Date(0).toISOString() } });

/** Makes the last change and removes the lease. Returns false if the lease was lost. */
export const finish = (
  lease: Lease,
  { set, remove = [] }: Parameters<typeof change>[1],
): Promise<boolean> =>
  change(lease, { ...(set && { set }), remove: [...remove, "owner", "lease"] });
