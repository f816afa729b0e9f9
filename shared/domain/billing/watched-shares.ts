// A share watches over the single sends that it pays for. An entry of its own on the due index
// costs a send 2 write units. A share instead has one entry for all of its sends: some minutes
// later, a sweep reads the feed and finds the sends that are not finished.
//
// The sweep first closes the shares up to a time. From then on, no send that was created before
// that time can be accepted with their watch, not even by a process that was paused. So the sweep
// misses no send.
import {
  all,
  atLeast,
  type Condition,
  equals,
  not,
  present,
} from "../../adapters/dynamodb/conditions.ts";
import { type ItemChanges, queryAll, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import {
  dueShardOf,
  indexAttributeNames,
  indexAttributes,
  indexes,
  keys,
  ranges,
} from "../../keys.ts";
import { countedSites } from "../identity/site-send-counts.ts";

/** A single send to be watched. */
export interface WatchedSend {
  sendId: number;
  /** ISO 8601 */
  createdAt: string;
  /** The share watches over the send even if it watches over no other. */
  startsWatch: boolean;
}

/** The attributes of a share that watches over sends. */
export interface ShareWatch {
  /** The sends created until then are finished or have due entries of their own (ISO 8601). */
  sweptTo?: string;
  /** No send created until then is accepted with the watch of this share (ISO 8601). */
  closedTo?: string;
  /**
   * The random id of the charge of the last send that the share watches over. Older versions stored
   * the id of the send.
   */
  lastSend?: string | number;
}

const frequentSeconds = 15;
const lastSends = createLruCache<number>(10_000);

/**
 * Whether this process has accepted another send of the organization a moment ago. The watch of a
 * share costs as much as the due entries of about four sends, so it does not pay for a lone send.
 */
export function areSendsFrequent(orgId: number): boolean {
  const time = now().getTime();
  const last = lastSends.get(String(orgId));
  lastSends.set(String(orgId), time, 1);
  return last !== undefined && Math.abs(time - last) < frequentSeconds * 1000;
}

/** Processes create sends in no order, so the watch begins before the send that starts it. */
const clockMarginSeconds = 60;
const sweepSeconds = 120;

/** What watching a send adds to the write that pays for it. Undefined if the share cannot. */
export function watchChanges(
  orgId: number,
  { sweptTo, closedTo }: ShareWatch,
  { createdAt, startsWatch, chargeId }: Omit<WatchedSend, "sendId"> & { chargeId: string },
): { changes: ItemChanges; condition: Condition } | undefined {
  const isClosed = [sweptTo, closedTo].some((time) => time !== undefined && time >= createdAt);
  if (isClosed || !(startsWatch || sweptTo)) return undefined;
  return {
    changes: {
      set: { lastSend: chargeId },
      setIfAbsent: {
        orgId,
        sweptTo: addSeconds(-clockMarginSeconds, new Date(createdAt)).toISOString(),
        ...dueIn(orgId, sweepSeconds),
      },
    },
    condition: all(not(atLeast("sweptTo", createdAt)), not(atLeast("closedTo", createdAt))),
  };
}

const dueIn = (orgId: number, seconds: number): Record<string, string> =>
  indexAttributes(indexes.due("SEND", dueShardOf(orgId)), addSeconds(seconds).toISOString());

export interface WatchingShare extends ShareWatch {
  shard: number;
  sweptTo: string;
  /** The sites whose sends it can watch over. */
  siteIds: number[];
}

/** The shares of the organization that watch over sends, by shard. */
export async function listWatchingShares(orgId: number): Promise<WatchingShare[]> {
  const shares = await queryAll<{ sk: string } & ShareWatch>(ranges.accountShares(orgId), {
    consistent: true,
  });
  return shares.flatMap(({ sweptTo, ...share }) =>
    sweptTo === undefined
      ? []
      : [{ ...share, sweptTo, shard: shardOf(share), siteIds: countedSites(share) }],
  );
}

export const shardOf = ({ sk }: { sk: string }): number => Number(sk.split("#")[1]);

export const closeShare = async (
  orgId: number,
  { shard }: WatchingShare,
  closedTo: string,
): Promise<void> => {
  await transact(
    update(
      keys.accountShare(orgId, shard),
      { set: { closedTo } },
      { if: not(atLeast("closedTo", closedTo)) },
    ),
  );
};

/** All sends until `sweptTo` are swept; there are more. */
export const continueWatch = async (
  orgId: number,
  { shard }: WatchingShare,
  { sweptTo, sweepsNext }: { sweptTo: string; sweepsNext?: "soon" | "now" | undefined },
): Promise<void> => {
  const due = sweepsNext && dueIn(orgId, sweepsNext === "now" ? 0 : sweepSeconds);
  await transact(
    update(
      keys.accountShare(orgId, shard),
      { set: { sweptTo, ...due } },
      { if: present("sweptTo") },
    ),
  );
};

/** Ends the watch unless the share has paid for a further send since `share` was read. */
export const endWatch = (orgId: number, { shard, lastSend }: WatchingShare): Promise<boolean> =>
  transact(
    update(
      keys.accountShare(orgId, shard),
      { remove: [...indexAttributeNames("due"), "sweptTo", "lastSend"] },
      { if: equals("lastSend", lastSend) },
    ),
  );
