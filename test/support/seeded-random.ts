import { createHash } from "node:crypto";
import { everything, seed } from "./extent.ts";

/** Returns a generator of numbers from 0 to 1 that only depend on the seed. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The random numbers of one test. They depend on the seed of the run and on the name of the test.
 */
export const randomOfTest = (name: string): (() => number) =>
  seededRandom(createHash("sha256").update(`${seed} ${name}`).digest().readInt32BE());

/** Picks `n` elements by the seed of the run and `name`, or all of them in `npm run test:all`. */
export function sampleOf<T>(n: number, all: readonly T[], name: string): T[] {
  if (everything) return [...all];
  const random = randomOfTest(name);
  const first = Math.floor(random() * all.length);
  const stride = all.length / n;
  return Array.from({ length: n }, (_, i) => all[Math.floor(first + i * stride) % all.length]!);
}
