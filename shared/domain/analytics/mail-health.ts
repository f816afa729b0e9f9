// Mail health of an organization, from the daily totals of the last 30 days.
import * as z from "zod";
import { get } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { formatPercent, rate } from "../../kernel/rates.ts";
import { Count, Day } from "../../kernel/record-fields.ts";
import { addUp, toShownCount } from "../../kernel/sharded-counters.ts";
import { keys } from "../../keys.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as dailyTotals from "./daily-totals.ts";
import { toMetrics } from "./mail-metrics.ts";
import { periodEndingOn } from "./periods.ts";

export const trustLevels = ["new", "good", "watch", "poor"] as const;

/**
 * Mailbox providers throttle senders from about `watch`, and reject their mail from about `poor`.
 */
const trustThresholds = {
  watch: { hardBounces: 0.05, complaints: 0.001 },
  poor: { hardBounces: 0.1, complaints: 0.005 },
};
const minSent = 100;
const describeThreshold = (level: keyof typeof trustThresholds): string =>
  `at least ${formatPercent(trustThresholds[level].hardBounces)} hard bounces or ` +
  `${formatPercent(trustThresholds[level].complaints)} complaints`;

const trustRule =
  `Over the last 30 days. new: fewer than ${minSent} emails were sent; poor: ` +
  `${describeThreshold("poor")}; watch: ${describeThreshold("watch")}; good: otherwise. The ` +
  "level is information only: no email is held back for it.";

const Rate = z.number().describe("Rate from 0 to 1.");
export const MailHealth = z.object({
  from: Day.describe("First of the 30 days, in the organization's time zone."),
  to: Day.describe("Last of the 30 days: today."),
  sent: Count.describe("Emails accepted by a provider."),
  delivered: Count.describe("Emails accepted by the recipient's server."),
  bouncedHard: Count.describe(
    "Emails that bounced because the mailbox does not exist or takes no email.",
  ),
  bouncedSoft: Count.describe("Emails that bounced for a temporary reason."),
  dropped: Count.describe("Emails that the provider dropped without trying to deliver them."),
  complained: Count.describe("Emails reported as spam."),
  unsubscribed: Count.describe("Recipients who unsubscribed."),
  bounceRate: Rate.describe("Hard and soft bounces divided by sent, from 0 to 1."),
  hardBounceRate: Rate.describe("Hard bounces divided by sent, from 0 to 1."),
  complaintRate: Rate.describe("Complaints divided by delivered, from 0 to 1."),
  trust: z
    .object({
      level: z
        .enum(trustLevels)
        .describe(
          "`new`: fewer than 100 emails in 30 days. `good`, `watch` and `poor`: by hard " +
            "bounces and complaints, see `rule`.",
        ),
      rule: z.string().describe("How the level is decided, in English."),
    })
    .describe("How far the sending of the organization is trusted."),
  unmatchedEvents: Count.describe("Provider events that matched no send, since the beginning."),
});
export type MailHealth = z.output<typeof MailHealth>;

export async function getHealth(caller: Caller): Promise<MailHealth> {
  const { orgId } = caller;
  const [siteIds, to, unmatched] = await Promise.all([
    sites.listVisibleSiteIds(caller),
    organizations.getToday(orgId),
    get<{ count: number }>(keys.droppedEventCount(orgId), { consistent: false }),
  ]);
  const span = periodEndingOn("30d", to);
  const totals = addUp([...(await dailyTotals.getTotalsByDate(orgId, siteIds, span)).values()]);
  const { sent, delivered, complained, unsubscribed } = toMetrics(totals);
  const [bouncedHard, bouncedSoft, dropped] = [
    toShownCount(totals.bouncedHard),
    toShownCount(totals.bouncedSoft),
    toShownCount(totals.dropped),
  ];
  const counts = { sent, delivered, bouncedHard, bouncedSoft, dropped, complained, unsubscribed };
  return { ...span, ...counts, ...rateTrust(counts), unmatchedEvents: unmatched?.count ?? 0 };
}

type HealthCounts = Pick<
  MailHealth,
  "sent" | "delivered" | "bouncedHard" | "bouncedSoft" | "complained"
>;

export function rateTrust({ sent, delivered, bouncedHard, bouncedSoft, complained }: HealthCounts) {
  const hardBounceRate = rate(bouncedHard, sent);
  const complaintRate = rate(complained, delivered);
  const level = sent < minSent ? "new" : trustLevelOf(hardBounceRate, complaintRate);
  return {
    bounceRate: rate(bouncedHard + bouncedSoft, sent),
    hardBounceRate,
    complaintRate,
    trust: { level, rule: trustRule },
  };
}

function trustLevelOf(hardBounceRate: number, complaintRate: number): (typeof trustLevels)[number] {
  const reached = (["poor", "watch"] as const).find(
    (level) =>
      hardBounceRate >= trustThresholds[level].hardBounces ||
      complaintRate >= trustThresholds[level].complaints,
  );
  return reached ?? "good";
}
