// The extent of a run: `npm test` runs a sample, and `npm run test:all` everything.
// vitest.config.ts sets the seed of the sample for all workers of a run, and prints it.

/** True in `npm run test:all`: all crash points, and all histories at full length. */
export const everything: boolean = process.env.TEST_ALL === "1";

/** The seed of the samples. `SEED=123 npm test` repeats a run. */
export const seed: number = Number(process.env.SEED ?? 1);
