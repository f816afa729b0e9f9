/** Pieces of at most `size`, in order. */
export const chunked = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

/** Works on all, at most `width` at a time; results in order. The first failure rejects. */
export async function inParallel<T, R>(width: number, all: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(all.length);
  const entries = all.entries();
  const worker = async () => {
    for (const [i, one] of entries) results[i] = await work(one, i);
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker));
  return results;
}
