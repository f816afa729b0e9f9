import { advanceClock } from "../../shared/clock.ts";

// Shorter pauses are those between attempts on one item, which keep writers apart.
const minPauseMs = 100;

/**
 * Moves the clock during `work` where it would sleep, as when a lane waits for its rate limit. Other
 * timers, such as the timeouts of requests, stay real.
 */
export async function skippingPauses<T>(work: () => Promise<T>): Promise<T> {
  const wait = globalThis.setTimeout;
  const skip = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    if (ms < minPauseMs || !isSleep(callback)) return wait(callback, ms, ...args);
    advanceClock(Math.ceil(ms) / 1000);
    return wait(callback, 0);
  };
  globalThis.setTimeout = Object.assign(skip, wait) as typeof setTimeout;
  try {
    return await work();
  } finally {
    globalThis.setTimeout = wait;
  }
}

/** A sleep calls only the `resolve` of a promise, which is native. */
const isSleep = (callback: object): boolean => callback.toString().includes("[native code]");
