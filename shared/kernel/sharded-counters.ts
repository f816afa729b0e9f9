// Sums of counters. Counters with many concurrent writers are split over several items.
import { queryAll } from "../adapters/dynamodb/table.ts";
import type { KeyRange } from "../keys.ts";

/** The sum of all shards in these ranges. */
export async function sumShards(...ranges: KeyRange[]): Promise<number> {
  const shards = await Promise.all(ranges.map((range) => queryAll<{ count: number }>(range)));
  return shards.flat().reduce((sum, { count }) => sum + count, 0);
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
