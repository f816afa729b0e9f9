// Guessing passwords: so many failures per account and per client address in 15 minutes, then everyone waits, whoever they are.
import { epochSeconds } from "../clock.ts";
import { exists } from "../conditions.ts";
import { claim, remove, update, updateReturning, write } from "../doors/table.ts";
import { limited } from "../errors.ts";
import { type Address, keys } from "../keys.ts";
import { networkOf } from "../networks.ts";

const windowSeconds = 15 * 60;

interface Guard {
  who: string;
  /** Failures in a window. */
  limit: number;
}
export const onAccount = (email: string): Guard => ({ who: `login to ${email.toLowerCase()}`, limit: 10 });
export const fromClient = (address: string): Guard => ({ who: `login from ${networkOf(address)}`, limit: 50 });

/**
 * Runs `work`, whose undefined means failure; 429 with `retryAfter` once any guard has seen too many. A try is counted before it is
 * made and taken back when it did not fail, so a thousand guesses at once are no more than a thousand one by one.
 */
export async function guarded<T>(guards: Guard[], work: () => Promise<T | undefined>): Promise<T | undefined> {
  const window = Math.floor(epochSeconds() / windowSeconds);
  const counted: Address[] = [];
  for (const { who, limit } of guards) {
    const address = keys.failures(who, window);
    if ((await count(address, window)) > limit) throw tooMany(limit, window);
    counted.push(address);
  }
  let failed = false;
  try {
    const result = await work();
    failed = result === undefined;
    return result;
  } finally {
    if (!failed) await Promise.all(counted.map((address) => claim(update(address, { add: { failures: -1 } }, { if: exists }))));
  }
}

/** Who has proven to own the account may log in at once. */
export const forgive = (email: string): Promise<void> =>
  write(remove(keys.failures(onAccount(email).who, Math.floor(epochSeconds() / windowSeconds))));

const mailsPerWindow = 5;

/** Whether one more reset mail may go to this address now, so that nobody's mailbox is flooded through us. */
export async function mayMail(email: string): Promise<boolean> {
  const window = Math.floor(epochSeconds() / windowSeconds);
  return (await count(keys.failures(`reset mail to ${email.toLowerCase()}`, window), window)) <= mailsPerWindow;
}

const endOf = (window: number): number => (window + 1) * windowSeconds;

async function count(address: Address, window: number): Promise<number> {
  const counter = await updateReturning<{ failures: number }>(update(address, { add: { failures: 1 }, set: { expires: endOf(window) } }));
  return counter?.failures ?? 0;
}

const tooMany = (limit: number, window: number) =>
  limited("Too many failed attempts: wait before the next", {
    facts: { retryAfter: Math.max(1, endOf(window) - epochSeconds()), limit, resetAt: endOf(window) },
  });
