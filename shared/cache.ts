/** Remembers within the process what never changes under its key, and forgets what was used longest ago. */
export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, weight: number): void;
}

/** A cache whose entries together never weigh more than `maxWeight`; an entry that alone weighs more is not kept. */
export function boundedCache<T>(maxWeight: number): Cache<T> {
  // A Map keeps its order: the last used stand last.
  const entries = new Map<string, { value: T; weight: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
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
