import { expect, test } from "vitest";
import { sampleOf } from "../support/seeded-random.ts";
import { simulate } from "./command.ts";
import { plantedFaults } from "./planted-faults.ts";

/** A fault takes about 20 seconds of CPU time, so npm test plants some of them. */
const sampleSize = 2;

test("faults that are planted in the service are found within 100 seeds", async () => {
  expect(plantedFaults.length).toBeGreaterThanOrEqual(12);
  const sample = sampleOf(sampleSize, [...plantedFaults.keys()], "planted faults");
  const output = await simulate("--planted", sample.join(), "--threads", "2");
  expect(output).toContain(`${sample.length} of ${sample.length} planted faults were found`);
});
