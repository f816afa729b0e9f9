// Bulk mail waits in the lane of its sending config. One runner at a time (a lease) takes chunk after chunk, at the pace that
// single sends share. Whoever lets mail in or goes away leaves the lane on the due index, so that it is never forgotten.
import { randomUUID } from "node:crypto";
import { after, now, sleep } from "../../clock.ts";
import { absent, all, any, atMost, type Condition, equals, exists, present } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, query, remove, update, updateReturning, type Write, write } from "../../doors/table.ts";
import { type Address, dueShard, keys, off, on, ranges, shelves, sortable } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { longestNapMs, type Pace, pausing, relieve, type Wait } from "./pace.ts";
import type { KeyTerm } from "./provider-call.ts";
import type { Source } from "./sources.ts";

interface Lane extends Pace {
  /** Moves with every batch let in: whoever leaves the lane as empty must have seen the last. */
  arrivals: number;
  owner?: string;
  /** ISO 8601. */
  lease?: string;
}

/** A chunk that waits, and how far each of its provider calls (`c0`, `c1`, ...) has come. */
export interface Waiting {
  pk: string;
  sk: string;
  block: number;
  chunk: number;
  n: number;
  siteId: number;
  /** When it may go (ISO 8601), and first might when it was set aside since. */
  at: string;
  since?: string;
  /** Recipients to a call, fixed when the first is claimed. */
  callSize?: number;
  /** Lines that were cancelled while it waited. */
  cancels?: number;
  /** Of marketing mail: what it belongs to, and how many of its lines are done with. */
  source?: Source;
  doneLines?: number;
  /** Rises with every claim and every end of a call: who takes the chunk elsewhere must have seen the last. */
  moves?: number;
  [call: `c${number}`]: Claim | undefined;
  [done: `d${number}`]: true | undefined;
  configId?: number;
}

/** The last attempt at a call. */
export interface Claim {
  attempt: number;
  /** Of the worker that claimed it, and nobody else. */
  by: string;
  /** Of the first question that may have been heard; absent where the provider has no keys. */
  key?: KeyTerm | undefined;
  /** Mail by mail, not in the provider's batch form. */
  alone?: true | undefined;
  /** Lines left out, by index, with the reason. */
  skip: Record<string, string>;
  /** Lines that are asked for later, by index. */
  later?: number[] | undefined;
}

/** What came of a chunk: it is done with, or the lane has to wait. */
export interface Verdict {
  done: boolean;
  wait?: Wait | undefined;
  /** Something of it was settled. */
  moved: boolean;
  /** It can go on after so long; those behind it need not wait. */
  asideSeconds?: number | undefined;
}

// A runner works this long, then makes room for another; the last call it starts still ends within the function's timeout.
const workSeconds = queues.lane.timeoutSeconds - 45;
const leaseSeconds = queues.lane.timeoutSeconds + 90;
/** Until when the queue is given to bring a runner before a tick looks after the lane. */
const graceSeconds = 60;
const repairSeconds = 30;

/** Where a chunk waits. */
export const placeOf = (orgId: number, configId: number, place: Pick<Waiting, "block" | "chunk" | "at">): Address =>
  keys.waiting(orgId, configId, sortOf(place));

export const sortOf = ({ block, chunk, at }: Pick<Waiting, "block" | "chunk" | "at">): string => `5${at}#${sortable(block)}#${chunk}`;

/** Lets chunks into a lane. It is due at once, though they may have to wait: the next runner sets it to when there is work. */
export const queueing = (orgId: number, configId: number, waiting: Pick<Waiting, "block" | "chunk" | "n" | "siteId" | "at">[]): Write[] => [
  ...waiting.map((one) => put(placeOf(orgId, configId, one), one)),
  arriving(orgId, configId),
];

const arriving = (orgId: number, configId: number): Write =>
  update(keys.lane(orgId, configId), { add: { arrivals: 1 }, set: { orgId, configId, ...dueAt(configId, now()) } });

