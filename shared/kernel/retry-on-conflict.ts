// Several writers of one item. An attempt reads items, checks them and writes them on the condition
// that they have not changed since.
// When the condition does not hold, the attempt runs again after a random pause. Within this
// process, writers of one item can take turns, so that each succeeds at its first attempt.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomInt } from "node:crypto";
import { ConditionFailed } from "../adapters/dynamodb/table.ts";
import { sleep } from "../clock.ts";
import { contended } from "../errors.ts";

const maxAttempts = 16;
const maxPauseMs = 600;
const maxWaitMs = 10_000;

/**
 * Runs `attempt` until it does not throw `ConditionFailed`. Any other error is thrown on. After 16
 * attempts it throws 503
 * `contended`. `attempt` gets its number, starting at 1.
 */
export async function retryOnConflict<T>(
  subject: string,
  attempt: (attemptNumber: number) => Promise<T>,
): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt(n);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (n >= maxAttempts) throw contended(subject);
      await backOff(n);
    }
  }
}

/**
 * Does the same for many items: `attempt` returns the items that lost a race, and only those are
 * tried again.
 */
export async function retryLosers<T>(
  subject: string,
  items: T[],
  attempt: (open: T[], attemptNumber: number) => Promise<T[]>,
): Promise<void> {
  let open = items;
  if (open.length)
    await retryOnConflict(subject, async (n) => {
      open = await attempt(open, n);
      if (open.length) throw new ConditionFailed(0);
    });
}

/**
 * Does the same for items that often have several writers: attempts on one key take turns in this
 * process. `isFirst` is true when no other attempt ran since the caller's own read, so that the
 * caller need not read again.
 */
export const retryInTurn = <T>(
  key: string,
  subject: string,
  attempt: (isFirst: boolean) => Promise<T>,
): Promise<T> =>
  inTurn(key, subject, (waited) => retryOnConflict(subject, (n) => attempt(n === 1 && !waited)));

/** Pauses before the next attempt. The pause grows with the number of attempts. */
export const backOff = (attempts: number): Promise<void> =>
  sleep(randomInt(1, Math.min(2 ** (attempts + 2), maxPauseMs)));

const lastTurns = new Map<string, Promise<unknown>>();
const heldKey = new AsyncLocalStorage<string>();

/**
 * Runs `work` after all work that waits for this key already. Work inside such work does not wait,
 * so there are no deadlocks.
 */
async function inTurn<T>(
  key: string,
  subject: string,
  work: (waited: boolean) => Promise<T>,
): Promise<T> {
  if (heldKey.getStore() !== undefined) return work(false);
  const previous = lastTurns.get(key);
  const since = performance.now();
  const turn = Promise.resolve(previous).then(() => {
    if (performance.now() - since > maxWaitMs) throw contended(subject);
    return heldKey.run(key, () => work(previous !== undefined));
  });
  const end = turn.catch(() => {});
  lastTurns.set(key, end);
  try {
    return await turn;
  } finally {
    if (lastTurns.get(key) === end) lastTurns.delete(key);
  }
}
