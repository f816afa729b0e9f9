// Limits password guessing: after too many failures in one window, every login to the account or
// from the client key has to wait.

import { exists } from "../../adapters/dynamodb/conditions.ts";
import { remove, transact, update, updateReturning, write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { limited } from "../../errors.ts";
import { networkOf } from "../../kernel/ip-addresses.ts";
import { type Key, keys } from "../../keys.ts";

const defaultWindowSeconds = 15 * 60;

interface AttemptLimit {
  name: string;
  /** Failures allowed in one window. */
  limit: number;
  /** Length of the window; 15 minutes by default. */
  seconds?: number;
}
export const accountLimit = (email: string): AttemptLimit => ({
  name: `login to ${email.toLowerCase()}`,
  limit: 10,
});
/** A separate limit for codes. A password reset clears the account limit but not this one. */
export const codeLimit = (email: string): AttemptLimit => ({
  name: `codes of ${email.toLowerCase()}`,
  limit: 10,
});
export const clientLimit = (address: string): AttemptLimit => ({
  name: `login from ${networkOf(address)}`,
  limit: config.loginFailuresPerAddress,
});
export const passphraseLimit = (subject: string): AttemptLimit => ({
  name: `passphrase of ${subject}`,
  limit: 5,
  seconds: 3600,
});

/**
 * Runs `work`, which returns undefined on failure. Throws 429 with `retryAfter` if a limit is used
 * up. An attempt is counted before it runs and uncounted if it succeeds, so parallel guesses cannot
 * exceed the limit.
 */
export async function withAttemptLimits<T>(
  limits: AttemptLimit[],
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const counted: Key[] = [];
  for (const { name, limit, seconds } of limits) {
    const window = currentWindow(seconds);
    const key = keys.failureCount(name, window.number);
    if ((await countAttempt(key, window)) > limit)
      throw tooManyAttempts(
        "Too many failed attempts: wait retryAfter seconds, then try again",
        limit,
        window,
      );
    counted.push(key);
  }
  let failed = false;
  try {
    const result = await work();
    failed = result === undefined;
    return result;
  } finally {
    if (!failed)
      await Promise.all(
        counted.map((key) => transact(update(key, { add: { failures: -1 } }, { if: exists }))),
      );
  }
}

/** After a password reset, earlier failures no longer count. */
export const clearFailures = (email: string): Promise<void> =>
  write(remove(keys.failureCount(accountLimit(email).name, currentWindow().number)));

const mailLimit = (kind: string, email: string): AttemptLimit => ({
  name: `${kind} to ${email.toLowerCase()}`,
  limit: 5,
});
const invitationLimit = (orgId: number): AttemptLimit => ({
  name: `invitations of ${orgId}`,
  limit: 100,
  seconds: 3600,
});

/**
 * Counts one mail of this kind to the address. False if the window's limit is used up, so nobody
 * can flood a mailbox.
 */
export const tryCountMail = (kind: string, email: string): Promise<boolean> =>
  tryCount(mailLimit(kind, email));

/** Like `tryCountMail`, but throws 429. */
export const countMail = (kind: string, email: string): Promise<void> =>
  countWithin(mailLimit(kind, email));

/**
 * Counts one invitation to the address. Throws 429, also if the organization sent too many, so that
 * nobody can mail strangers in the name of the service.
 */
export async function countInvitation(orgId: number, email: string): Promise<void> {
  await countWithin(invitationLimit(orgId));
  await countMail("invitation", email);
}

async function countWithin(limit: AttemptLimit): Promise<void> {
  if (await tryCount(limit)) return;
  throw tooManyAttempts(
    "Too many mails were requested: wait retryAfter seconds, then try again",
    limit.limit,
    currentWindow(limit.seconds),
  );
}

async function tryCount({ name, limit, seconds }: AttemptLimit): Promise<boolean> {
  const window = currentWindow(seconds);
  return (await countAttempt(keys.failureCount(name, window.number), window)) <= limit;
}

interface AttemptWindow {
  number: number;
  /** Unix seconds. */
  end: number;
}

function currentWindow(seconds = defaultWindowSeconds): AttemptWindow {
  const number = Math.floor(epochSeconds() / seconds);
  return { number, end: (number + 1) * seconds };
}

async function countAttempt(key: Key, { end }: AttemptWindow): Promise<number> {
  const counter = await updateReturning<{ failures: number }>(
    update(key, { add: { failures: 1 }, set: { expires: end } }),
  );
  return counter?.failures ?? 0;
}

const tooManyAttempts = (message: string, limit: number, { end }: AttemptWindow) =>
  limited(message, {
    bodyFields: { retryAfter: Math.max(1, end - epochSeconds()), limit, resetAt: end },
  });
