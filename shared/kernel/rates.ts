// Shares between 0 and 1.

/** 0 when `whole` is 0. */
export const rate = (part: number, whole: number): number =>
  whole > 0 ? Math.max(0, Math.min(1, part / whole)) : 0;

/** With one decimal from 1 % on, with two below. */
export const formatPercent = (share: number): string =>
  `${Number((share * 100).toFixed(Math.abs(share) < 0.01 ? 2 : 1))} %`;
