// The seeds are fixed, so that a run of the tests never fails by chance.
import { expect, test } from "vitest";
import { simulate } from "./command.ts";

test("a seed gives the same run to the byte, alone and after another seed", async () => {
  const [alone, after] = await Promise.all([
    simulate("--seed", "9"),
    simulate("--seed", "8", "--seeds", "2", "--threads", "1", "--verbose"),
  ]);
  const [line] = /Seed 9: .*/.exec(alone) ?? [];
  expect(line).toMatch(/ [1-9]\d* actions, [1-9]\d* faults, 0 dead letters, [1-9] checks, /);
  expect(line).toMatch(/ \d{4,} events, trace [0-9a-f]{16}$/);
  expect(after).toContain(line);
});

test("the books hold for 20 seeds", async () => {
  const output = await simulate("--seed", "1001", "--seeds", "20", "--threads", "2");
  expect(output).toContain("20 of 20 simulations kept their books");
});

test("the books hold when messages that failed once are dead letters and redriven", async () => {
  const args = ["--seed", "7", "--seeds", "9", "--attempts", "1", "--threads", "2", "--verbose"];
  const output = await simulate(...args);
  expect(output).toContain("9 of 9 simulations kept their books");
  const counts = [...output.matchAll(/ (\d+) dead letters/g)].map(([, n]) => Number(n));
  expect(counts.filter(Boolean).length).toBeGreaterThan(2);
});
