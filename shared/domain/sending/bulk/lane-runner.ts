// Hands over the chunks of a lane. One runner at a time holds the lane's lease. It shares the rate
// limiter with single sends. When it stops, the due index finds the lane again.
import { all, equals, present } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now, sleep } from "../../../clock.ts";
import * as leases from "../../../kernel/leases.ts";
import * as log from "../../../kernel/log.ts";
import { indexAttributeNames, type Key, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { createDepartureReader } from "../../audience/contacts/departures.ts";
import { createSourceStateReader } from "../mail-sources.ts";
import {
  computeBackOff,
  type HandOverDelay,
  hasFailures,
  isBreakerOpen,
  type LimiterState,
  maxSleepMs,
  reportOpenBreaker,
  resetBreaker,
} from "../provider-calls/rate-limiter.ts";
import { createShareMover, moveToFallback } from "./chunk-failover.ts";
import { type ChunkHandOver, handOverChunk } from "./hand-over.ts";
import { createChunksInHand, createQueueReader } from "./lane-queue.ts";
import * as lanes from "./lanes.ts";
import { createParallelCalls } from "./parallel-calls.ts";
import { postponeAfterErrors, type QueuedChunk } from "./queued-chunk.ts";
import type { HandOverResult, Runner } from "./runner.ts";

type LaneItem = LimiterState & lanes.LaneState;

// A runner stops after this time, so that its last call ends within the function's timeout.
const workSeconds = queues.lane.timeoutSeconds - 45;
/** Time for a queue message to start a runner, before the due index finds the lane. */
const graceSeconds = 60;
const errorRetrySeconds = 30;

let isStopping = false;
/**
 * While true, the runners of this process stop after their current call. The queue starts others
 * later.
 */
export const setStopping = (on: boolean): void => {
  isStopping = on;
};

type HandOver = (chunk: ChunkHandOver) => Promise<HandOverResult>;

/** One runner of a lane, from its start to its end. */
interface LaneRunner extends Omit<Runner, "stalledSince"> {
  orgId: number;
  configId: number;
  /** Owns the lane. */
  owner: string;
  handOver: HandOver;
  moveShare: ReturnType<typeof createShareMover>;
}

/**
 * Runs a lane until it is empty, has to wait, or the time is up. Does nothing when another runner
 * holds the lease.
 */
export async function runLane(
  orgId: number,
  configId: number,
  handOver: HandOver = handOverChunk,
): Promise<void> {
  const until = addSeconds(workSeconds);
  const end = addSeconds(lanes.leaseSeconds);
  const taken = await acquireLease(orgId, configId);
  if (!taken) return;
  const runner: LaneRunner = {
    orgId,
    configId,
    owner: taken.lease.owner,
    end,
    handOver,
    moveShare: createShareMover(orgId, configId),
    shouldContinue: () => now() < until && !isStopping,
    holdsLease: () => now() < end,
    departures: createDepartureReader(orgId),
    readSourceState: createSourceStateReader(orgId),
    calls: createParallelCalls(),
  };
  let lane: LaneItem | undefined = taken.item;
  while (lane?.owner === runner.owner) {
    const pauseMs = (lane.notBefore ?? 0) - now().getTime();
    // The worker that started the pause has sent a message for its end.
    if (pauseMs > maxSleepMs) return release(runner, pauseMs / 1000);
    if (pauseMs > 0) await sleep(pauseMs);
    if (!runner.shouldContinue()) return releaseAndWake(runner, 0);
    lane = await takeTurn(runner, lane);
  }
}

/** Returns the lane afterwards, or undefined when the lease was given up. */
async function takeTurn(runner: LaneRunner, lane: LaneItem): Promise<LaneItem | undefined> {
  const { orgId, configId } = runner;
  const { pause, isStopped, nextAt } = await releaseOnError(runner, () =>
    handOverChunks(runner, lane),
  );
  if (pause) {
    await releaseAndWake(runner, pause.seconds, pause.limiterState);
    if (!isBreakerOpen(pause.limiterState)) return undefined;
    await reportOpenBreaker(orgId, configId);
    await moveToFallback(runner);
    return undefined;
  }
  if (!isStopped && (await releaseIdle(runner, lane.arrivals, nextAt))) return undefined;
  return get<LaneItem>(laneKey(runner));
}

interface TurnResult {
  /** Why the turn ended, if it has to wait. */
  pause?: { seconds: number; limiterState: LimiterState };
  /** Its time is up. */
  isStopped: boolean;
  nextAt: string | undefined;
}

/**
 * Hands over chunks side by side, and starts further ones as soon as others are done. Ends with the
 * first delay or error, or when no chunk is ready.
 */
async function handOverChunks(runner: LaneRunner, lane: LaneItem): Promise<TurnResult> {
  const { orgId, configId, calls, shouldContinue } = runner;
  const inHand = createChunksInHand();
  const queue = createQueueReader(orgId, configId);
  let state: LimiterState = lane;
  const mustStop = () => calls.isStopped() || inHand.mustEnd() || !shouldContinue();
  const startNext = async (): Promise<boolean> => {
    // After a failure, a single chunk tries whether the provider accepts mail again.
    const maxChunks = hasFailures(state) ? 1 : calls.width;
    const queued = inHand.hasRoom(maxChunks) && (await queue.next(inHand, maxChunks));
    if (!queued || mustStop()) return false;
    const chunkRunner = { ...runner, stalledSince: state.heldSince };
    const chunk = { orgId, configId, queued, runner: chunkRunner };
    const handedOver = moveOrHandOver(runner, chunk, state);
    inHand.add(queued, skipOnRepeatedErrors(runner, queued, handedOver));
    return true;
  };
  const startAll = async () => {
    while (!mustStop() && (await startNext()));
  };
  const continueAfterResult = async () => {
    if (hasFailures(state) && !mustStop()) state = (await resetBreaker(orgId, configId)) ?? {};
    await startAll();
  };
  await startAll().catch(inHand.fail);
  while (!inHand.isEmpty()) {
    await inHand.nextIsDone();
    await continueAfterResult().catch(inHand.fail);
  }
  const { delay, hasProgress } = inHand.combineResults();
  const pause = delay && toPause(delay, hasProgress ? {} : state);
  if (pause && hasProgress && state.isPauseReported) await resetBreaker(orgId, configId);
  return { ...(pause && { pause }), isStopped: mustStop(), nextAt: queue.nextAt() };
}

/** A chunk that moves counts as a success, so none moves while the provider fails. */
async function moveOrHandOver(
  { moveShare, handOver }: LaneRunner,
  chunk: ChunkHandOver,
  state: LimiterState,
): Promise<HandOverResult> {
  if (!hasFailures(state) && (await moveShare(chunk.queued)))
    return { done: true, hasProgress: false };
  return handOver(chunk);
}

const toPause = (
  delay: HandOverDelay,
  state: LimiterState,
): { seconds: number; limiterState: LimiterState } =>
  delay.reason === "turn"
    ? { seconds: delay.seconds, limiterState: {} }
    : computeBackOff(delay, state);

/**
 * Postpones a chunk whose hand-over fails repeatedly, so that it does not block the chunks behind
 * it.
 */
async function skipOnRepeatedErrors(
  { orgId, configId }: LaneRunner,
  chunk: QueuedChunk,
  result: Promise<HandOverResult>,
): Promise<HandOverResult> {
  try {
    return await result;
  } catch (error) {
    const tries = await postponeAfterErrors(orgId, configId, chunk);
    if (tries === undefined) throw error;
    log.error("chunk postponed after repeated errors", error, {
      orgId,
      configId,
      block: chunk.block,
      chunk: chunk.chunk,
      tries,
    });
    return { done: true, hasProgress: false };
  }
}

/**
 * After an internal error, gives up the lease early and sends no message: the failed message is
 * redelivered, and further ones would multiply.
 */
async function releaseOnError<T>(runner: LaneRunner, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await release(runner, errorRetrySeconds);
    throw error;
  }
}

