// Hands over the chunks of a lane. One runner at a time holds the lane's lease. It shares the rate
// limiter with single sends. When it stops, the due index finds the lane again.
import { all, equals, present } from "../../../adapters/dynamodb/conditions.ts";
import { get, query, transact, update } from "../../../adapters/dynamodb/table.ts";
import { maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now, sleep } from "../../../clock.ts";
import * as leases from "../../../kernel/lease.ts";
import * as log from "../../../kernel/log.ts";
import { indexAttributeNames, type Key, keys, ranges } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { createDepartureReader } from "../../audience/contacts/departures.ts";
import {
  computeBackOff,
  type LimiterState,
  maxSleepMs,
  resetBreaker,
} from "../provider-calls/rate-limiter.ts";
import { type ChunkHandOver, handOverChunk } from "./hand-over.ts";
import * as lanes from "./lanes.ts";
import { createParallelCalls, maxParallelCalls, minParallelCalls } from "./parallel-calls.ts";

interface LaneItem extends LimiterState {
  /**
   * Incremented whenever chunks are added. A runner may leave the lane as empty only at the value
   * that it read.
   */
  arrivals: number;
  owner?: string;
  /** ISO 8601. */
  lease?: string;
}

// A runner stops after this time, so that its last call ends within the function's timeout.
const workSeconds = queues.lane.timeoutSeconds - 45;
const leaseSeconds = queues.lane.timeoutSeconds + 90;
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
  const leaseEnd = addSeconds(leaseSeconds);
  const shouldContinue = () => now() < until && !isStopping;
  const holdsLease = () => now() < leaseEnd;
  const taken = await acquireLease(orgId, configId);
  if (!taken) return;
  const lease = { orgId, configId, owner: taken.lease.owner };
  const departures = createDepartureReader(orgId);
  let lane: LaneItem | undefined = taken.item;
  let width = minParallelCalls;
  while (lane?.owner === lease.owner) {
    const pauseMs = (lane.notBefore ?? 0) - now().getTime();
    // The worker that started the pause has sent a message for its end.
    if (pauseMs > maxSleepMs) return release(lease, pauseMs / 1000);
    if (pauseMs > 0) await sleep(pauseMs);
    if (!shouldContinue()) return releaseAndWake(lease, 0);
    lane = await runOnce(lease, lane, { handOver, width, departures, shouldContinue, holdsLease });
    // A run ends with the first delay, and the next run starts narrow again.
    width = Math.min(2 * width, maxParallelCalls);
  }
}

interface RunOptions extends Pick<lanes.Runner, "departures" | "shouldContinue" | "holdsLease"> {
  handOver: HandOver;
  /** The most calls in flight. */
  width: number;
}

/**
 * Hands over chunks side by side. Returns the lane afterwards, or undefined when the
 * lease was given up.
 */
async function runOnce(
  lease: LaneLease,
  lane: LaneItem,
  { handOver, width, ...limits }: RunOptions,
): Promise<LaneItem | undefined> {
  const { orgId, configId } = lease;
  const { ready, nextAt } = await listReadyChunks(lease, hasFailures(lane) ? 1 : width);
  if (!ready.length)
    return (await releaseIdle(lease, lane.arrivals, nextAt))
      ? undefined
      : get<LaneItem>(laneKey(lease));
  const calls = createParallelCalls(hasFailures(lane) ? minParallelCalls : width);
  const runner = { ...limits, stalledSince: lane.heldSince, calls };
  const { delay, hasProgress } = await releaseOnError(lease, () =>
    combineResults(
      ready.map((queued) =>
        skipOnRepeatedErrors(lease, queued, handOver({ orgId, configId, queued, runner })),
      ),
    ),
  );
  if (!delay) return hasFailures(lane) ? ((await resetBreaker(orgId, configId)) as LaneItem) : lane;
  if (delay.reason === "turn") await releaseAndWake(lease, delay.seconds);
  else {
    const { seconds, limiterState } = computeBackOff(delay, hasProgress ? {} : lane);
    await releaseAndWake(lease, seconds, limiterState);
  }
  return undefined;
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

const hasFailures = ({ faults, heldSince: stalledSince }: LaneItem): boolean =>
  Boolean(faults || stalledSince);

/**
 * When one chunk fails, the others still finish: no other runner may take the lane while calls are
 * in flight.
 */
async function combineResults(
  chunks: Promise<lanes.LaneRunResult>[],
): Promise<lanes.LaneRunResult> {
  const settled = await Promise.allSettled(chunks);
  const results = settled.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
  const delays = results.flatMap(({ delay }) => delay ?? []).sort((a, b) => a.seconds - b.seconds);
  return {
    done: results.every(({ done }) => done),
    delay: delays.find(({ reason }) => reason !== "turn") ?? delays[0],
    hasProgress: results.some(({ hasProgress }) => hasProgress),
  };
}

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
    seconds: leaseSeconds,
    set: lanes.laneDueAttributes(configId, addSeconds(leaseSeconds)),
    if: present("arrivals"),
    attributes: leases.isoAttributes,
  });

// Sequences and small audiences make small chunks with one call each. One after the other they
// would take as long as large chunks.
const mailsPerParallelCall = 125;

/**
 * At least one chunk, and at most `maxChunks` with no more mails than as many calls hand over.
 * Without any, `nextAt` is when the first is due.
 */
async function listReadyChunks(
  { orgId, configId }: LaneLease,
  maxChunks: number,
): Promise<{ ready: lanes.QueuedChunk[]; nextAt?: string }> {
  const { items } = await query<lanes.QueuedChunk>(ranges.queuedChunks(orgId, configId), {
    limit: maxChunks,
    consistent: true,
  });
  const [first] = items;
  if (!first) return { ready: [] };
  const at = now().toISOString();
  if (first.at > at) return { ready: [], nextAt: first.at };
  let mails = 0;
  const end = items.findIndex((chunk) => {
    mails += chunk.n;
    return chunk.at > at || !chunk.source || mails > maxChunks * mailsPerParallelCall;
  });
  return { ready: items.slice(0, end < 0 ? items.length : Math.max(1, end)) };
}

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
