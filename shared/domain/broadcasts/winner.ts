// The winner of an A/B test: the best rate of people (machines do not count) among those whom the mail reached.
import { now } from "../../clock.ts";
import type { AbTest, Winner } from "../campaigns/campaign.ts";
import { rate } from "../insight/figures.ts";
import type { Numbers } from "../sending/sources.ts";
import type { Part } from "./plan.ts";

/**
 * Of equal rates, and when nobody did anything, the greatest weight wins, and of equal weights the oldest variant: that is what the
 * rest would have got without a test. However few people took part, somebody wins: mail that waits for a person would not go.
 */
export function pick(parts: Part[], numbers: Map<number, Numbers>, metric: AbTest["metric"]): Winner {
  const results = parts.map(({ id }) => resultOf(id!, numbers.get(id!), metric));
  const best = Math.max(...results.map(({ rate }) => rate));
  const first = parts.filter((_, i) => results[i]!.rate === best).toSorted((a, b) => b.weight - a.weight || a.id! - b.id!);
  const reason = best === 0 ? "no_data" : first.length > 1 ? "tie" : "best";
  return { variantId: first[0]!.id!, reason, decidedAt: now().toISOString(), results };
}

function resultOf(variantId: number, numbers: Numbers | undefined, metric: AbTest["metric"]): Winner["results"][number] {
  const { delivered = 0, uniqueOpened: opened = 0, uniqueClicked: clicked = 0 } = numbers?.events ?? {};
  return { variantId, delivered, opened, clicked, rate: rate(metric === "open_rate" ? opened : clicked, delivered) };
}
