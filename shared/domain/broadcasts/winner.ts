// The winner of an A/B test: the best rate of people (machines do not count) among those whom the mail reached.
import { now } from "../../clock.ts";
import type { AbTest, Winner } from "../campaigns/campaign.ts";
import { rate } from "../insight/figures.ts";
import type { Numbers } from "../sending/sources.ts";
import type { Part } from "./plan.ts";

const counters = { open_rate: "uniqueOpened", click_rate: "uniqueClicked" } as const;

/**
 * Of equal rates, and when nobody did anything, the greatest weight wins, and of equal weights the oldest variant: that is what the
 * rest would have got without a test. However few people took part, somebody wins: mail that waits for a person would not go.
 */
export function pick(parts: Part[], numbers: Map<number, Numbers>, metric: AbTest["metric"]): Winner {
  const scored = parts.map((part) => ({ part, score: scoreOf(numbers.get(part.id!), metric) }));
  const best = Math.max(...scored.map(({ score }) => score));
  const first = scored.filter(({ score }) => score === best).toSorted((a, b) => b.part.weight - a.part.weight || a.part.id! - b.part.id!);
  const reason = best === 0 ? "no_data" : first.length > 1 ? "tie" : "best";
  return { variantId: first[0]!.part.id!, reason, decidedAt: now().toISOString() };
}

const scoreOf = (numbers: Numbers | undefined, metric: AbTest["metric"]): number =>
  rate(numbers?.events[counters[metric]] ?? 0, numbers?.events.delivered ?? 0);
