import { expect, test } from "vitest";
import { simulate } from "./command.ts";

test("faults that are planted in the service are found within 100 seeds", async () => {
  const output = await simulate("--planted", "--threads", "2");
  const [, found, total] = /(\d+) of (\d+) planted faults were found/.exec(output)!.map(Number);
  expect(total).toBeGreaterThanOrEqual(12);
  expect(total! - found!).toBeLessThanOrEqual(1);
});
