import { expect, test } from "vitest";
import { simulate } from "./command.ts";

// Each message that fails once becomes a dead letter, which is redriven.
test("the books hold for 4 seeds", async () => {
  const output = await simulate("--seed", "7", "--seeds", "4", "--attempts", "1", "--threads", "1");
  expect(output).toContain("4 of 4 simulations kept their books");
});
