import { expect, test } from "vitest";
import { simulate } from "./command.ts";
import { plantedFaults } from "./planted-faults.ts";

test("simulations find every fault that is planted in the service", async () => {
  const count = plantedFaults.length;
  expect(count).toBeGreaterThanOrEqual(12);
  const output = await simulate("--planted", "all", "--threads", "2");
  // Faults that another seed finds than the stored one.
  for (const line of output.split("\n")) if (/ instead of \d+:/.test(line)) console.log(line);
  expect(output).toContain(`${count} of ${count} planted faults were found`);
});
