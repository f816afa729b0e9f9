// The pace and the breaker of a sending config. Single sends and the calls of its lane draw turns from one clock, and wait together
// when the provider asks for a pause or keeps failing.
import { now, sleep } from "../../clock.ts";
import { absent, all, any, atLeast, atMost, below } from "../../conditions.ts";
import { get, update, updateReturning, write } from "../../doors/table.ts";
import { type Address, keys } from "../../keys.ts";

/** Attributes of the lane's item. */
export interface Pace {
  /** Up to when the pace is spoken for (ms since 1970). */
  clock?: number;
  /** Nothing is handed over before (ms since 1970). */
  notBefore?: number;
  /** Failures of the provider in a row. */
  faults?: number;
  /** Since when it has taken nothing of the lane (ISO 8601). */
  heldSince?: string;
}

/** `turn`: it is others' turn; `pace`: the provider asked for a pause; `fault`: it has trouble. */
export interface Wait {
  why: "turn" | "pace" | "fault";
  seconds: number;
}

export interface Turn {
  /** 0: go. */
  waitSeconds: number;
  /** Whether the turn is kept for who comes back after the wait. */
  taken: boolean;
  /** The last call failed: who succeeds should tell. */
  troubled: boolean;
  lane: Pace;
}

interface Paced {
  id: number;
  ratePerSecond?: number | null | undefined;
}

/** Longer waits are not slept through but sent to the queue as a delayed message. */
export const longestNapMs = 2000;
const breakerFaults = 5;
const breakerSeconds = 60;
const longestPauseSeconds = 3600;

/**
 * Takes a turn for `n` mails at the pace of the config, unless it would come later than `aheadMs` from now. Short waits are slept
 * through. Who takes turns ahead is served before who does not: single sends do, lanes do not.
 */
export async function turn(orgId: number, config: Paced, n: number, aheadMs = 0): Promise<Turn> {
  const address = keys.lane(orgId, config.id);
  const { startsAt, taken, lane } = config.ratePerSecond
    ? await reserve(address, (n * 1000) / config.ratePerSecond, aheadMs)
    : await unpaced(address);
  const waitMs = Math.max(startsAt - now().getTime(), 0);
  const told = { taken, troubled: Boolean(lane.faults), lane };
  if (waitMs > longestNapMs) return { waitSeconds: waitMs / 1000, ...told };
  if (waitMs > 0) await sleep(waitMs);
  return taken ? { waitSeconds: 0, ...told } : turn(orgId, config, n, aheadMs);
}

interface Slot {
  startsAt: number;
  taken: boolean;
  lane: Pace;
}

async function unpaced(address: Address): Promise<Slot> {
  const lane: Pace = (await get<Pace>(address, { consistent: false })) ?? {};
  const { notBefore = 0 } = lane;
  return { startsAt: notBefore, taken: notBefore <= now().getTime(), lane };
}

// Additions never stand in each other's way, however many ask at once; comparing and swapping would.
async function reserve(address: Address, lengthMs: number, aheadMs: number): Promise<Slot> {
  const time = now().getTime();
  const open = any(absent("notBefore"), atMost("notBefore", time));
  const behind = all(open, atLeast("clock", time), atMost("clock", time + aheadMs));
  const adding = update(address, { add: { clock: lengthMs } }, { if: behind });
  const queued = aheadMs > 0 ? await updateReturning<Required<Pace>>(adding) : undefined;
  if (queued) return { startsAt: queued.clock - lengthMs, taken: true, lane: queued };
  const idle = all(open, any(absent("clock"), below("clock", time)));
  const first = await updateReturning<Pace>(update(address, { set: { clock: time + lengthMs } }, { if: idle }));
  if (first) return { startsAt: time, taken: true, lane: first };
  const lane: Pace = (await get<Pace>(address)) ?? {};
  const { clock = 0, notBefore = 0 } = lane;
  return { startsAt: Math.max(notBefore, clock > time + aheadMs ? clock : 0), taken: false, lane };
}

/** What a pause leaves on the lane. After 1, 2, 4 and 8 seconds the breaker opens for a minute; who asks for a pace says how long. */
export function pausing({ why, seconds }: Wait, { faults = 0, heldSince = now().toISOString() }: Pace): { seconds: number; marks: Pace } {
  const straight = why === "fault" ? faults + 1 : 0;
  const least = straight >= breakerFaults ? breakerSeconds : straight && 2 ** (straight - 1);
  const pause = Math.min(Math.max(seconds, least), longestPauseSeconds);
  return { seconds: pause, marks: { faults: straight, notBefore: now().getTime() + pause * 1000, heldSince } };
}

/** A single send was held: a provider that asks for a pause gets it from everyone, as does one that fails five times in a row. */
export async function held(orgId: number, configId: number, { why, seconds }: Wait): Promise<void> {
  const address = keys.lane(orgId, configId);
  const failing = why === "fault" ? await updateReturning<Pace>(update(address, { add: { faults: 1 } })) : undefined;
  if (failing && failing.faults! < breakerFaults) return;
  const pause = Math.min(failing ? breakerSeconds : seconds, longestPauseSeconds);
  await write(update(address, { set: { notBefore: now().getTime() + pause * 1000 } }));
}

/** The provider takes mail again. */
export const relieve = (orgId: number, configId: number): Promise<Pace | undefined> =>
  updateReturning<Pace>(update(keys.lane(orgId, configId), { remove: ["faults", "heldSince"] }));
