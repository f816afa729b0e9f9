// The seeds are fixed, so that a run of the tests never fails by chance.
import { expect, test } from "vitest";
import { simulate } from "./command.ts";

test("a seed gives the same run to the byte, alone and after another seed", async () => {
  const [alone, after] = await Promise.all([
    simulate("--seed", "9"),
    simulate("--seed", "8", "--seeds", "2", "--threads", "1", "--verbose"),
  ]);
  const [line] = /Seed 9: .*/.exec(alone) ?? [];
  expect(line).toMatch(/[1-9]\d* actions, [1-9]\d* faults, \d{4,} events, trace [0-9a-f]{16}$/);
  expect(after).toContain(line);
});

test.each([
  [1, 120],
  [1001, 120],
])("the books hold for the seeds from %i on", async (first, count) => {
  const range = ["--seed", String(first), "--seeds", String(count)];
  const output = await simulate(...range, "--threads", "2");
  expect(output).toContain(`${count} of ${count} simulations kept their books`);
});
