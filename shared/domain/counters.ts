// Counters that many write at once are kept in parts.
import { queryAll } from "../doors/table.ts";
import type { Range } from "../keys.ts";

/** The sum of all parts in these ranges. */
export async function total(...ranges: Range[]): Promise<number> {
  const parts = await Promise.all(ranges.map((range) => queryAll<{ count: number }>(range)));
  return parts.flat().reduce((sum, { count }) => sum + count, 0);
}
