// The seeds are fixed, so that a run of the tests never fails by chance.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const command = join(import.meta.dirname, "run.ts");

async function runCommand(...args: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [command, ...args], { timeout: 580_000 });
  const { stdout } = await run.catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error));
  });
  return stdout;
}

test("a seed gives the same run to the byte, alone and after another seed", async () => {
  const [alone, after] = await Promise.all([
    runCommand("--seed", "12"),
    runCommand("--seed", "11", "--seeds", "2", "--verbose"),
  ]);
  const [line] = /Seed 12: .*/.exec(alone) ?? [];
  expect(line).toMatch(/[1-9]\d* actions, [1-9]\d* faults, \d{4,} events, trace [0-9a-f]{16}$/);
  expect(after).toContain(line);
});

test.each([
  [1, 40],
  [1001, 40],
])("the books hold for the seeds from %i on", async (first, count) => {
  const output = await runCommand("--seed", String(first), "--seeds", String(count));
  expect(output).toContain(`${count} of ${count} simulations kept their books`);
});

test("faults that are planted in the service are found within 100 seeds", async () => {
  const output = await runCommand("--planted");
  expect(output).toMatch(/\d\d planted faults were found/);
});
