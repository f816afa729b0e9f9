import * as z from "zod";
import { get, update, updateReturning } from "../adapters/dynamodb/table.ts";
import { epochSeconds } from "../clock.ts";
import { config } from "../config.ts";
import { limited } from "../errors.ts";
import { networkOf } from "../kernel/ip-addresses.ts";
import { Count } from "../kernel/record-fields.ts";
import { type Key, keys } from "../keys.ts";
import { type PlanKey, plans } from "../plans.ts";

/** The length of a fixed window. */
export const windowSeconds = 60;

export const RateLimitWindow = z
  .object({
    limit: Count.describe("Requests allowed per window."),
    used: Count.describe("Requests made in the current window."),
    remaining: Count.describe("Requests left in the current window."),
    resetAt: Count.describe("When the window ends, in Unix seconds."),
  })
  .meta({ id: "RateLimitWindow" });
export type RateLimitWindow = z.output<typeof RateLimitWindow>;
export const RateLimitWindows = z.object({
  general: RateLimitWindow.describe("Window of the general rate limit."),
  send: RateLimitWindow.describe("Window of the send rate limit."),
});

type RateLimitKind = "general" | "send";
const minute = () => Math.floor(epochSeconds() / windowSeconds);
const limitOf = (plan: PlanKey, limitKind: RateLimitKind) =>
  limitKind === "send" ? plans[plan].sendPerMinute : plans[plan].generalPerMinute;

// The request counts of exhausted windows. An organization over its limit stays refused until its
// window ends or its plan changes, so the process does not write to the table.
const exhaustedWindows = new Map<string, number>();

/**
 * Counts a request and returns the count of the window, or a lower bound after requests were
 * refused.
 */
export async function countRequest(orgId: number, limitKind: RateLimitKind): Promise<number> {
  const key = keys.rateWindow(orgId, limitKind, minute());
  const exhausted = exhaustedWindows.get(key.pk);
  if (exhausted !== undefined) return exhausted;
  return addToWindow(key);
}

async function addToWindow(key: Key): Promise<number> {
  const window = await updateReturning<{ used: number }>(
    update(key, { add: { used: 1 }, set: { expires: epochSeconds() + 2 * windowSeconds } }),
  );
  return window?.used ?? 0;
}

/** The count of the window. Does not count this request. */
export async function readCount(orgId: number, limitKind: RateLimitKind): Promise<number> {
  const key = keys.rateWindow(orgId, limitKind, minute());
  return (await get<{ used: number }>(key, { consistent: false }))?.used ?? 0;
}

export function toWindow(plan: PlanKey, limitKind: RateLimitKind, used: number): RateLimitWindow {
  const limit = limitOf(plan, limitKind);
  const usedUpToLimit = Math.min(used, limit);
  return {
    limit,
    used: usedUpToLimit,
    remaining: limit - usedUpToLimit,
    resetAt: (minute() + 1) * windowSeconds,
  };
}

/** Both windows. Does not count this request. */
export async function getWindows({
  orgId,
  plan,
}: {
  orgId: number;
  plan: PlanKey;
}): Promise<z.output<typeof RateLimitWindows>> {
  const [general, send] = await Promise.all([
    readCount(orgId, "general"),
    readCount(orgId, "send"),
  ]);
  return { general: toWindow(plan, "general", general), send: toWindow(plan, "send", send) };
}

export const toHeaders = ({
  limit,
  remaining,
  resetAt,
}: RateLimitWindow): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(resetAt),
});

export const exceeds = (plan: PlanKey, limitKind: RateLimitKind, used: number): boolean =>
  used > limitOf(plan, limitKind);

/** Throws 429 if `used` exceeds the limit of the plan. */
export function enforce(
  { orgId, plan }: { orgId: number; plan: PlanKey },
  limitKind: RateLimitKind,
  used: number,
): void {
  const { limit, resetAt } = toWindow(plan, limitKind, used);
  const { pk } = keys.rateWindow(orgId, limitKind, minute());
  if (!exceeds(plan, limitKind, used)) {
    exhaustedWindows.delete(pk);
    return;
  }
  if (exhaustedWindows.size > 10_000) exhaustedWindows.clear();
  exhaustedWindows.set(pk, limit + 1);
  throw tooManyRequests(
    `The rate limit of ${limit} requests per minute is exceeded: wait retryAfter seconds, ` +
      "then try again",
    limit,
    resetAt,
  );
}

/** Throws 429 if one client network sends too many requests per minute to a public route. */
export async function limitAddress(address: string, routeKey: string): Promise<void> {
  const limit = config.addressLimitPerMinute;
  const used = await addToWindow(keys.failureCount(`${networkOf(address)} ${routeKey}`, minute()));
  if (used > limit)
    throw tooManyRequests(
      `Too many requests from this IP address (at most ${limit} per minute): try again in a minute`,
      limit,
      (minute() + 1) * windowSeconds,
    );
}

const tooManyRequests = (message: string, limit: number, resetAt: number) =>
  limited(message, {
    bodyFields: { retryAfter: Math.max(1, resetAt - epochSeconds()), limit, resetAt },
  });
