// Limits password guessing: after too many failures in one window, every login to the account or
// from the client key has to wait.

import { exists } from "../../adapters/dynamodb/conditions.ts";
import { remove, transact, update, updateReturning, write } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { epochSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { limited } from "../../errors.ts";
import { networkOf } from "../../kernel/ip-addresses.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { type Key, keys } from "../../keys.ts";

const defaultWindowSeconds = 15 * 60;

export interface AttemptLimit {
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

/** For webhooks of providers that are not verified. */
export const webhookLimit = (address: string, configId: number | undefined): AttemptLimit => ({
  name: `webhooks from ${networkOf(address)} for ${configId ?? "any config"}`,
  limit: 50,
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
    if ((await countAttempt(key, window)) > limit) throw tooManyFailures(limit, window);
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

/** Ends of the windows whose limit this process has seen used up, by limit. */
const usedUp = createLruCache<number>(10_000);

/** Counts a failure. Throws 429 if the limit is used up. */
export async function countFailure(limit: AttemptLimit): Promise<void> {
  refuseIfUsedUp(limit);
  if (await tryCount(limit)) return;
  usedUp.set(limit.name, currentWindow(limit.seconds).end, 1);
  refuseIfUsedUp(limit);
}

/** Throws 429 if this process knows that the limit is used up. Reads nothing. */
export function refuseIfUsedUp({ name, limit, seconds }: AttemptLimit): void {
  if ((usedUp.get(name) ?? 0) > epochSeconds())
    throw tooManyFailures(limit, currentWindow(seconds));
}

/** After a password reset, earlier failures no longer count. */
export const clearFailures = (email: string): Promise<void> =>
  write(remove(keys.failureCount(accountLimit(email).name, currentWindow().number)));

const mailLimit = (kind: string, email: string): AttemptLimit => ({
  name: `${kind} to ${email.toLowerCase()}`,
  limit: 5,
});
/** Everybody can have a free organization, so it sends fewer. */
const invitationLimit = ({ orgId, plan }: Pick<Caller, "orgId" | "plan">): AttemptLimit => ({
  name: `invitations of ${orgId}`,
  ...(plan === "free" ? { limit: 20, seconds: 24 * 3600 } : { limit: 100, seconds: 3600 }),
});

/**
 * Counts one mail of this kind to the address. False if the window's limit is used up, so nobody
 * can flood a mailbox.
 */
export const tryCountMail = (kind: string, email: string): Promise<boolean> =>
  tryCount(mailLimit(kind, email));

/** Counts a security notice about one kind of event. False after five to the address in an hour. */
export const tryCountNotice = (event: string, email: string): Promise<boolean> =>
  tryCount({ ...mailLimit(`notice ${event}`, email), seconds: 3600 });

/** Like `tryCountMail`, but throws 429. */
export const countMail = (kind: string, email: string): Promise<void> =>
  countWithin(mailLimit(kind, email));

/**
 * Counts one invitation to the address. Throws 429, also if the organization sent too many, so that
 * nobody can mail strangers in the name of the service.
 */
export async function countInvitation(
  caller: Pick<Caller, "orgId" | "plan">,
  email: string,
): Promise<void> {
  await countWithin(invitationLimit(caller));
  await countMail("invitation", email);
}

/** Counts one request for test emails of a template. Throws 429 if the day's limit is used up. */
export const countTemplateTest = (orgId: number): Promise<void> =>
  countWithin({ name: `template tests of ${orgId}`, limit: 100, seconds: 24 * 3600 });

/** Counts emails of sequences to members. False if the day's limit is used up. */
export const tryCountSequenceNotices = (orgId: number, count: number): Promise<boolean> =>
  tryCount({ name: `sequence notices of ${orgId}`, limit: 1000, seconds: 24 * 3600 }, count);

async function countWithin(limit: AttemptLimit): Promise<void> {
  if (await tryCount(limit)) return;
  throw tooManyAttempts(
    "Too many mails were requested: wait retryAfter seconds, then try again",
    limit.limit,
    currentWindow(limit.seconds),
  );
}

async function tryCount({ name, limit, seconds }: AttemptLimit, count = 1): Promise<boolean> {
  const window = currentWindow(seconds);
  return (await countAttempt(keys.failureCount(name, window.number), window, count)) <= limit;
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

async function countAttempt(key: Key, { end }: AttemptWindow, count = 1): Promise<number> {
  const counter = await updateReturning<{ failures: number }>(
    update(key, { add: { failures: count }, set: { expires: end } }),
  );
  return counter?.failures ?? 0;
}

const tooManyFailures = (limit: number, window: AttemptWindow) =>
  tooManyAttempts(
    "Too many failed attempts: wait retryAfter seconds, then try again",
    limit,
    window,
  );

const tooManyAttempts = (message: string, limit: number, { end }: AttemptWindow) =>
  limited(message, {
    bodyFields: { retryAfter: Math.max(1, end - epochSeconds()), limit, resetAt: end },
  });
