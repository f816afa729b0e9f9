// Reads that callers share.
import { expect, test } from "vitest";
import { createSharedReads } from "../../shared/kernel/shared-reads.ts";

test("callers of the same key share one read, which begins after all of them asked", async () => {
  const share = createSharedReads<number>();
  let value = 1;
  let reads = 0;
  const read = async () => {
    reads++;
    return value;
  };
  const first = [share("a", read), share("a", read)];
  value = 2;
  expect(await Promise.all([...first, share("a", read)])).toEqual([2, 2, 2]);
  expect([reads, await share("b", read), reads]).toEqual([1, 2, 2]);
});

test("a caller does not get the result of a read that began before it asked", async () => {
  const share = createSharedReads<number>();
  let value = 1;
  const answers: (() => void)[] = [];
  const read = async () => {
    const seen = value;
    await new Promise<void>((resolve) => answers.push(resolve));
    return seen;
  };
  const early = share("a", read);
  await Promise.resolve();
  await Promise.resolve();
  expect(answers).toHaveLength(1);
  value = 2;
  const late = [share("a", read), share("a", read)];
  answers[0]!();
  expect(await early).toBe(1);
  await new Promise(setImmediate);
  expect(answers).toHaveLength(2);
  answers[1]!();
  expect(await Promise.all(late)).toEqual([2, 2]);
});

test("a failed read does not fail the next one", async () => {
  const share = createSharedReads<number>();
  await expect(share("a", () => Promise.reject(new Error("no answer")))).rejects.toThrow(
    "no answer",
  );
  expect(await share("a", async () => 3)).toBe(3);
});
