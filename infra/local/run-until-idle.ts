// Runs schedules and queues until nothing is left, and moves the clock past short delays instead of
// waiting.
import { setTimeout as pause } from "node:timers/promises";
import { conflict } from "../../shared/errors.ts";
import { getSendingStop } from "../../shared/kernel/sending-stop.ts";
import type { LocalQueues } from "./engines/sqs-and-s3.ts";
import type { MovableClock } from "./movable-clock.ts";
import type { QueuePoller } from "./queue-poller.ts";
import type { Scheduler } from "./scheduler.ts";

export interface LocalRuntime {
  queues: LocalQueues;
  pollers: QueuePoller[];
  scheduler: Scheduler;
  time: MovableClock;
  /** Counts the items of the due index that are due. */
  dueItems(): Promise<number>;
  /**
   * Runs pending work outside the queues, such as sandbox webhooks. Returns whether there was any.
   */
  flushExternal(): Promise<boolean>;
}

export interface IdleReport {
  /** How often all schedules ran. */
  rounds: number;
  /** Messages that workers handled. */
  messages: number;
  /** How far the clock was moved past delays and visibility timeouts. */
  waitedSeconds: number;
  /** False when a limit was reached first. */
  idle: boolean;
  /** Messages with a longer delay than `waitSeconds`. */
  delayed: number;
  /** Due items that no schedule took. */
  due: number;
  /** Messages in the dead-letter queues. */
  deadLetters: number;
}

export interface IdleOptions {
  /** The clock moves past message delays up to this length. */
  waitSeconds: number;
  /** How far the clock can move in all. */
  maxWaitedSeconds: number;
  /** The longest duration in real time. */
  limitSeconds: number;
}

/**
 * Runs schedules and queues until nothing is left. Moves the clock past short delays and visibility
 * timeouts, and leaves messages with longer delays in the queue.
 */
export async function runUntilIdle(
  runtime: LocalRuntime,
  options: IdleOptions,
): Promise<IdleReport> {
  if (getSendingStop())
    throw conflict("Sending is stopped, because the data is a restored backup: resume it first");
  const before = { handled: countHandled(runtime), offset: runtime.time.offsetSeconds() };
  const limits = {
    ...options,
    until: performance.now() + options.limitSeconds * 1000,
    from: before.offset,
  };
  let [rounds, due, idle] = [0, Number.POSITIVE_INFINITY, false];
  for (let stuck = false; !idle && !stuck && !limitReached(runtime, limits); ) {
    const dueBefore = due;
    rounds++;
    await runtime.scheduler.runAll();
    const done = await emptyQueues(runtime, limits);
    due = await runtime.dueItems();
    idle = done && due === 0;
    stuck = due > 0 && due >= dueBefore;
  }
  const waitedSeconds = Math.round(runtime.time.offsetSeconds() - before.offset);
  return {
    rounds,
    messages: countHandled(runtime) - before.handled,
    waitedSeconds,
    idle,
    due,
    ...countLeftMessages(runtime),
  };
}

export const defaultWaitSeconds = 60;

/** In real time. */
const advanceLimitSeconds = 10;

/**
 * Advances the clock. Work that is due within a minute runs on the way, at its own time, so a mail
 * that was accepted before the advance is not handed over at the later time. Longer delays pass in
 * one step at the end.
 */
export async function advanceClock(runtime: LocalRuntime, seconds: number): Promise<void> {
  const from = runtime.time.offsetSeconds();
  const until = performance.now() + advanceLimitSeconds * 1000;
  const limits = { waitSeconds: defaultWaitSeconds, maxWaitedSeconds: seconds, until, from };
  if (!getSendingStop()) await emptyQueues(runtime, limits);
  await moveClock(runtime, from + seconds - runtime.time.offsetSeconds());
}

/** Moves the clock, and the delays and visibility timeouts of waiting messages. */
async function moveClock({ queues, pollers, time }: LocalRuntime, seconds: number): Promise<void> {
  time.advance(seconds);
  for (const { name, failedReceipts } of pollers) {
    queues.advanceDelayed(name, seconds);
    const failed = failedReceipts();
    for (const message of queues.readState(name).received)
      if (failed.has(message.handle)) await queues.makeVisibleSooner(name, message, seconds);
  }
}

type IdleLimits = Omit<IdleOptions, "limitSeconds"> & { until: number; from: number };

const limitReached = (runtime: LocalRuntime, limits: IdleLimits): boolean =>
  performance.now() >= limits.until || remainingSeconds(runtime, limits) <= 0;

/** The seconds by which the clock can still move. */
const remainingSeconds = ({ time }: LocalRuntime, { from, maxWaitedSeconds }: IdleLimits): number =>
  from + maxWaitedSeconds - time.offsetSeconds();

/** Returns false when a limit was reached first. */
async function emptyQueues(runtime: LocalRuntime, limits: IdleLimits): Promise<boolean> {
  while (!limitReached(runtime, limits)) {
    const waits = secondsUntilVisible(runtime);
    if (hasWork(runtime) || waits.some((seconds) => seconds <= 0)) {
      await pause(5);
      continue;
    }
    if (await runtime.flushExternal()) continue;
    const next = Math.min(...secondsUntilVisible(runtime, limits.waitSeconds));
    if (next === Number.POSITIVE_INFINITY) return !hasWork(runtime);
    if (next > 0) await moveClock(runtime, Math.min(next, remainingSeconds(runtime, limits)));
  }
  return false;
}

const countHandled = ({ pollers }: LocalRuntime): number =>
  pollers.reduce((sum, poller) => sum + poller.handledCount(), 0);

/** A worker handles a message, or could receive one. */
const hasWork = ({ queues, pollers }: LocalRuntime): boolean =>
  pollers.some(({ name, failedReceipts }) => {
    const { ready, received } = queues.readState(name);
    const failed = failedReceipts();
    return ready > 0 || received.some(({ handle }) => !failed.has(handle));
  });

/** Seconds until failed messages, and messages delayed by at most `maxSeconds`, become visible. */
const secondsUntilVisible = (
  { queues, pollers }: LocalRuntime,
  maxSeconds = Number.POSITIVE_INFINITY,
): number[] =>
  pollers.flatMap(({ name, failedReceipts }) => {
    const { delayedMs, received } = queues.readState(name);
    const failed = failedReceipts();
    const again = received.flatMap(({ handle, visibleInMs }) =>
      failed.has(handle) ? [visibleInMs] : [],
    );
    return [...delayedMs.filter((ms) => ms <= maxSeconds * 1000), ...again].map((ms) => ms / 1000);
  });

function countLeftMessages({ queues, pollers }: LocalRuntime): {
  delayed: number;
  deadLetters: number;
} {
  const sum = (count: (name: string) => number) =>
    pollers.reduce((total, { name }) => total + count(name), 0);
  return {
    delayed: sum((name) => queues.readState(name).delayedMs.length),
    deadLetters: sum((name) => queues.readState(`${name}-dead`).ready),
  };
}
