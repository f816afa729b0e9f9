// Rate limiter and circuit breaker of a sending config. Single sends and the calls of its lane
// share both. They pause together when the provider asks for a pause or fails repeatedly.

import {
  absent,
  all,
  any,
  atLeast,
  atMost,
  exists,
  lessThan,
} from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getTogether,
  transact,
  update,
  updateReturning,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now, sleep } from "../../../clock.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import { type Key, keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import { prepareEvents } from "../../webhooks/record-events.ts";

/** Attributes of the lane item. */
export interface LimiterState {
  /** End of the last reserved slot (ms since 1970). */
  clock?: number;
  /** End of the current pause (ms since 1970). */
  notBefore?: number;
  /** Consecutive failures of the provider. */
  faults?: number;
  /** Consecutive requests of the provider to slow down that named no time. */
  throttles?: number;
  /** Since when the provider has accepted nothing of the lane (ISO 8601). */
  heldSince?: string;
  /** The message of the provider with its last failure or request for a pause. */
  heldError?: string;
  /** Webhook endpoints got the event about the current failures. */
  isPauseReported?: true;
}

/**
 * `turn`: no slot is free yet. `pace`: the provider asked for a pause. `fault`: the provider
 * failed.
 */
export interface HandOverDelay {
  reason: "turn" | "pace" | "fault";
  seconds: number;
  /** The provider named the time. */
  isNamed?: boolean;
  /** Message of the provider, at most 300 characters, without secrets. */
  error?: string;
}

export interface RateSlot {
  /** 0: the slot starts now. */
  waitSeconds: number;
  /** The slot is kept for a caller that returns after the wait. */
  isReserved: boolean;
  /** The last call failed, so a success should reset the breaker. */
  isAfterFailure: boolean;
  lane: LimiterState;
}

interface LimitedConfig {
  id: number;
  ratePerSecond?: number | null | undefined;
}

/** Longer waits use a delayed queue message. */
export const maxSleepMs = 2000;
const breakerThreshold = 5;
const breakerSeconds = 60;
const maxPauseSeconds = 3600;

/**
 * Reserves a slot for `n` mails, at most `maxAheadMs` ahead. Waits up to 2 seconds inside the call.
 * `known`: the state of the limiter, if the caller has just read it.
 * Single sends reserve ahead and lanes do not, so single sends go first.
 */
export async function acquireSlot(
  orgId: number,
  config: LimitedConfig,
  { n, maxAheadMs = 0, known }: { n: number; maxAheadMs?: number; known?: LimiterState },
): Promise<RateSlot> {
  const key = keys.lane(orgId, config.id);
  const { startsAt, isReserved, lane } = config.ratePerSecond
    ? await reserveSlot(key, (n * 1000) / config.ratePerSecond, maxAheadMs)
    : toUnlimitedSlot(known ?? (await readState(orgId, config.id)));
  const waitMs = Math.max(startsAt - now().getTime(), 0);
  const common = { isReserved, isAfterFailure: Boolean(lane.faults), lane };
  if (waitMs > maxSleepMs) return { waitSeconds: waitMs / 1000, ...common };
  if (waitMs > 0) await sleep(waitMs);
  return isReserved ? { waitSeconds: 0, ...common } : acquireSlot(orgId, config, { n, maxAheadMs });
}

interface Reservation {
  startsAt: number;
  isReserved: boolean;
  lane: LimiterState;
}

const toUnlimitedSlot = (lane: LimiterState): Reservation => {
  const { notBefore = 0 } = lane;
  return { startsAt: notBefore, isReserved: notBefore <= now().getTime(), lane };
};

export const readState = async (orgId: number, configId: number): Promise<LimiterState> =>
  (await getTogether<LimiterState>(keys.lane(orgId, configId))) ?? {};

export const isPaused = ({ notBefore = 0 }: LimiterState): boolean => notBefore > now().getTime();

/** The provider has accepted nothing since its last failure or request for a pause. */
export const hasFailures = ({ faults, heldSince }: LimiterState): boolean =>
  Boolean(faults || heldSince);

/** Paused because the provider failed repeatedly, not because it asked for a pause. */
export const isBreakerOpen = (state: LimiterState): boolean =>
  isPaused(state) && (state.faults ?? 0) >= breakerThreshold;

const recentStates = createLruCache<{ state: LimiterState; readAt: number }>(10_000);
const recentMs = 1000;

/** The state of the last second. Changes that this process makes to it are seen at once. */
export async function getRecentState(orgId: number, configId: number): Promise<LimiterState> {
  const key = keys.lane(orgId, configId);
  const recent = recentStates.get(key.pk);
  const readAt = performance.now();
  if (recent && readAt < recent.readAt + recentMs) return recent.state;
  const state = await readState(orgId, configId);
  recentStates.set(key.pk, { state, readAt }, 1);
  return state;
}

const forgetRecentState = (orgId: number, configId: number): void =>
  recentStates.set(
    keys.lane(orgId, configId).pk,
    { state: {}, readAt: Number.NEGATIVE_INFINITY },
    1,
  );

