// The seeds are fixed, so that a run of the tests never fails by chance.
import { expect, test } from "vitest";
import { simulate } from "./command.ts";

test("a seed gives the same run to the byte, alone and after another seed", async () => {
  const [alone, after] = await Promise.all([
    simulate("--seed", "9"),
    simulate("--seed", "8", "--seeds", "2", "--threads", "1", "--verbose"),
  ]);
  const [line] = /Seed 9: .*/.exec(alone) ?? [];
  expect(line).toMatch(
    /[1-9]\d* actions, [1-9]\d* faults, [1-9] checks, \d{4,} events, trace [0-9a-f]{16}$/,
  );
  expect(after).toContain(line);
});

test("the books hold for 20 seeds", async () => {
  const output = await simulate("--seed", "1001", "--seeds", "20", "--threads", "2");
  expect(output).toContain("20 of 20 simulations kept their books");
});
