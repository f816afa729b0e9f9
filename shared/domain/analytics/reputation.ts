// The reputation of a sender: a score, its causes, and advice.
import * as z from "zod";
import { formatPercent } from "../../kernel/rates.ts";
import type { CounterTotals } from "../../kernel/sharded-counters.ts";
import { bounceReasons, bounceReasonTexts, type ReasonCounter } from "../sending/bounce-reasons.ts";
import { type MailMetrics, toMetrics } from "./mail-metrics.ts";

const ratedScores = ["excellent", "good", "fair", "poor"] as const;
type RatedScore = (typeof ratedScores)[number];
export const reputationScores = [...ratedScores, "unknown"] as const;
export type ReputationScore = (typeof reputationScores)[number];

/**
 * A sender with at least one of the rates gets the score. Mailbox providers throttle mail from
 * about `fair`, and reject it from `poor`.
 */
export const reputationThresholds = {
  poor: { bounceRate: 0.1, complaintRate: 0.005 },
  fair: { bounceRate: 0.05, complaintRate: 0.001 },
  good: { bounceRate: 0.02, complaintRate: 0.0005 },
};

const describeThreshold = (score: keyof typeof reputationThresholds): string =>
  `\`${score}\`: at least ${formatPercent(reputationThresholds[score].bounceRate)} bounces ` +
  `or ${formatPercent(reputationThresholds[score].complaintRate)} complaints`;

export const Reputation = z
  .object({
    score: z
      .enum(reputationScores)
      .describe(
        `${describeThreshold("poor")}. ${describeThreshold("fair")}. ` +
          `${describeThreshold("good")}. \`unknown\`: no provider reported an event in this ` +
          "period. Otherwise `excellent`.",
      ),
    bounceRate: z.number().describe("bounced / sent, 0 to 1"),
    complaintRate: z.number().describe("complained / delivered, 0 to 1"),
    factors: z
      .array(z.string())
      .describe("What causes the score and what to do about it, worst first, in English."),
  })
  .describe("How mailbox providers are likely to see the sender.")
  .meta({ id: "Reputation" });
export type Reputation = z.output<typeof Reputation>;

// With fewer sends, a single bounce changes the rate too much.
const minSent = 100;

export function rateReputation(sum: CounterTotals): Reputation {
  const metrics = toMetrics(sum);
  const { bounceRate, complaintRate } = metrics;
  const isKnown = hasEvents(sum);
  return {
    score: isKnown ? scoreRates(metrics) : "unknown",
    bounceRate,
    complaintRate,
    factors: isKnown ? listFactors(metrics, sum) : [describeSilence(metrics)],
  };
}

const eventCounters = [
  ...["delivered", "opened", "clicked", "bouncedHard", "bouncedSoft"],
  ...["dropped", "deferred", "complained", "unsubscribed"],
] as const;

/** Whether a provider reported anything in the period. */
const hasEvents = (sum: CounterTotals): boolean =>
  eventCounters.some((counter) => (sum[counter as keyof CounterTotals] ?? 0) > 0);

const describeSilence = ({ sent }: MailMetrics): string =>
  sent > 0
    ? "The provider has reported nothing about the mails of this period: check that its webhook " +
      "is set up."
    : "Nothing was sent in this period, so there is nothing to judge.";

const scoreRates = ({
  bounceRate,
  complaintRate,
}: Pick<MailMetrics, "bounceRate" | "complaintRate">): RatedScore =>
  (["poor", "fair", "good"] as const).find(
    (score) =>
      bounceRate >= reputationThresholds[score].bounceRate ||
      complaintRate >= reputationThresholds[score].complaintRate,
  ) ?? "excellent";

function listFactors(metrics: MailMetrics, sum: CounterTotals): string[] {
  const {
    sent,
    bounced,
    complained,
    bounceRate,
    complaintRate,
    deliveryRate,
    openRate,
    delivered,
  } = metrics;
  const [bounces, complaints] = [
    scoreRates({ bounceRate, complaintRate: 0 }),
    scoreRates({ bounceRate: 0, complaintRate }),
  ];
  const factors: [severity: number, text: string][] = [
    [
      ratedScores.indexOf(complaints),
      `${formatPercent(complaintRate)} of the mails that arrived were reported as spam ` +
        `(${complained}). ${complaintAdvice[complaints]}`,
    ],
    [
      ratedScores.indexOf(bounces),
      `${formatPercent(bounceRate)} of the mails bounced (${bounced}). ${bounceAdvice[bounces]}`,
    ],
  ];
  const [reason, n] = rankBounceReasons(sum)[0] ?? [];
  if (reason && n && bounces !== "excellent")
    factors.push([0.5, `The most frequent bounce reason: ${bounceReasonTexts[reason]} (${n}).`]);
  if (sent >= minSent && deliveryRate < 0.9 && bounceRate < 0.05)
    factors.push([
      1,
      `Only ${formatPercent(deliveryRate)} of the mails are known to have arrived: check ` +
        "whether the provider reports its events.",
    ]);
  if (delivered >= minSent && openRate < 0.05)
    factors.push([
      0.6,
      `Only ${formatPercent(openRate)} of the mails that arrived were opened by people: ` +
        "write only to people who want to hear from you.",
    ]);
  if (sent < minSent)
    factors.push([
      0,
      `Only ${sent} ${sent === 1 ? "mail was" : "mails were"} sent, which is too few for ` +
        "reliable rates.",
    ]);
  return factors.toSorted(([a], [b]) => b - a).map(([, text]) => text);
}

const complaintAdvice: Record<RatedScore, string> = {
  excellent: "This is a healthy rate.",
  good: "This rate is acceptable, but watch it.",
  fair:
    "Mailbox providers distrust senders from 0.1 %: make it easy to unsubscribe, and write " +
    "less often to people who do not open your mail.",
  poor:
    "Mailbox providers reject mail from senders with 0.5 % or more: stop writing to people who " +
    "did not ask for your mail.",
};
const bounceAdvice: Record<RatedScore, string> = {
  excellent: "This is a healthy rate.",
  good: "This rate is acceptable, but watch it.",
  fair:
    "At 5 % or more, mailbox providers distrust the list: check new addresses before you add " +
    "them, or use double opt-in.",
  poor:
    "At 10 % or more, mailbox providers reject mail: stop sending, and remove old addresses " +
    "from the list.",
};

/** Reasons of bounces and refusals and their numbers, most frequent first. */
export const rankBounceReasons = (sum: CounterTotals): [(typeof bounceReasons)[number], number][] =>
  bounceReasons
    .map((reason): [(typeof bounceReasons)[number], number] => {
      const count = (counter: ReasonCounter): number => sum[counter] ?? 0;
      const bounces = count(`reason.hard.${reason}`) + count(`reason.soft.${reason}`);
      return [reason, bounces + count(`reason.refused.${reason}`)];
    })
    .filter(([, n]) => n > 0)
    .toSorted(([, a], [, b]) => b - a);
