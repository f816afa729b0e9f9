// Hands over the chunks of a lane. One runner at a time holds the lane's lease. It shares the rate
// limiter with single sends. When it stops, the due index finds the lane again.
import { all, equals, present } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now, sleep } from "../../../clock.ts";
import * as leases from "../../../kernel/lease.ts";
import * as log from "../../../kernel/log.ts";
import { indexAttributeNames, type Key, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { createDepartureReader } from "../../audience/contacts/departures.ts";
import { createSourceStateReader } from "../mail-sources.ts";
import {
  computeBackOff,
  isBreakerOpen,
  type LimiterState,
  maxSleepMs,
  reportOpenBreaker,
  resetBreaker,
} from "../provider-calls/rate-limiter.ts";
import { type ChunkHandOver, handOverChunk } from "./hand-over.ts";
import { createChunksInHand, createQueueReader } from "./lane-queue.ts";
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

interface LaneLease {
  orgId: number;
  configId: number;
  owner: string;
}

type HandOver = (chunk: ChunkHandOver) => Promise<lanes.LaneRunResult>;

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
  const leaseEnd = addSeconds(lanes.leaseSeconds);
  const limits = {
    shouldContinue: () => now() < until && !isStopping,
    holdsLease: () => now() < leaseEnd,
    departures: createDepartureReader(orgId),
    readSourceState: createSourceStateReader(orgId),
    calls: createParallelCalls(),
  };
  const taken = await acquireLease(orgId, configId);
  if (!taken) return;
  const lease = { orgId, configId, owner: taken.lease.owner };
  let lane: LaneItem | undefined = taken.item;
  while (lane?.owner === lease.owner) {
    const pauseMs = (lane.notBefore ?? 0) - now().getTime();
    // The worker that started the pause has sent a message for its end.
    if (pauseMs > maxSleepMs) return release(lease, pauseMs / 1000);
    if (pauseMs > 0) await sleep(pauseMs);
    if (!limits.shouldContinue()) return releaseAndWake(lease, 0);
    lane = await handOverChunks(lease, lane, { ...limits, handOver });
  }
}

interface RunOptions extends Omit<lanes.Runner, "stalledSince"> {
  handOver: HandOver;
}

/**
 * Hands over chunks side by side, and starts further ones as soon as others are done. Ends with the
 * first delay or error, or when no chunk is ready. Returns the lane afterwards, or undefined when
 * the lease was given up.
 */
async function handOverChunks(
  lease: LaneLease,
  lane: LaneItem,
  { handOver, ...limits }: RunOptions,
): Promise<LaneItem | undefined> {
  const { orgId, configId } = lease;
  const inHand = createChunksInHand();
  const queue = createQueueReader(lease);
  let state: LimiterState = lane;
  const mustStop = () => limits.calls.isStopped() || inHand.hasFailed() || !limits.shouldContinue();
  const startNext = async (): Promise<boolean> => {
    // After a failure, a single chunk tries whether the provider accepts mail again.
    const maxChunks = hasFailures(state) ? 1 : limits.calls.width;
    const queued = inHand.hasRoom(maxChunks) && (await queue.next(inHand, maxChunks));
    if (!queued || mustStop()) return false;
    const runner = { ...limits, stalledSince: state.heldSince };
    const result = handOver({ orgId, configId, queued, runner });
    inHand.add(queued, skipOnRepeatedErrors(lease, queued, result));
    return true;
  };
  const startAll = async () => {
    while (!mustStop() && (await startNext()));
  };
  await startAll().catch(inHand.fail);
  const continueAfterResult = async () => {
    if (hasFailures(state) && !mustStop()) state = (await resetBreaker(orgId, configId)) ?? {};
    await startAll();
  };
  while (!inHand.isEmpty()) {
    await inHand.nextIsDone();
    await continueAfterResult().catch(inHand.fail);
  }
  const { delay, hasProgress } = await releaseOnError(lease, async () => inHand.combineResults());
  if (delay) {
    const { seconds, limiterState } =
      delay.reason === "turn"
        ? { seconds: delay.seconds, limiterState: {} }
        : computeBackOff(delay, hasProgress ? {} : state);
    if (hasProgress && state.isPauseReported) await resetBreaker(orgId, configId);
    await releaseAndWake(lease, seconds, limiterState);
    if (isBreakerOpen(limiterState)) await reportOpenBreaker(orgId, configId);
    return undefined;
  }
  if (!mustStop() && (await releaseIdle(lease, lane.arrivals, queue.nextAt()))) return undefined;
  return get<LaneItem>(laneKey(lease));
}

/**
 * Postpones a chunk whose hand-over fails repeatedly, so that it does not block the chunks behind
 * it.
 */
async function skipOnRepeatedErrors(
  { orgId, configId }: LaneLease,
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

const hasFailures = ({ faults, heldSince: stalledSince }: LimiterState): boolean =>
  Boolean(faults || stalledSince);

/**
 * After an internal error, gives up the lease early and sends no message: the failed message is
 * redelivered, and further ones would multiply.
 */
async function releaseOnError(
  lease: LaneLease,
  work: () => Promise<lanes.LaneRunResult>,
): Promise<lanes.LaneRunResult> {
  try {
    return await work();
  } catch (error) {
    await release(lease, errorRetrySeconds);
    throw error;
  }
}

const laneKey = ({ orgId, configId }: LaneLease): Key => keys.lane(orgId, configId);

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
  lease: LaneLease,
  arrivals: number,
  nextAt: string | undefined,
): Promise<boolean> {
  const unchanged = all(equals("owner", lease.owner), equals("arrivals", arrivals));
  const set = nextAt === undefined ? {} : lanes.laneDueAttributes(lease.configId, new Date(nextAt));
  const remove = ["owner", "lease", ...(nextAt === undefined ? indexAttributeNames("due") : [])];
  if (!(await transact(update(laneKey(lease), { set, remove }, { if: unchanged })))) return false;
  // The due index may be a minute late, a delayed message is on time.
  const waitSeconds =
    nextAt === undefined ? Number.POSITIVE_INFINITY : (Date.parse(nextAt) - now().getTime()) / 1000;
  if (waitSeconds <= maxDelaySeconds)
    await lanes.wakeLane(lease.orgId, lease.configId, Math.max(waitSeconds, 0));
  return true;
}

/**
 * Gives up the lease with work left. A delayed message starts the next runner, or else the due
 * index.
 */
async function releaseAndWake(
  lease: LaneLease,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  await release(lease, seconds, limiterState);
  await lanes.wakeLane(lease.orgId, lease.configId, seconds);
}

async function release(
  lease: LaneLease,
  seconds: number,
  limiterState: LimiterState = {},
): Promise<void> {
  const set = {
    ...limiterState,
    ...lanes.laneDueAttributes(lease.configId, addSeconds(seconds + graceSeconds)),
  };
  await transact(
    update(
      laneKey(lease),
      { set, remove: ["owner", "lease"] },
      { if: equals("owner", lease.owner) },
    ),
  );
}
