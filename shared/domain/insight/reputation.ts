// How a sender looks to those who get the mail.
import * as z from "zod";
import { bounceReasons, described, type ReasonCounter } from "./bounce-reasons.ts";
import { type Figures, figuresOf, percent } from "./figures.ts";
import type { Sum } from "./sums.ts";

export const scores = ["excellent", "good", "fair", "poor"] as const;
export type Score = (typeof scores)[number];

/** From such a share on a score is not reached. Mailbox providers begin to hold mail back at about `fair`, and refuse it at `poor`. */
export const thresholds = {
  poor: { bounceRate: 0.1, complaintRate: 0.005 },
  fair: { bounceRate: 0.05, complaintRate: 0.001 },
  good: { bounceRate: 0.02, complaintRate: 0.0005 },
};

const from = (score: keyof typeof thresholds): string =>
  `\`${score}\` from ${percent(thresholds[score].bounceRate)} bounces or ${percent(thresholds[score].complaintRate)} complaints on`;

export const Reputation = z
  .object({
    score: z.enum(scores).describe(`${from("poor")}; ${from("fair")}; ${from("good")}; else \`excellent\``),
    bounceRate: z.number().describe("bounced / sent, 0 to 1"),
    complaintRate: z.number().describe("complained / delivered, 0 to 1"),
    factors: z.array(z.string()).describe("What it comes from and what to do about it, in plain English; the gravest first"),
  })
  .meta({ id: "Reputation" });
export type Reputation = z.output<typeof Reputation>;

// Below this a single bounce moves the rate too much.
const fewest = 100;

export function reputationOf(sum: Sum): Reputation {
  const figures = figuresOf(sum);
  const { bounceRate, complaintRate } = figures;
  return { score: scoreOf(figures), bounceRate, complaintRate, factors: factorsOf(figures, sum) };
}

const scoreOf = ({ bounceRate, complaintRate }: Pick<Figures, "bounceRate" | "complaintRate">): Score =>
  (["poor", "fair", "good"] as const).find(
    (score) => bounceRate >= thresholds[score].bounceRate || complaintRate >= thresholds[score].complaintRate,
  ) ?? "excellent";

function factorsOf(figures: Figures, sum: Sum): string[] {
  const { sent, bounced, complained, bounceRate, complaintRate, deliveryRate, openRate, delivered } = figures;
  if (!sent && !delivered) return ["Nothing was sent in this period, so there is nothing to judge."];
  const [bounces, complaints] = [scoreOf({ bounceRate, complaintRate: 0 }), scoreOf({ bounceRate: 0, complaintRate })];
  const told: [grave: number, text: string][] = [
    [
      scores.indexOf(complaints),
      `${percent(complaintRate)} of the mails that arrived were reported as spam (${complained}). ${complaintAdvice[complaints]}`,
    ],
    [scores.indexOf(bounces), `${percent(bounceRate)} of the mails bounced (${bounced}). ${bounceAdvice[bounces]}`],
  ];
  const [reason, n] = reasonsOf(sum)[0] ?? [];
  if (reason && n && bounces !== "excellent") told.push([0.5, `The most frequent reason of bounces: ${described[reason]} (${n}).`]);
  if (sent >= fewest && deliveryRate < 0.9 && bounceRate < 0.05)
    told.push([1, `Only ${percent(deliveryRate)} of the mails are known to have arrived: see whether the provider reports its events.`]);
  if (delivered >= fewest && openRate < 0.05)
    told.push([0.6, `Only ${percent(openRate)} of the mails that arrived were opened by people: write to those who want to hear of you.`]);
  if (sent < fewest) told.push([0, `Only ${sent} ${sent === 1 ? "mail was" : "mails were"} sent, so the rates say little yet.`]);
  return told.toSorted(([a], [b]) => b - a).map(([, text]) => text);
}

const complaintAdvice: Record<Score, string> = {
  excellent: "That is as it should be.",
  good: "That is fine; keep an eye on it.",
  fair: "Mailbox providers begin to distrust senders at 0.1 %: make leaving easy, and write less often to those who do not open.",
  poor: "Mailbox providers refuse mail from senders beyond 0.5 %: stop writing to people who did not ask for it.",
};
const bounceAdvice: Record<Score, string> = {
  excellent: "That is as it should be.",
  good: "That is fine; keep an eye on it.",
  fair: "From 5 % on mailbox providers distrust the list: check addresses before they come into it, with POST /validate or double opt-in.",
  poor: "From 10 % on mailbox providers refuse mail: stop, and clean the list with POST /validate.",
};

/** The most frequent first. */
export const reasonsOf = (sum: Sum): [(typeof bounceReasons)[number], number][] =>
  bounceReasons
    .map((reason): [(typeof bounceReasons)[number], number] => {
      const of = (counter: ReasonCounter): number => sum[counter] ?? 0;
      return [reason, of(`reason.hard.${reason}`) + of(`reason.soft.${reason}`)];
    })
    .filter(([, n]) => n > 0)
    .toSorted(([, a], [, b]) => b - a);
