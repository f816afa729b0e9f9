// Bulk mail waits in the lane of its sending config. One runner at a time (a lease) takes chunk after chunk, keeps the pace that
// single sends share, and cools down when the provider asks for it or fails five times in a row.
import { randomUUID } from "node:crypto";
import { after, now, sleep } from "../../clock.ts";
import { absent, all, any, atMost, equals, exists } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, query, update, updateReturning, type Write, write } from "../../doors/table.ts";
import { dueShard, keys, off, on, ranges, shelves, sortable } from "../../keys.ts";
import { queues } from "../../queues.ts";

interface Lane {
  /** Moves with every batch let in: whoever leaves the lane as empty must have seen the last. */
  arrivals: number;
  owner?: string;
  /** ISO 8601. */
  lease?: string;
  /** Failures of the provider in a row. */
  faults?: number;
  /** Nothing is handed over before (ms since 1970). */
  notBefore?: number;
  /** Up to when the pace is spoken for (ms since 1970). */
  clock?: number;
}

/** A chunk that waits, and how far each of its provider calls (`c0`, `c1`, ...) has come. */
export interface Waiting {
  pk: string;
  sk: string;
  block: number;
  chunk: number;
  n: number;
  siteId: number;
  /** When it may go (ISO 8601). */
  at: string;
  /** Recipients to a call, fixed when the first is claimed. */
  callSize?: number;
  [call: `c${number}`]: Claim | undefined;
  [done: `d${number}`]: true | undefined;
}

export interface Claim {
  /** ISO 8601: of this attempt, and of the first under the same idempotency key. */
  at: string;
  first: string;
  attempt: number;
  /** Lines left out, by index, with the reason. */
  skip: Record<string, string>;
}

/** What came of a chunk: it is done, or the lane has to wait. */
export interface Verdict {
  done: boolean;
  wait?: { why: "pace" | "fault"; seconds: number };
}

// A runner works this long, then makes room for another; the last call it starts still ends within the function's timeout.
const workSeconds = queues.lane.timeoutSeconds - 45;
const leaseSeconds = queues.lane.timeoutSeconds + 90;
const breakerFaults = 5;
const breakerSeconds = 60;
/** Longer waits are not slept through but sent to the queue as a delayed message. */
const longestNapMs = 2000;

/** Lets chunks into a lane; `at` is when they may go. */
export const queueing = (
  orgId: number,
  configId: number,
  waiting: Pick<Waiting, "block" | "chunk" | "n" | "siteId">[],
  at: string,
): Write[] => [
  ...waiting.map((one) => put(keys.waiting(orgId, configId, `5${at}#${sortable(one.block)}#${one.chunk}`), { ...one, at })),
  update(keys.lane(orgId, configId), {
    add: { arrivals: 1 },
    set: { orgId, configId },
    initialize: on(shelves.due("LANE", dueShard(configId)), at),
  }),
];

export const wake = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });

let windingUp = false;
/** While true, runners of this process stop after the call at hand and leave the rest to the queue. */
export const windUp = (on: boolean): void => {
  windingUp = on;
};

type HandOver = (waiting: Waiting, mayGoOn: () => boolean) => Promise<Verdict>;

/** Runs a lane until it is empty, has to wait, or time is up. Does nothing when another runner holds it. */
export async function run(orgId: number, configId: number, handOver: HandOver): Promise<void> {
  const until = after(workSeconds);
  const mayGoOn = () => now() < until && !windingUp;
  const owner = randomUUID();
  let lane = await lease(orgId, configId, owner);
  const address = keys.lane(orgId, configId);
  while (lane) {
    const cooling = ((lane.notBefore ?? 0) - now().getTime()) / 1000;
    if (cooling > 0 || !mayGoOn()) return rest(orgId, configId, owner, Math.max(cooling, 0));
    const { ready, nextAt } = await firstWaiting(orgId, configId);
    if (!ready && (await leave(orgId, configId, owner, lane.arrivals, nextAt))) return;
    const wait = ready && (await attempt(orgId, configId, owner, () => handOver(ready, mayGoOn))).wait;
    if (wait) return cool(orgId, configId, owner, wait, lane.faults ?? 0);
    if (lane.faults) await write(update(address, { remove: ["faults"] }));
    lane = ready && !lane.faults ? lane : await get<Lane>(address);
  }
}

