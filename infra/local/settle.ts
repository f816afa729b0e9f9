// Runs ticks and queues until all is dry. Where the only thing left is to wait a little, the clock is moved instead.
import { setTimeout as pause } from "node:timers/promises";
import type { Poller } from "./poll.ts";
import type { Queues } from "./queues.ts";
import type { Ticking } from "./ticks.ts";
import type { Time } from "./time.ts";

export interface Works {
  queues: Queues;
  pollers: Poller[];
  ticks: Ticking;
  time: Time;
  /** How many items of the due index have fallen due. */
  due(): Promise<number>;
  /** Lets what waits outside the queues happen; answers whether anything did. */
  outside(): Promise<boolean>;
}

export interface Settled {
  /** Times that all ticks ran. */
  rounds: number;
  /** Messages that workers are done with. */
  messages: number;
  /** How far the clock was moved so that paced and failed messages came up again. */
  waitedSeconds: number;
  /** False when the limits were reached first. */
  dry: boolean;
  /** Messages that will come up later than settling waits for. */
  delayed: number;
  /** Items that are due and that no tick took. */
  due: number;
  /** Messages that were given up: they failed as often as their queue allows. */
  dead: number;
}

export interface Patience {
  /** How long the delay of a message may be for settling to wait for it. */
  waitSeconds: number;
  /** How far the clock may be moved in all. */
  maxWaitedSeconds: number;
  /** Of real time, in all. */
  limitSeconds: number;
}

/** Short delays and the redelivery of what failed are waited for by moving the clock; longer delays are left to whoever moves it. */
export async function settle(works: Works, patience: Patience): Promise<Settled> {
  const before = { handled: handled(works), offset: works.time.offsetSeconds() };
  const limits = { ...patience, until: performance.now() + patience.limitSeconds * 1000, from: before.offset };
  let [rounds, due, dry] = [0, Number.POSITIVE_INFINITY, false];
  for (let stuck = false; !dry && !stuck && !exhausted(works, limits); ) {
    const dueBefore = due;
    rounds++;
    await works.ticks.run();
    const done = await empty(works, limits);
    due = await works.due();
    dry = done && due === 0;
    stuck = due > 0 && due >= dueBefore;
  }
  const waitedSeconds = Math.round(works.time.offsetSeconds() - before.offset);
  return { rounds, messages: handled(works) - before.handled, waitedSeconds, dry, due, ...leftOver(works) };
}

/** How long a delay may be for it to be waited for, unless asked otherwise. */
export const shortSeconds = 60;

/** Of real time. */
const patienceSeconds = 10;

/**
 * Lets a time pass. What waits for a short while is done on the way, when its time has come: a mail that was sent before the clock was
 * moved is not handed over by what the clock shows then. What takes longer comes up in one leap at the end.
 */
export async function pass(works: Works, seconds: number): Promise<void> {
  const from = works.time.offsetSeconds();
  const until = performance.now() + patienceSeconds * 1000;
  await empty(works, { waitSeconds: shortSeconds, maxWaitedSeconds: seconds, until, from });
  await leap(works, from + seconds - works.time.offsetSeconds());
}

/** For the clock, and for every message that waits. */
async function leap({ queues, pollers, time }: Works, seconds: number): Promise<void> {
  time.advance(seconds);
  for (const { name, failed } of pollers) {
    queues.hasten(name, seconds);
    const given = failed();
    for (const message of queues.state(name).received) if (given.has(message.handle)) await queues.release(name, message, seconds);
  }
}

type Limits = Omit<Patience, "limitSeconds"> & { until: number; from: number };

const exhausted = (works: Works, limits: Limits): boolean => performance.now() >= limits.until || left(works, limits) <= 0;

/** Seconds by which the clock may still be moved. */
const left = ({ time }: Works, { from, maxWaitedSeconds }: Limits): number => from + maxWaitedSeconds - time.offsetSeconds();

/** Works the queues off; false when a limit was reached first. */
async function empty(works: Works, limits: Limits): Promise<boolean> {
  while (!exhausted(works, limits)) {
    const waits = waitsOf(works);
    if (busy(works) || waits.some((seconds) => seconds <= 0)) {
      await pause(5);
      continue;
    }
    if (await works.outside()) continue;
    const next = Math.min(...waitsOf(works, limits.waitSeconds));
    if (next === Number.POSITIVE_INFINITY) return !busy(works);
    if (next > 0) await leap(works, Math.min(next, left(works, limits)));
  }
  return false;
}

const handled = ({ pollers }: Works): number => pollers.reduce((sum, poller) => sum + poller.handled(), 0);

/** A worker has something in hand, or could take it. */
const busy = ({ queues, pollers }: Works): boolean =>
  pollers.some(({ name, failed }) => {
    const { ready, received } = queues.state(name);
    const given = failed();
    return ready > 0 || received.some(({ handle }) => !given.has(handle));
  });

/** Seconds until messages come up again: those that failed, and those delayed for not longer than `most`. */
const waitsOf = ({ queues, pollers }: Works, most = Number.POSITIVE_INFINITY): number[] =>
  pollers.flatMap(({ name, failed }) => {
    const { delayedMs, received } = queues.state(name);
    const given = failed();
    const again = received.flatMap(({ handle, visibleInMs }) => (given.has(handle) ? [visibleInMs] : []));
    return [...delayedMs.filter((ms) => ms <= most * 1000), ...again].map((ms) => ms / 1000);
  });

function leftOver({ queues, pollers }: Works): { delayed: number; dead: number } {
  const sum = (count: (name: string) => number) => pollers.reduce((total, { name }) => total + count(name), 0);
  return { delayed: sum((name) => queues.state(name).delayedMs.length), dead: sum((name) => queues.state(`${name}-dead`).ready) };
}
