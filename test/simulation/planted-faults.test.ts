import { expect, test } from "vitest";
import { simulate } from "./command.ts";

test("faults that are planted in the service are found within 100 seeds", async () => {
  const output = await simulate("--planted", "--threads", "2");
  expect(output).toMatch(/\d\d planted faults were found/);
});
