/** Keeps values in this process and drops the least recently used. */
export interface LruCache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, weight: number): void;
  delete(key: string): void;
}

/** The total weight of the entries never exceeds `maxWeight`. A heavier entry is not kept. */
export function createLruCache<T>(maxWeight: number): LruCache<T> {
  // A Map keeps the order of insertion. Used entries are moved to the end.
  const entries = new Map<string, { value: T; weight: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    delete: drop,
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) break;
        drop(oldest);
      }
    },
  };
}
