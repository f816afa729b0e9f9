// How the mail of an organization fares with those who get it, from the counters of the last 30 days.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { get } from "../doors/table.ts";
import { keys } from "../keys.ts";
import * as days from "./insight/days.ts";
import { figuresOf, percent, rate } from "./insight/figures.ts";
import { spanOf } from "./insight/spans.ts";
import { summed } from "./insight/sums.ts";
import * as organizations from "./organizations.ts";
import * as sites from "./sites.ts";

export const trustLevels = ["new", "good", "watch", "poor"] as const;

/** From this share on, of hard bounces and of complaints. Mailbox providers begin to hold mail back at about the first, and refuse it at the second. */
const bounds = { watch: { hardBounces: 0.05, complaints: 0.001 }, poor: { hardBounces: 0.1, complaints: 0.005 } };
const fewest = 100;
const from = (level: keyof typeof bounds): string =>
  `from ${percent(bounds[level].hardBounces)} hard bounces or ${percent(bounds[level].complaints)} complaints on`;

const trustRule = `Of the last 30 days. new: fewer than ${fewest} mails were sent; poor: ${from("poor")}; watch: ${from("watch")}; good: else. It tells; nothing is held back for it.`;

const Rate = z.number().describe("From 0 to 1");
export const Health = z.object({
  from: z.string().describe("First of the 30 days, in the organization's time zone"),
  to: z.string(),
  sent: z.int().describe("Taken by a provider"),
  delivered: z.int(),
  bouncedHard: z.int(),
  bouncedSoft: z.int(),
  dropped: z.int().describe("Refused by the provider itself"),
  complained: z.int(),
  unsubscribed: z.int(),
  bounceRate: Rate.describe("Bounces, hard and soft, for each mail sent; from 0 to 1"),
  hardBounceRate: Rate,
  complaintRate: Rate.describe("Complaints for each mail delivered; from 0 to 1"),
  trust: z.object({ level: z.enum(trustLevels), rule: z.string() }),
  unmatchedEvents: z.int().describe("Events that providers reported for mails which are not ours, since ever"),
});
export type Health = z.output<typeof Health>;

export async function of(caller: Caller): Promise<Health> {
  const { orgId } = caller;
  const [siteIds, to, unmatched] = await Promise.all([
    sites.visible(caller),
    organizations.today(orgId),
    get<{ count: number }>(keys.unmatchedCount(orgId), { consistent: false }),
  ]);
  const span = spanOf("30d", to);
  const counted = summed([...(await days.between(orgId, siteIds, span)).values()]);
  const { sent, delivered, complained, unsubscribed } = figuresOf(counted);
  const { bouncedHard = 0, bouncedSoft = 0, dropped = 0 } = counted;
  const told = { sent, delivered, bouncedHard, bouncedSoft, dropped, complained, unsubscribed };
  return { ...span, ...told, ...judged(told), unmatchedEvents: unmatched?.count ?? 0 };
}

type Told = Pick<Health, "sent" | "delivered" | "bouncedHard" | "bouncedSoft" | "complained">;

/** Pure. */
export function judged({ sent, delivered, bouncedHard, bouncedSoft, complained }: Told) {
  const hardBounceRate = rate(bouncedHard, sent);
  const complaintRate = rate(complained, delivered);
  const passes = ({ hardBounces, complaints }: (typeof bounds)["poor"]) => hardBounceRate >= hardBounces || complaintRate >= complaints;
  const level = sent < fewest ? "new" : passes(bounds.poor) ? "poor" : passes(bounds.watch) ? "watch" : "good";
  const trust = { level: level as (typeof trustLevels)[number], rule: trustRule };
  return { bounceRate: rate(bouncedHard + bouncedSoft, sent), hardBounceRate, complaintRate, trust };
}
