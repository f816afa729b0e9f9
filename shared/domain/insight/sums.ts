// Counters as they are stored, added up.

/** By the name of the counter. */
export type Sum = Record<string, number>;

/** Of every attribute that is a number. */
export function summed(items: Record<string, unknown>[]): Sum {
  const sum: Sum = {};
  for (const item of items) for (const [name, n] of Object.entries(item)) if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
