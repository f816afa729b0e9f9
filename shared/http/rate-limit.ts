import * as z from "zod";
import { epochSeconds } from "../clock.ts";
import { config } from "../config.ts";
import { get, update, updateReturning } from "../doors/table.ts";
import { limited } from "../errors.ts";
import { type Address, keys } from "../keys.ts";
import { networkOf } from "../networks.ts";
import { type PlanKey, plans } from "../plans.ts";

// Fixed windows of one minute.
export const windowSeconds = 60;

export const Window = z.object({ limit: z.int(), used: z.int(), remaining: z.int(), resetAt: z.int().describe("Unix seconds") });
export type Window = z.output<typeof Window>;
export const Windows = z.object({ general: Window, send: Window });

type Counted = "general" | "send";
const minute = () => Math.floor(epochSeconds() / windowSeconds);
const limitOf = (plan: PlanKey, counted: Counted) => (counted === "send" ? plans[plan].sendPerMinute : plans[plan].generalPerMinute);

// An organization that was refused stays refused until its window ends: the function remembers, and the table is spared.
const refusedWindows = new Set<string>();

/** One more request in this window; answers how many there are now. */
export async function count(orgId: number, counted: Counted): Promise<number> {
  const address = keys.rateWindow(orgId, counted, minute());
  if (refusedWindows.has(address.pk)) return Number.POSITIVE_INFINITY;
  return countAt(address);
}

async function countAt(address: Address): Promise<number> {
  const window = await updateReturning<{ used: number }>(
    update(address, { add: { used: 1 }, set: { expires: epochSeconds() + 2 * windowSeconds } }),
  );
  return window?.used ?? 0;
}

/** How many there are, without counting this one. */
export async function peek(orgId: number, counted: Counted): Promise<number> {
  const window = await get<{ used: number }>(keys.rateWindow(orgId, counted, minute()), { consistent: false });
  return window?.used ?? 0;
}

export function windowOf(plan: PlanKey, counted: Counted, used: number): Window {
  const limit = limitOf(plan, counted);
  const bounded = Math.min(used, limit);
  return { limit, used: bounded, remaining: limit - bounded, resetAt: (minute() + 1) * windowSeconds };
}

/** Both, without counting this request. */
export async function windowsOf({ orgId, plan }: { orgId: number; plan: PlanKey }): Promise<z.output<typeof Windows>> {
  const [general, send] = await Promise.all([peek(orgId, "general"), peek(orgId, "send")]);
  return { general: windowOf(plan, "general", general), send: windowOf(plan, "send", send) };
}

export const headersOf = ({ limit, remaining, resetAt }: Window): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(resetAt),
});

/** Throws 429 when `used` is more than the plan allows. */
export function enforce(orgId: number, plan: PlanKey, counted: Counted, used: number): void {
  const { limit, resetAt } = windowOf(plan, counted, used);
  if (used <= limit) return;
  if (refusedWindows.size > 10_000) refusedWindows.clear();
  refusedWindows.add(keys.rateWindow(orgId, counted, minute()).pk);
  throw refused(`Rate limit of ${limit} requests per minute exceeded`, limit, resetAt);
}

/** For public routes: so many requests a minute from one client address to one route. */
export async function countAddress(address: string, routeKey: string): Promise<void> {
  const limit = config.addressLimit;
  const used = await countAt(keys.failures(`${networkOf(address)} ${routeKey}`, minute()));
  if (used > limit) throw refused(`Too many requests from this address: ${limit} per minute`, limit, (minute() + 1) * windowSeconds);
}

const refused = (message: string, limit: number, resetAt: number) =>
  limited(message, { facts: { retryAfter: Math.max(1, resetAt - epochSeconds()), limit, resetAt } });