// Parallel additions never conflict with each other, unlike compare-and-swap.
async function reserveSlot(key: Key, lengthMs: number, maxAheadMs: number): Promise<Reservation> {
  const time = now().getTime();
  const notPaused = any(absent("notBefore"), atMost("notBefore", time));
  const busyCondition = all(notPaused, atLeast("clock", time), atMost("clock", time + maxAheadMs));
  const addSlot = update(key, { add: { clock: lengthMs } }, { if: busyCondition });
  const queued =
    maxAheadMs > 0 ? await updateReturning<Required<LimiterState>>(addSlot) : undefined;
  if (queued) return { startsAt: queued.clock - lengthMs, isReserved: true, lane: queued };
  const idleCondition = all(notPaused, any(absent("clock"), lessThan("clock", time)));
  const first = await updateReturning<LimiterState>(
    update(key, { set: { clock: time + lengthMs } }, { if: idleCondition }),
  );
  if (first) return { startsAt: time, isReserved: true, lane: first };
  const lane: LimiterState = (await get<LimiterState>(key)) ?? {};
  const { clock = 0, notBefore = 0 } = lane;
  return {
    startsAt: Math.max(notBefore, clock > time + maxAheadMs ? clock : 0),
    isReserved: false,
    lane,
  };
}

/**
 * The next pause of the lane: 1, 2, 4 and 8 seconds after failures, then a minute. A provider that
 * asks for a pause names its length; otherwise the pause doubles each time, up to a minute.
 */
export function computeBackOff(
  { reason, seconds, isNamed, error: heldError }: HandOverDelay,
  { faults = 0, throttles = 0, heldSince = now().toISOString() }: LimiterState,
): { seconds: number; limiterState: LimiterState } {
  const inRow = {
    faults: reason === "fault" ? faults + 1 : 0,
    throttles: reason === "pace" && !isNamed ? throttles + 1 : 0,
  };
  const isOpen = inRow.faults >= breakerThreshold;
  const growing = inRow.faults + inRow.throttles;
  const minSeconds = growing && Math.min(2 ** (growing - 1), breakerSeconds);
  const pauseSeconds = Math.min(
    Math.max(seconds, isOpen ? breakerSeconds : minSeconds),
    maxPauseSeconds,
  );
  const notBefore = now().getTime() + pauseSeconds * 1000;
  const limiterState = { ...inRow, notBefore, heldSince, ...(heldError && { heldError }) };
  return { seconds: pauseSeconds, limiterState };
}

/**
 * After a held single send: pauses the whole config when the provider asks for it, or after five
 * consecutive failures.
 */
export async function recordHeldSend(
  orgId: number,
  configId: number,
  { reason, seconds, error }: HandOverDelay,
): Promise<void> {
  const key = keys.lane(orgId, configId);
  const failing =
    reason === "fault"
      ? await updateReturning<LimiterState>(update(key, { add: { faults: 1 } }))
      : undefined;
  if (failing && failing.faults! < breakerThreshold) return;
  await pauseFor(orgId, configId, { seconds: failing ? breakerSeconds : seconds, error });
  if (failing) await reportOpenBreaker(orgId, configId);
}

/**
 * Call it while the breaker is open. Sends the webhook event once until a success resets the
 * breaker; after a crash the next failure sends it.
 */
export async function reportOpenBreaker(orgId: number, sendingConfigId: number): Promise<void> {
  const reason = `The provider failed ${breakerThreshold} times in a row`;
  const pausedUntil = addSeconds(breakerSeconds).toISOString();
  const data = { sendingConfigId, reason, pausedUntil };
  const events = await prepareEvents(orgId, () => [
    { event: "sending_config.paused", details: { data } },
  ]);
  if (!events.writes.length) return;
  const change = update(
    keys.lane(orgId, sendingConfigId),
    { set: { isPauseReported: true } },
    { if: all(absent("isPauseReported"), atLeast("faults", breakerThreshold)) },
  );
  if (await transact(change, ...events.writes)) await events.afterCommit();
}

async function pauseFor(
  orgId: number,
  configId: number,
  { seconds, error: heldError }: { seconds: number; error?: string | undefined },
): Promise<void> {
  const notBefore = now().getTime() + Math.min(seconds, maxPauseSeconds) * 1000;
  const key = keys.lane(orgId, configId);
  await write(
    heldError
      ? update(key, { set: { notBefore, heldError } })
      : update(key, { set: { notBefore }, remove: ["heldError"] }),
  );
  forgetRecentState(orgId, configId);
}

/** After calls that the provider accepted: pauses the config if they used up its rate limit. */
export async function applyPauses(
  orgId: number,
  configId: number,
  outcomes: HandOverOutcome[],
): Promise<void> {
  const pauses = outcomes.map((outcome) =>
    outcome.status === "accepted" ? (outcome.pauseSeconds ?? 0) : 0,
  );
  const seconds = Math.max(0, ...pauses);
  if (seconds > 0) await pauseFor(orgId, configId, { seconds });
}

/** After the provider accepted mail again. */
export async function resetBreaker(
  orgId: number,
  configId: number,
): Promise<LimiterState | undefined> {
  const state = await updateReturning<LimiterState>(
    update(
      keys.lane(orgId, configId),
      { remove: ["faults", "throttles", "heldSince", "heldError", "isPauseReported"] },
      { if: exists },
    ),
  );
  forgetRecentState(orgId, configId);
  return state;
}
