import { expect, test } from "vitest";
import { createLruCache } from "../../shared/kernel/lru-cache.ts";
import fc from "../support/fast-check.ts";

test("drops the least recently used entry first", () => {
  const cache = createLruCache<number>(3);
  for (const [n, key] of ["a", "b", "c"].entries()) cache.set(key, n, 1);
  cache.get("a");
  cache.set("d", 3, 1);
  expect(["a", "b", "c", "d"].map(cache.get)).toEqual([0, undefined, 2, 3]);
});

test("does not keep an entry above the maximum weight, and keeps the others", () => {
  const cache = createLruCache<string>(10);
  cache.set("small", "s", 4);
  cache.set("fits", "f", 6);
  cache.set("big", "b", 11);
  expect(["small", "fits", "big"].map(cache.get)).toEqual(["s", "f", undefined]);
});

test("never exceeds the maximum weight", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.integer({ min: 1, max: 12 }))), (sets) => {
      const cache = createLruCache<number>(10);
      for (const [name, weight] of sets) cache.set(name, weight, weight);
      const kept = ["a", "b", "c", "d", "e"].map((name) => cache.get(name) ?? 0);
      expect(kept.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(10);
      const [name, weight] = sets.at(-1) ?? ["a", 11];
      if (weight <= 10) expect(cache.get(name)).toBe(weight);
    }),
  );
});
