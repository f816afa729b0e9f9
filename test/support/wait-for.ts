import { setTimeout as sleep } from "node:timers/promises";

/**
 * No test sets a time limit of its own. This one ends the wait for what never happens, and a busy
 * machine does not reach it.
 */
export const maxWaitMs = 120_000;

/**
 * Repeats `check` until it throws no error, and returns its result. The pauses grow to a second, so
 * that a check that calls the API stays below the rate limit of the free plan.
 */
export async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + maxWaitMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.3, 1000)) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(pauseMs);
  }
}