/**
 * For those who let chunks in by transactions of their own, many side by side, which would all meet at the lane: to be told after
 * the transaction, and again by whoever takes up the work of one who died.
 */
export async function arrived(orgId: number, configId: number): Promise<void> {
  await write(arriving(orgId, configId));
  await wake(orgId, configId);
}

export const wake = (orgId: number, configId: number, delaySeconds = 0): Promise<void> =>
  enqueue(queues.lane, [{ orgId, configId }], { group: orgId, delaySeconds });

/** Nobody has done anything to the chunk since it was read, not even a runner whose lease is over. */
export const asRead = ({ moves, cancels }: Waiting): Condition =>
  all(
    exists,
    moves === undefined ? absent("moves") : equals("moves", moves),
    cancels === undefined ? absent("cancels") : equals("cancels", cancels),
  );

/** Lets those behind it pass, for so long. False when it has changed meanwhile. */
export async function setAside(orgId: number, configId: number, { pk, sk }: Address, seconds: number): Promise<boolean> {
  const waiting = await get<Waiting>({ pk, sk });
  if (!waiting) return false;
  const { pk: _, sk: __, ...rest } = waiting;
  const later = { ...rest, at: after(Math.max(seconds, 1)).toISOString(), since: rest.since ?? rest.at };
  return claim(remove({ pk, sk }, { if: asRead(waiting) }), put(placeOf(orgId, configId, later), later));
}

let windingUp = false;
/** While true, runners of this process stop after the call at hand and leave the rest to the queue. */
export const windUp = (on: boolean): void => {
  windingUp = on;
};

/** A lane in the hands of one runner. */
interface Held {
  orgId: number;
  configId: number;
  owner: string;
}

/** `beside`: chunks that are handed over side by side, this one included: they share the calls that may be in flight. */
type HandOver = (waiting: Waiting, mayGoOn: () => boolean, heldSince: string | undefined, beside: number) => Promise<Verdict>;

/** Runs a lane until it is empty, has to wait, or time is up. Does nothing when another runner holds it. */
export async function run(orgId: number, configId: number, handOver: HandOver): Promise<void> {
  const until = after(workSeconds);
  const mayGoOn = () => now() < until && !windingUp;
  const held = { orgId, configId, owner: randomUUID() };
  let lane = await lease(held);
  while (lane?.owner === held.owner) {
    const coolingMs = (lane.notBefore ?? 0) - now().getTime();
    // Who began the pause has sent a message for its end.
    if (coolingMs > longestNapMs) return release(held, coolingMs / 1000);
    if (coolingMs > 0) await sleep(coolingMs);
    if (!mayGoOn()) return rest(held, 0);
    lane = await step(held, lane, handOver, mayGoOn);
  }
}

/** One chunk, or some small ones. Answers with the lane as it is then; undefined when it was given back. */
async function step(held: Held, lane: Lane, handOver: HandOver, mayGoOn: () => boolean): Promise<Lane | undefined> {
  const { ready, nextAt } = await firstWaiting(held, isTroubled(lane) ? 1 : mostBeside);
  if (!ready.length) return (await leave(held, lane.arrivals, nextAt)) ? undefined : get<Lane>(laneOf(held));
  const { wait, moved } = await attempt(held, () => sideBySide(ready.map((one) => handOver(one, mayGoOn, lane.heldSince, ready.length))));
  if (!wait) return isTroubled(lane) ? ((await relieve(held.orgId, held.configId)) as Lane) : lane;
  if (wait.why === "turn") await rest(held, wait.seconds);
  else {
    const { seconds, marks } = pausing(wait, moved ? {} : lane);
    await rest(held, seconds, marks);
  }
  return undefined;
}

const isTroubled = ({ faults, heldSince }: Lane): boolean => Boolean(faults || heldSince);

