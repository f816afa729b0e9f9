// Warm-up: a daily limit for bulk mail that grows until its last day, so that a new account or
// address can build its reputation. Days are in UTC; the first is the day on which the warm-up was
// set.
import * as z from "zod";
import { absent, any, atLeast, atMost } from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update, write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../clock.ts";
import { keys } from "../../keys.ts";

const Mails = z.int().min(1).max(100_000_000);
export const WarmUp = z
  .object({
    firstDayMails: Mails.describe(
      "Emails on the first day. The limit then grows by the same factor every day.",
    ),
    lastDayMails: Mails.describe("Emails on the last day, at least `firstDayMails`."),
    days: z
      .int()
      .min(2)
      .max(180)
      .describe("Length of the warm-up in days. There is no limit after it."),
  })
  .refine(({ firstDayMails, lastDayMails }) => lastDayMails >= firstDayMails, {
    path: ["lastDayMails"],
    message: "must be at least firstDayMails",
  })
  .meta({ id: "WarmUp" });
export type WarmUp = z.output<typeof WarmUp>;

export const StartedWarmUp = z
  .object({
    ...WarmUp.shape,
    startedAt: z.string().describe("When the warm-up was set. Its UTC day is the first day."),
  })
  .meta({ id: "StartedWarmUp" });
export type StartedWarmUp = z.output<typeof StartedWarmUp>;

interface WarmUpConfig {
  id: number;
  warmUp?: StartedWarmUp | null | undefined;
}

const dayMs = 24 * 3600 * 1000;
const dayOf = (at: Date): number => Math.floor(at.getTime() / dayMs);

/**
 * The limit of the day. Undefined (no limit) before the start, after the last day and without a
 * warm-up.
 */
export function dailyLimit(warmUp: StartedWarmUp | null | undefined, at: Date): number | undefined {
  if (!warmUp) return undefined;
  const { firstDayMails, lastDayMails, days, startedAt } = warmUp;
  const day = dayOf(at) - dayOf(new Date(startedAt));
  if (day < 0 || day >= days) return undefined;
  return Math.round(firstDayMails * (lastDayMails / firstDayMails) ** (day / (days - 1)));
}

const counterTtlSeconds = 7 * 24 * 3600;
const countChanges = (n: number) => ({
  add: { mails: n },
  set: { expires: epochSeconds() + counterTtlSeconds },
});
const todayKey = (orgId: number, { id }: WarmUpConfig) =>
  keys.warmUpDay(orgId, id, now().toISOString().slice(0, 10));

/**
 * Takes `n` mails from today's limit. Returns 0 on success, otherwise the seconds until tomorrow.
 */
export async function takeDailyQuota(
  orgId: number,
  config: WarmUpConfig,
  n: number,
): Promise<number> {
  const limit = dailyLimit(config.warmUp, now());
  if (limit === undefined) return 0;
  const belowLimit = any(absent("mails"), atMost("mails", limit - n));
  if (
    limit >= n &&
    (await transact(update(todayKey(orgId, config), countChanges(n), { if: belowLimit })))
  )
    return 0;
  return (dayMs - (now().getTime() % dayMs)) / 1000 + 1;
}

/** Returns mails that were taken but not handed over. */
export async function giveBack(orgId: number, config: WarmUpConfig, n: number): Promise<void> {
  if (dailyLimit(config.warmUp, now()) === undefined) return;
  await transact(
    update(todayKey(orgId, config), { add: { mails: -n } }, { if: atLeast("mails", n) }),
  );
}

/** Today's limit and the mails counted against it. Undefined without a limit. */
export async function getTodaysUse(
  orgId: number,
  config: WarmUpConfig,
): Promise<{ limit: number; mails: number } | undefined> {
  const limit = dailyLimit(config.warmUp, now());
  if (limit === undefined) return undefined;
  const counter = await get<{ mails?: number }>(todayKey(orgId, config), { consistent: false });
  return { limit, mails: counter?.mails ?? 0 };
}

/** Counts single sends, which the limit does not hold back. */
export async function countMails(orgId: number, config: WarmUpConfig, n: number): Promise<void> {
  if (dailyLimit(config.warmUp, now()) !== undefined)
    await write(update(todayKey(orgId, config), countChanges(n)));
}
