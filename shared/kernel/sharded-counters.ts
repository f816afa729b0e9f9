// Sums of counters. Counters with many concurrent writers are split over several items.
import { queryAll } from "../adapters/dynamodb/table.ts";
import type { KeyRange } from "../keys.ts";

/** The sum of all shards in these ranges. */
export async function sumShards(...ranges: KeyRange[]): Promise<number> {
  const shards = await Promise.all(ranges.map((range) => queryAll<{ count: number }>(range)));
  return shards.flat().reduce((sum, { count }) => sum + count, 0);
}

/**
 * A counter as responses show it. Events are counted in the order in which they arrive, so a total
 * can be negative for a while, or for a single day: a click is counted today, and tomorrow the
 * provider reports a delivery that shows the click to be automated.
 */
export const toShownCount = (n = 0): number => Math.max(0, n);

/**
 * The parts of a count as responses show them. They add up to the shown count: a negative part is
 * 0, and others are smaller by as much.
 */
export function toShownParts<Part extends string>(
  parts: Record<Part, number>,
): Record<Part, number> {
  const entries = Object.entries(parts) as [Part, number][];
  let missing = entries.reduce((sum, [, n]) => sum + toShownCount(-n), 0);
  const shown = entries.map(([part, n]) => {
    const taken = Math.min(missing, toShownCount(n));
    missing -= taken;
    return [part, toShownCount(n) - taken];
  });
  return Object.fromEntries(shown);
}

/** Totals by counter name. */
export type CounterTotals = Record<string, number>;

/** Adds up each numeric attribute over all items. */
export function addUp(items: Record<string, unknown>[]): CounterTotals {
  const sum: CounterTotals = {};
  for (const item of items)
    for (const [name, n] of Object.entries(item))
      if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
