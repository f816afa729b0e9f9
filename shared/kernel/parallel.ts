/** Splits the items into arrays of at most `size`, in order. */
export const splitIntoBatches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );

/**
 * Calls `work` for each item, at most `concurrency` at a time. Returns the results in order; the
 * first failure rejects.
 */
export async function inParallel<T, R>(
  concurrency: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const entries = items.entries();
  const worker = async () => {
    for (const [i, item] of entries) results[i] = await work(item, i);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
