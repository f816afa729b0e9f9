// A new account or address earns its reputation by sending little at first: so many bulk mails on the first day, more on each
// further one, and without limit after the last. Days are those of UTC, and begin with the day on which the warm-up was set.
import * as z from "zod";
import { epochSeconds, now } from "../../clock.ts";
import { absent, any, atMost } from "../../conditions.ts";
import { claim, update, write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";

const Mails = z.int().min(1).max(100_000_000);
export const WarmUp = z
  .object({
    firstDayMails: Mails.describe("Mails on the first day; the limit then grows by the same factor every day"),
    lastDayMails: Mails.describe("Mails on the last day"),
    days: z.int().min(2).max(180),
  })
  .refine(({ firstDayMails, lastDayMails }) => lastDayMails >= firstDayMails, {
    path: ["lastDayMails"],
    message: "must be at least firstDayMails",
  });
export type WarmUp = z.output<typeof WarmUp>;

export const Warming = z.object({ ...WarmUp.shape, startedAt: z.string() });
export type Warming = z.output<typeof Warming>;

interface Config {
  id: number;
  warmUp?: Warming | null | undefined;
}

const dayMs = 24 * 3600 * 1000;
const dayOf = (at: Date): number => Math.floor(at.getTime() / dayMs);

/** How many mails may go that day; undefined before the start, after the last day, and without a warm-up. */
export function limitOn(warming: Warming | null | undefined, at: Date): number | undefined {
  if (!warming) return undefined;
  const { firstDayMails, lastDayMails, days, startedAt } = warming;
  const day = dayOf(at) - dayOf(new Date(startedAt));
  if (day < 0 || day >= days) return undefined;
  return Math.round(firstDayMails * (lastDayMails / firstDayMails) ** (day / (days - 1)));
}

const keepSeconds = 7 * 24 * 3600;
const counting = (n: number) => ({ add: { mails: n }, set: { expires: epochSeconds() + keepSeconds } });
const todayOf = (orgId: number, { id }: Config) => keys.warmUpDay(orgId, id, now().toISOString().slice(0, 10));

/** Takes `n` of the day's mails. 0 when they are had, else the seconds until the next day. */
export async function take(orgId: number, config: Config, n: number): Promise<number> {
  const limit = limitOn(config.warmUp, now());
  if (limit === undefined) return 0;
  const enough = any(absent("mails"), atMost("mails", limit - n));
  if (limit >= n && (await claim(update(todayOf(orgId, config), counting(n), { if: enough })))) return 0;
  return (dayMs - (now().getTime() % dayMs)) / 1000 + 1;
}

/** A single send waits for no tomorrow, but it counts. */
export async function count(orgId: number, config: Config, n: number): Promise<void> {
  if (limitOn(config.warmUp, now()) !== undefined) await write(update(todayOf(orgId, config), counting(n)));
}
