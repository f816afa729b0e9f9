// Tells how certain it is that shares, such as click rates, differ by more than chance: a
// two-proportion z-test with continuity correction, which never claims too much for small groups.

/** How many of a group did something. */
export interface Share {
  hits: number;
  of: number;
}

/** From this certainty on, a difference counts as certain. */
export const certainFrom = 0.95;

/** The probability that equal groups differ at least as much, in either direction. */
export function chanceOfDifference(a: Share, b: Share): number {
  const total = a.of + b.of;
  const pooled = (a.hits + b.hits) / total;
  if (!a.of || !b.of || pooled <= 0 || pooled >= 1) return 1;
  const step = 1 / a.of + 1 / b.of;
  const difference = Math.abs(a.hits / a.of - b.hits / b.of);
  const corrected = Math.max(0, difference - step / 2);
  return complementaryError(corrected / Math.sqrt(2 * pooled * (1 - pooled) * step));
}

/**
 * From 0 to 1: how certain it is that the best share is better than the second. Each pair that
 * could have been compared, and each of `looks` at growing groups, has its part of the risk
 * (Bonferroni). So equal shares reach 0.95 in fewer than 5 % of all tests, whenever these end.
 */
export function certaintyOfBest(shares: Share[], looks = 1): number {
  const [best, second] = shares.toSorted((a, b) => rateOf(b) - rateOf(a));
  if (!best || !second) return 0;
  const pairs = (shares.length * (shares.length - 1)) / 2;
  return Math.max(0, 1 - chanceOfDifference(best, second) * pairs * looks);
}

const rateOf = ({ hits, of }: Share): number => (of ? hits / of : 0);

/** erfc(x) for x >= 0, to 7 digits (Numerical Recipes, section 6.2). */
function complementaryError(x: number): number {
  const t = 1 / (1 + x / 2);
  const series = coefficients.reduceRight((sum, coefficient) => coefficient + t * sum, 0);
  return t * Math.exp(-x * x + series);
}

const coefficients = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
];