// A bug or an outage of ours gives the lane back at once, instead of when the lease is over.
async function attempt(orgId: number, configId: number, owner: string, work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work();
  } catch (error) {
    await rest(orgId, configId, owner, 30);
    throw error;
  }
}

const lease = (orgId: number, configId: number, owner: string): Promise<Lane | undefined> => {
  const free = any(absent("lease"), atMost("lease", now().toISOString()));
  const until = after(leaseSeconds);
  const set = { owner, lease: until.toISOString(), ...dueAt(configId, until) };
  return updateReturning<Lane>(update(keys.lane(orgId, configId), { set }, { if: all(exists, free) }));
};

const dueAt = (configId: number, at: Date) => on(shelves.due("LANE", dueShard(configId)), at.toISOString());

async function firstWaiting(orgId: number, configId: number): Promise<{ ready?: Waiting; nextAt?: string }> {
  const { items } = await query<Waiting>(ranges.waiting(orgId, configId), { limit: 1, consistent: true });
  const [first] = items;
  if (!first) return {};
  return first.at <= now().toISOString() ? { ready: first } : { nextAt: first.at };
}

/** Gives the lane back, with nothing to do until `nextAt`. False when something has arrived meanwhile. */
function leave(orgId: number, configId: number, owner: string, arrivals: number, nextAt: string | undefined): Promise<boolean> {
  const unchanged = all(equals("owner", owner), equals("arrivals", arrivals));
  const set = nextAt === undefined ? {} : dueAt(configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? off("due") : [])];
  return claim(update(keys.lane(orgId, configId), { set, remove }, { if: unchanged }));
}

/** Gives the lane back with work left; a delayed message, and failing that a tick, goes on. */
async function rest(orgId: number, configId: number, owner: string, seconds: number, set: Partial<Lane> = {}): Promise<void> {
  const due = dueAt(configId, after(seconds + 60));
  await claim(update(keys.lane(orgId, configId), { set: { ...set, ...due }, remove: ["owner", "lease"] }, { if: equals("owner", owner) }));
  await wake(orgId, configId, seconds);
}

/** After 1, 2, 4 and 8 seconds the breaker opens for a minute; a provider that asks for a pace says how long itself. */
function cool(
  orgId: number,
  configId: number,
  owner: string,
  { why, seconds }: NonNullable<Verdict["wait"]>,
  earlier: number,
): Promise<void> {
  const faults = why === "fault" ? earlier + 1 : 0;
  const pause = faults >= breakerFaults ? breakerSeconds : Math.max(seconds, faults && 2 ** (faults - 1));
  return rest(orgId, configId, owner, pause, { notBefore: now().getTime() + pause * 1000, faults });
}

/**
 * Waits for `n` mails' turn at the pace of the config; single sends and calls of a lane draw from the same clock.
 * Answers with the seconds left to wait when that is too long to sleep: nothing is reserved then.
 */
export async function turn(orgId: number, config: { id: number; ratePerSecond?: number | undefined | null }, n: number): Promise<number> {
  const address = keys.lane(orgId, config.id);
  for (;;) {
    const lane: Partial<Lane> | undefined = await get<Lane>(address, { consistent: Boolean(config.ratePerSecond) });
    const cooling = (lane?.notBefore ?? 0) - now().getTime();
    const from = Math.max(lane?.clock ?? 0, now().getTime());
    const waitMs = Math.max(cooling, config.ratePerSecond ? from - now().getTime() : 0);
    if (waitMs > longestNapMs) return waitMs / 1000;
    const same = lane?.clock === undefined ? absent("clock") : equals("clock", lane.clock);
    const clock = from + (n * 1000) / (config.ratePerSecond ?? 1);
    if (config.ratePerSecond && !(await claim(update(address, { set: { clock }, initialize: { arrivals: 0 } }, { if: same })))) continue;
    if (waitMs > 0) await sleep(waitMs);
    return 0;
  }
}