/** As if they were one chunk. Calls in flight are waited for when one fails: nobody else may take the lane while they are. */
async function sideBySide(chunks: Promise<Verdict>[]): Promise<Verdict> {
  const settled = await Promise.allSettled(chunks);
  const verdicts = settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  const waits = verdicts.flatMap(({ wait }) => wait ?? []).sort((a, b) => a.seconds - b.seconds);
  return {
    done: verdicts.every(({ done }) => done),
    wait: waits.find(({ why }) => why !== "turn") ?? waits[0],
    moved: verdicts.some(({ moved }) => moved),
  };
}

// A bug or an outage of ours gives the lane back soon, instead of when the lease is over. Without a message: the failed one
// comes again, and each of them sending another would be an avalanche.
async function attempt(held: Held, work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work();
  } catch (error) {
    await release(held, repairSeconds);
    throw error;
  }
}

const laneOf = ({ orgId, configId }: Held): Address => keys.lane(orgId, configId);
const dueAt = (configId: number, at: Date) => on(shelves.due("LANE", dueShard(configId)), at.toISOString());

/** The lane as it then is, whoever has it. */
const lease = async (held: Held): Promise<Lane | undefined> => {
  const free = any(absent("lease"), atMost("lease", now().toISOString()));
  const until = after(leaseSeconds);
  const set = { owner: held.owner, lease: until.toISOString(), ...dueAt(held.configId, until) };
  const mine = await updateReturning<Lane>(update(laneOf(held), { set }, { if: all(present("arrivals"), free) }));
  // The SDK may have asked twice, and been told of its own first time.
  return mine ?? get<Lane>(laneOf(held));
};

// Sequences and small audiences come in small chunks, each with a call of its own: one after the other they would take as long as
// large ones.
const mostBeside = 4;
const mostMailsBeside = 500;

/** What may go: a chunk, or up to `most` small ones that are no more mails than a large one. Else when the first may. */
async function firstWaiting({ orgId, configId }: Held, most: number): Promise<{ ready: Waiting[]; nextAt?: string }> {
  const { items } = await query<Waiting>(ranges.waiting(orgId, configId), { limit: most, consistent: true });
  const [first] = items;
  if (!first) return { ready: [] };
  const at = now().toISOString();
  if (first.at > at) return { ready: [], nextAt: first.at };
  let mails = 0;
  const small = items.findIndex((one) => {
    mails += one.n;
    return one.at > at || !one.source || mails > mostMailsBeside;
  });
  return { ready: items.slice(0, small < 0 ? items.length : Math.max(1, small)) };
}

/** Gives the lane back, with nothing to do until `nextAt`. False when something has arrived meanwhile. */
async function leave(held: Held, arrivals: number, nextAt: string | undefined): Promise<boolean> {
  const unchanged = all(equals("owner", held.owner), equals("arrivals", arrivals));
  const set = nextAt === undefined ? {} : dueAt(held.configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? off("due") : [])];
  if (!(await claim(update(laneOf(held), { set, remove }, { if: unchanged })))) return false;
  // A tick may be a minute late: what a message can carry is in time.
  const waitSeconds = nextAt === undefined ? Number.POSITIVE_INFINITY : (Date.parse(nextAt) - now().getTime()) / 1000;
  if (waitSeconds <= 900) await wake(held.orgId, held.configId, Math.max(waitSeconds, 0));
  return true;
}

/** Gives the lane back with work left; a delayed message, and failing that a tick, goes on. */
async function rest(held: Held, seconds: number, marks: Pace = {}): Promise<void> {
  await release(held, seconds, marks);
  await wake(held.orgId, held.configId, seconds);
}

async function release(held: Held, seconds: number, marks: Pace = {}): Promise<void> {
  const set = { ...marks, ...dueAt(held.configId, after(seconds + graceSeconds)) };
  await claim(update(laneOf(held), { set, remove: ["owner", "lease"] }, { if: equals("owner", held.owner) }));
}