const laneKey = ({ orgId, configId }: Pick<LaneRunner, "orgId" | "configId">): Key =>
  keys.lane(orgId, configId);

const acquireLease = (orgId: number, configId: number) =>
  leases.take<LaneItem>(keys.lane(orgId, configId), {
    seconds: lanes.leaseSeconds,
    set: lanes.laneDueAttributes(configId, addSeconds(lanes.leaseSeconds)),
    if: present("arrivals"),
  });

/**
 * Gives up the lease until `nextAt`, or until chunks arrive. False when chunks arrived in the
 * meantime.
 */
async function releaseIdle(
  runner: LaneRunner,
  arrivals: number,
  nextAt: string | undefined,
): Promise<boolean> {
  const unchanged = all(equals("owner", runner.owner), equals("arrivals", arrivals));
  const set =
    nextAt === undefined ? {} : lanes.laneDueAttributes(runner.configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? indexAttributeNames("due") : [])];
  if (!(await transact(update(laneKey(runner), { set, remove }, { if: unchanged })))) return false;
  // The due index may be a minute late, a delayed message is on time.
  const waitSeconds =
    nextAt === undefined ? Number.POSITIVE_INFINITY : (Date.parse(nextAt) - now().getTime()) / 1000;
  if (waitSeconds <= maxDelaySeconds)
    await lanes.wakeLane(runner.orgId, runner.configId, Math.max(waitSeconds, 0));
  return true;
}

/**
 * Gives up the lease with work left. A delayed message starts the next runner, or else the due
 * index.
 */
async function releaseAndWake(
  runner: LaneRunner,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  await release(runner, seconds, limiterState);
  await lanes.wakeLane(runner.orgId, runner.configId, seconds);
}

async function release(
  runner: LaneRunner,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  const set = { ...limiterState, ...dueAfter(runner, seconds) };
  await transact(
    update(
      laneKey(runner),
      { set, remove: ["owner", "lease"] },
      { if: equals("owner", runner.owner) },
    ),
  );
}

/** Starts the next runner, if no message does. */
const dueAfter = ({ configId }: LaneRunner, seconds: number) =>
  lanes.laneDueAttributes(configId, addSeconds(seconds + graceSeconds));
