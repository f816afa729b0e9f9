import { advanceClock } from "../../shared/clock.ts";

const [minPauseMs, maxPauseMs] = [50, 2000];

/**
 * Moves the clock during `work` instead of waiting, as when a lane waits for its rate limit. Other
 * timers, such as the timeouts of requests, are shorter or longer.
 */
export async function skippingPauses<T>(work: () => Promise<T>): Promise<T> {
  const wait = globalThis.setTimeout;
  const skip = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (ms < minPauseMs || ms > maxPauseMs) return wait(callback, ms, ...args);
    advanceClock(Math.ceil(ms) / 1000);
    return wait(callback, 0, ...args);
  };
  globalThis.setTimeout = Object.assign(skip, wait) as typeof setTimeout;
  try {
    return await work();
  } finally {
    globalThis.setTimeout = wait;
  }
}
