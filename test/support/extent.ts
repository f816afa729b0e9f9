// What a run takes: `npm test` takes a sample, and `npm run test:all` everything. vitest.config.ts
// sets and prints the seed of the sample.

/** True in `npm run test:all`: all crash points, and all histories at full length. */
export const everything: boolean = process.env.TEST_EVERYTHING === "1";

/** The seed of all samples of a run. `SEED=123 npm test` sets it. */
export const seed: number = Number(process.env.SEED ?? 1);
