// Hands over the chunks of a lane. One runner at a time holds the lane's lease. It shares the rate
// limiter with single sends. When it stops, the due index finds the lane again.
// While many chunks wait, assistants take chunks from the same lane: up to three further runners,
// each with a place on the lane item. They start only while that runner has the lane, and from then
// on each chunk has a lease of its own. Pauses and the circuit breaker are those of the lane.
import { all, equals, present } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now, sleep } from "../../../clock.ts";
import { undefinedIfMissing } from "../../../errors.ts";
import * as leases from "../../../kernel/lease.ts";
import * as log from "../../../kernel/log.ts";
import { indexAttributeNames, type Key, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { createDepartureReader } from "../../audience/contacts/departures.ts";
import { createSourceStateReader } from "../mail-sources.ts";
import { findConfig } from "../provider-calls/provider-call.ts";
import {
  computeBackOff,
  type HandOverDelay,
  hasFailures,
  isBreakerOpen,
  isPaused,
  type LimiterState,
  maxSleepMs,
  reportOpenBreaker,
  resetBreaker,
} from "../provider-calls/rate-limiter.ts";
import { type ChunkHandOver, handOverChunk } from "./hand-over.ts";
import { type ChunksInHand, createChunksInHand, createQueueReader } from "./lane-queue.ts";
import * as lanes from "./lanes.ts";
import { createParallelCalls } from "./parallel-calls.ts";

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

let canHaveAssistants = true;
/** Further runners in the same process would only share its CPU. */
export const allowAssistants = (on: boolean): void => {
  canHaveAssistants = on;
};

type HandOver = (chunk: ChunkHandOver) => Promise<lanes.LaneRunResult>;

/** One runner of a lane, from its start to its end. */
interface LaneRun extends Omit<lanes.Runner, "stalledSince"> {
  orgId: number;
  configId: number;
  /** Owns the lane, or a place of an assistant, and its chunks. */
  owner: string;
  handOver: HandOver;
  isAssistant: boolean;
  /** Other runners may hand over chunks of the lane, so each chunk is leased. */
  isShared: boolean;
  /** When the next assistant may be woken, and how many were. */
  wakes: { nextAt: Date; count: number };
}

function createRun(
  orgId: number,
  configId: number,
  { handOver, isAssistant }: { handOver: HandOver; isAssistant: boolean },
): LaneRun {
  const until = addSeconds(workSeconds);
  const end = addSeconds(lanes.leaseSeconds);
  return {
    orgId,
    configId,
    owner: "",
    end,
    handOver,
    isAssistant,
    isShared: isAssistant,
    wakes: { nextAt: now(), count: 0 },
    shouldContinue: () => now() < until && !isStopping,
    holdsLease: () => now() < end,
    departures: createDepartureReader(orgId),
    readSourceState: createSourceStateReader(orgId),
    calls: createParallelCalls(),
  };
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
  const run = createRun(orgId, configId, { handOver, isAssistant: false });
  const taken = await acquireLease(orgId, configId);
  if (!taken) return;
  run.owner = taken.lease.owner;
  let lane: LaneItem | undefined = taken.item;
  run.isShared = lanes.hasAssistants(lane);
  while (lane?.owner === run.owner) {
    const pauseMs = (lane.notBefore ?? 0) - now().getTime();
    // The worker that started the pause has sent a message for its end.
    if (pauseMs > maxSleepMs) return release(run, pauseMs / 1000);
    if (pauseMs > 0) await sleep(pauseMs);
    if (!run.shouldContinue()) return releaseAndWake(run, 0);
    lane = await runOnce(run, lane);
  }
}

/** Returns the lane afterwards, or undefined when the lease was given up. */
async function runOnce(run: LaneRun, lane: LaneItem): Promise<LaneItem | undefined> {
  const { orgId, configId } = run;
  const { pause, isStopped, nextAt } = await releaseOnError(run, () => handOverChunks(run, lane));
  if (pause) {
    await releaseAndWake(run, pause.seconds, pause.limiterState);
    if (isBreakerOpen(pause.limiterState)) await reportOpenBreaker(orgId, configId);
    return undefined;
  }
  if (!isStopped && (await releaseIdle(run, lane.arrivals, nextAt))) return undefined;
  return get<LaneItem>(laneKey(run));
}

/**
 * Hands over chunks of a lane beside the runner that owns it. Does nothing when that runner has
 * left, when another assistant has the place, or when the provider fails.
 */
export async function assistLane(
  orgId: number,
  configId: number,
  { owner, place, handOver = handOverChunk }: { owner: string; place: number; handOver?: HandOver },
): Promise<void> {
  const run = createRun(orgId, configId, { handOver, isAssistant: true });
  const taken = await leases.take<LaneItem>(laneKey(run), {
    seconds: lanes.leaseSeconds,
    if: equals("owner", owner),
    attributes: { ...leases.isoAttributes, ...lanes.assistantAttributes(place) },
  });
  if (!taken) return;
  run.owner = taken.lease.owner;
  if (hasFailures(taken.item) || isPaused(taken.item)) return leavePlace(run, place);
  try {
    const { pause, isStopped } = await handOverChunks(run, taken.item);
    if (!pause && !isStopped) return leavePlace(run, place);
    // The owner of the lane may have left it.
    const { seconds, limiterState } = pause ?? { seconds: 0, limiterState: {} };
    await leavePlace(run, place, { ...limiterState, ...dueAfter(run, seconds) });
    await lanes.wakeLane(orgId, configId, seconds);
    if (isBreakerOpen(limiterState)) await reportOpenBreaker(orgId, configId);
  } catch (error) {
    await leavePlace(run, place, dueAfter(run, errorRetrySeconds));
    throw error;
  }
}

async function leavePlace(run: LaneRun, place: number, set: object = {}): Promise<void> {
  const { owner, end } = lanes.assistantAttributes(place);
  await transact(
    update(
      laneKey(run),
      { set: { ...set }, remove: [owner, end] },
      { if: equals(owner, run.owner) },
    ),
  );
}

interface RunResult {
  /** Why the run ended, if it has to wait. */
  pause?: { seconds: number; limiterState: LimiterState };
  /** Its time is up. */
  isStopped: boolean;
  nextAt: string | undefined;
}

/**
 * Hands over chunks side by side, and starts further ones as soon as others are done. Ends with the
 * first delay or error, or when no chunk is ready.
 */
async function handOverChunks(run: LaneRun, lane: LaneItem): Promise<RunResult> {
  const { orgId, configId, calls, shouldContinue } = run;
  const inHand = createChunksInHand();
  const queue = createQueueReader(run);
  let state: LimiterState = lane;
  const mustStop = () => calls.isStopped() || inHand.mustEnd() || !shouldContinue();
  const startNext = async (): Promise<boolean> => {
    // After a failure, a single chunk tries whether the provider accepts mail again.
    const maxChunks = hasFailures(state) ? 1 : calls.width;
    const queued = inHand.hasRoom(maxChunks) && (await queue.next(inHand, maxChunks));
    if (!queued || mustStop()) return false;
    if (run.isShared && !(await lanes.leaseChunk(queued, run))) return true;
    inHand.add(queued, handOverAndRelease(run, queued, state.heldSince));
    if (queue.isLong() && !hasFailures(state)) await wakeNextAssistant(run, inHand);
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

const toPause = (
  delay: HandOverDelay,
  state: LimiterState,
): { seconds: number; limiterState: LimiterState } =>
  delay.reason === "turn"
    ? { seconds: delay.seconds, limiterState: {} }
    : computeBackOff(delay, state);

async function handOverAndRelease(
  run: LaneRun,
  queued: lanes.QueuedChunk,
  stalledSince: string | undefined,
): Promise<lanes.LaneRunResult> {
  const { orgId, configId, handOver, owner } = run;
  let isDone = false;
  try {
    const handedOver = handOver({ orgId, configId, queued, runner: { ...run, stalledSince } });
    const result = await skipOnRepeatedErrors(run, queued, handedOver);
    isDone = result.done;
    return result;
  } finally {
    if (run.isShared && !isDone) await lanes.releaseChunk(queued, owner);
  }
}

const secondsBetweenWakes = 5;

/**
 * While many chunks wait, another runner starts every few seconds. Not with a known rate, which one
 * runner reaches.
 */
async function wakeNextAssistant(run: LaneRun, inHand: ChunksInHand): Promise<void> {
  const { orgId, configId, owner, wakes } = run;
  if (run.isAssistant || !canHaveAssistants || now() < wakes.nextAt) return;
  wakes.nextAt = addSeconds(secondsBetweenWakes);
  const config = await findConfig(orgId, configId).catch(undefinedIfMissing);
  if (!config || config.ratePerSecond) return;
  if (!run.isShared) {
    run.isShared = true;
    await Promise.all(inHand.list().map((chunk) => lanes.leaseOwnChunk(chunk, run)));
  }
  const place = lanes.assistantPlaces[wakes.count++ % lanes.assistantPlaces.length]!;
  await lanes.wakeAssistant(orgId, configId, { owner, place });
}

/**
 * Postpones a chunk whose hand-over fails repeatedly, so that it does not block the chunks behind
 * it.
 */
async function skipOnRepeatedErrors(
  { orgId, configId }: LaneRun,
  chunk: lanes.QueuedChunk,
  result: Promise<lanes.LaneRunResult>,
): Promise<lanes.LaneRunResult> {
  try {
    return await result;
  } catch (error) {
    const tries = await lanes.recordFailure(orgId, configId, chunk);
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
async function releaseOnError<T>(run: LaneRun, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await release(run, errorRetrySeconds);
    throw error;
  }
}

const laneKey = ({ orgId, configId }: Pick<LaneRun, "orgId" | "configId">): Key =>
  keys.lane(orgId, configId);

const acquireLease = (orgId: number, configId: number) =>
  leases.take<LaneItem>(keys.lane(orgId, configId), {
    seconds: lanes.leaseSeconds,
    set: lanes.laneDueAttributes(configId, addSeconds(lanes.leaseSeconds)),
    if: present("arrivals"),
    attributes: leases.isoAttributes,
  });

/**
 * Gives up the lease until `nextAt`, or until chunks arrive. False when chunks arrived in the
 * meantime.
 */
async function releaseIdle(
  run: LaneRun,
  arrivals: number,
  nextAt: string | undefined,
): Promise<boolean> {
  const unchanged = all(equals("owner", run.owner), equals("arrivals", arrivals));
  const set = nextAt === undefined ? {} : lanes.laneDueAttributes(run.configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? indexAttributeNames("due") : [])];
  if (!(await transact(update(laneKey(run), { set, remove }, { if: unchanged })))) return false;
  // The due index may be a minute late, a delayed message is on time.
  const waitSeconds =
    nextAt === undefined ? Number.POSITIVE_INFINITY : (Date.parse(nextAt) - now().getTime()) / 1000;
  if (waitSeconds <= maxDelaySeconds)
    await lanes.wakeLane(run.orgId, run.configId, Math.max(waitSeconds, 0));
  return true;
}

/**
 * Gives up the lease with work left. A delayed message starts the next runner, or else the due
 * index.
 */
async function releaseAndWake(
  run: LaneRun,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  await release(run, seconds, limiterState);
  await lanes.wakeLane(run.orgId, run.configId, seconds);
}

async function release(
  run: LaneRun,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  const set = { ...limiterState, ...dueAfter(run, seconds) };
  await transact(
    update(laneKey(run), { set, remove: ["owner", "lease"] }, { if: equals("owner", run.owner) }),
  );
}

/** Starts the next runner, if no message does. */
const dueAfter = ({ configId }: LaneRun, seconds: number) =>
  lanes.laneDueAttributes(configId, addSeconds(seconds + graceSeconds));
