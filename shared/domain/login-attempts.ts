// Guessing passwords: so many failures per account and per client address in 15 minutes, then everyone waits, whoever they are.

import { epochSeconds } from "../clock.ts";
import { exists } from "../conditions.ts";
import { config } from "../config.ts";
import { claim, remove, update, updateReturning, write } from "../doors/table.ts";
import { limited } from "../errors.ts";
import { type Address, keys } from "../keys.ts";
import { networkOf } from "../networks.ts";

const usualSeconds = 15 * 60;

interface Guard {
  who: string;
  /** Failures in a window. */
  limit: number;
  /** How long the window is; 15 minutes when absent. */
  seconds?: number;
}
export const onAccount = (email: string): Guard => ({ who: `login to ${email.toLowerCase()}`, limit: 10 });
/** Beside the first, for codes: who can reset the password may not guess on for that. */
export const onCodes = (email: string): Guard => ({ who: `codes of ${email.toLowerCase()}`, limit: 10 });
export const fromClient = (address: string): Guard => ({ who: `login from ${networkOf(address)}`, limit: config.loginFailuresPerAddress });

/** Of whoever has to say a passphrase: no guessing at `what`. */
export const onPassphrase = (what: string): Guard => ({ who: `passphrase of ${what}`, limit: 5, seconds: 3600 });

/**
 * Runs `work`, whose undefined means failure; 429 with `retryAfter` once any guard has seen too many. A try is counted before it is
 * made and taken back when it did not fail, so a thousand guesses at once are no more than a thousand one by one.
 */
export async function guarded<T>(guards: Guard[], work: () => Promise<T | undefined>): Promise<T | undefined> {
  const counted: Address[] = [];
  for (const { who, limit, seconds = usualSeconds } of guards) {
    const window = windowOf(seconds);
    const address = keys.failures(who, window.number);
    if ((await count(address, window)) > limit) throw tooMany("Too many failed attempts: wait before the next", limit, window);
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
export const forgive = (email: string): Promise<void> => write(remove(keys.failures(onAccount(email).who, windowOf(usualSeconds).number)));

const mailsPerWindow = 5;

/** Whether one more mail of this kind may go to this address now, so that nobody's mailbox is flooded through us. */
export async function mayMail(what: string, email: string): Promise<boolean> {
  const window = windowOf(usualSeconds);
  return (await count(keys.failures(`${what} to ${email.toLowerCase()}`, window.number), window)) <= mailsPerWindow;
}

/** 429 when it may not. */
export async function permitMail(what: string, email: string): Promise<void> {
  if (!(await mayMail(what, email)))
    throw tooMany("Too many mails were asked for: wait before the next", mailsPerWindow, windowOf(usualSeconds));
}

interface Window {
  number: number;
  /** Unix seconds. */
  end: number;
}

function windowOf(seconds: number): Window {
  const number = Math.floor(epochSeconds() / seconds);
  return { number, end: (number + 1) * seconds };
}

async function count(address: Address, { end }: Window): Promise<number> {
  const counter = await updateReturning<{ failures: number }>(update(address, { add: { failures: 1 }, set: { expires: end } }));
  return counter?.failures ?? 0;
}

const tooMany = (message: string, limit: number, { end }: Window) =>
  limited(message, { facts: { retryAfter: Math.max(1, end - epochSeconds()), limit, resetAt: end } });
