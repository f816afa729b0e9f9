import { describe, expect, test } from "vitest";
import {
  certainFrom,
  certaintyOfBest,
  chanceOfDifference,
} from "../../shared/domain/campaigns/conversions/share-comparison.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("the chance of a difference", () => {
  // prop.test of R gives these p-values.
  test.each([
    [120, 1000, 90, 1000, 0.034402369],
    [30, 200, 50, 200, 0.01754895],
    [5, 5000, 1, 5000, 0.22053285],
    [500, 1000, 400, 1000, 8.5982677e-6],
  ])("of %i of %i and %i of %i is that of a chi-squared test", (a, n, b, m, p) => {
    const chance = chanceOfDifference({ hits: a, of: n }, { hits: b, of: m });
    expect(Math.abs(chance / p - 1)).toBeLessThan(1e-5);
    expect(chanceOfDifference({ hits: b, of: m }, { hits: a, of: n })).toBe(chance);
  });

  test("is 1 if nothing can be compared", () => {
    const none = { hits: 0, of: 0 };
    expect(chanceOfDifference(none, { hits: 5, of: 10 })).toBe(1);
    expect(chanceOfDifference({ hits: 0, of: 10 }, { hits: 0, of: 90 })).toBe(1);
    expect(chanceOfDifference({ hits: 10, of: 10 }, { hits: 90, of: 90 })).toBe(1);
    expect(certaintyOfBest([])).toBe(0);
    expect(certaintyOfBest([{ hits: 5, of: 10 }])).toBe(0);
  });
});

test("more variants and more looks need a clearer difference", () => {
  const shares = [
    { hits: 120, of: 1000 },
    { hits: 85, of: 1000 },
  ];
  const third = { hits: 10, of: 1000 };
  expect(certaintyOfBest(shares)).toBeGreaterThan(certainFrom);
  expect(certaintyOfBest([...shares, third])).toBeLessThan(certaintyOfBest(shares));
  expect(certaintyOfBest(shares, 10)).toBeLessThan(certainFrom);
});

describe("equal variants", () => {
  /** How often a winner is certain at any of ten looks. */
  function countFalseWinners(
    { variants, perLook, rate }: { variants: number; perLook: number; rate: number },
    tests: number,
  ): number {
    const random = seededRandom(variants * perLook);
    let found = 0;
    for (let i = 0; i < tests; i++) {
      const shares = Array.from({ length: variants }, () => ({ hits: 0, of: 0 }));
      for (let look = 1; look <= 10; look++) {
        for (const share of shares) {
          share.of += perLook;
          for (let k = 0; k < perLook; k++) if (random() < rate) share.hits++;
        }
        if (certaintyOfBest(shares, 10) < certainFrom) continue;
        found++;
        break;
      }
    }
    return found;
  }

  test.each([
    { variants: 2, perLook: 50, rate: 0.3 },
    { variants: 2, perLook: 100, rate: 0.02 },
    { variants: 4, perLook: 50, rate: 0.1 },
  ])("seldom have a winner: $variants variants at a rate of $rate", (plan) => {
    const tests = 600;
    expect(countFalseWinners(plan, tests) / tests).toBeLessThan(0.05);
  });

  test("are told from better ones", () => {
    const better = [
      { hits: 330, of: 1000 },
      { hits: 240, of: 1000 },
    ];
    expect(certaintyOfBest(better, 10)).toBeGreaterThan(certainFrom);
  });
});
