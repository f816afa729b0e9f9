// One runner at a time (a lease) takes chunk after chunk of a lane, at the pace that single sends share. One that goes away leaves the
// lane on the due index.
import { randomUUID } from "node:crypto";
import { after, now, sleep } from "../../clock.ts";
import { absent, all, any, atMost, equals, present } from "../../conditions.ts";
import { claim, get, query, update, updateReturning } from "../../doors/table.ts";
import { type Address, keys, off, ranges } from "../../keys.ts";
import { queues } from "../../queues.ts";
import * as lanes from "./lanes.ts";
import { longestNapMs, type Pace, pausing, relieve } from "./pace.ts";

interface Lane extends Pace {
  /** Moves with every batch let in: whoever leaves the lane as empty must have seen the last. */
  arrivals: number;
  owner?: string;
  /** ISO 8601. */
  lease?: string;
}

// A runner works this long, then makes room for another; the last call it starts still ends within the function's timeout.
const workSeconds = queues.lane.timeoutSeconds - 45;
const leaseSeconds = queues.lane.timeoutSeconds + 90;
/** Until when the queue is given to bring a runner before a tick looks after the lane. */
const graceSeconds = 60;
const repairSeconds = 30;

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
type HandOver = (waiting: lanes.Waiting, mayGoOn: () => boolean, heldSince: string | undefined, beside: number) => Promise<lanes.Verdict>;

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
async function sideBySide(chunks: Promise<lanes.Verdict>[]): Promise<lanes.Verdict> {
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
async function attempt(held: Held, work: () => Promise<lanes.Verdict>): Promise<lanes.Verdict> {
  try {
    return await work();
  } catch (error) {
    await release(held, repairSeconds);
    throw error;
  }
}

const laneOf = ({ orgId, configId }: Held): Address => keys.lane(orgId, configId);

/** The lane as it then is, whoever has it. */
const lease = async (held: Held): Promise<Lane | undefined> => {
  const free = any(absent("lease"), atMost("lease", now().toISOString()));
  const until = after(leaseSeconds);
  const set = { owner: held.owner, lease: until.toISOString(), ...lanes.dueAt(held.configId, until) };
  const mine = await updateReturning<Lane>(update(laneOf(held), { set }, { if: all(present("arrivals"), free) }));
  // The SDK may have asked twice, and been told of its own first time.
  return mine ?? get<Lane>(laneOf(held));
};

// Sequences and small audiences come in small chunks, each with a call of its own: one after the other they would take as long as
// large ones.
const mostBeside = 4;
const mostMailsBeside = 500;

/** What may go: a chunk, or up to `most` small ones that are no more mails than a large one. Else when the first may. */
async function firstWaiting({ orgId, configId }: Held, most: number): Promise<{ ready: lanes.Waiting[]; nextAt?: string }> {
  const { items } = await query<lanes.Waiting>(ranges.waiting(orgId, configId), { limit: most, consistent: true });
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
  const set = nextAt === undefined ? {} : lanes.dueAt(held.configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? off("due") : [])];
  if (!(await claim(update(laneOf(held), { set, remove }, { if: unchanged })))) return false;
  // A tick may be a minute late: what a message can carry is in time.
  const waitSeconds = nextAt === undefined ? Number.POSITIVE_INFINITY : (Date.parse(nextAt) - now().getTime()) / 1000;
  if (waitSeconds <= 900) await lanes.wake(held.orgId, held.configId, Math.max(waitSeconds, 0));
  return true;
}

/** Gives the lane back with work left; a delayed message, and failing that a tick, goes on. */
async function rest(held: Held, seconds: number, marks: Pace = {}): Promise<void> {
  await release(held, seconds, marks);
  await lanes.wake(held.orgId, held.configId, seconds);
}

async function release(held: Held, seconds: number, marks: Pace = {}): Promise<void> {
  const set = { ...marks, ...lanes.dueAt(held.configId, after(seconds + graceSeconds)) };
  await claim(update(laneOf(held), { set, remove: ["owner", "lease"] }, { if: equals("owner", held.owner) }));
}
