// How much a run tests: a sample in `npm test`, everything in `npm run test:all`. vitest.config.ts
// sets the seed of the sample for all workers of a run, and prints it.

/** True in `npm run test:all`: all crash points, all histories at full length. */
export const everything: boolean = process.env.TEST_ALL === "1";

/** Repeats a run's samples: `SEED=123 npm test`. */
export const seed: number = Number(process.env.SEED ?? 1);
