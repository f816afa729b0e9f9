import { expect, test } from "vitest";
import { plantedFaults } from "./planted-faults.ts";
import { loadService } from "./service.ts";
import { shrink } from "./shrink.ts";
import { createPlan, simulate } from "./simulation.ts";
import { loadCode, prepareWorld } from "./world.ts";

const seed = 1;

test("the shortest story has fewer actions and faults, and can be played alone", async () => {
  const planted = plantedFaults.find(({ name }) => name === "Blocks of ids overlap");
  const code = await loadCode();
  const prepared = await prepareWorld(code);
  const stage = { code: { ...code, service: await loadService(planted) }, prepared };
  const failed = await simulate(stage, createPlan(seed, 1));
  expect(failed.violations).not.toEqual([]);
  const shortest = await shrink(stage, failed, 15);
  expect(shortest.violations).not.toEqual([]);
  const { actions, faults } = shortest.plan;
  expect(actions.length).toBeLessThan(failed.plan.actions.length);
  expect(faults.length).toBeLessThan(failed.plan.faults.length);
  const kept = {
    actions: actions.map(({ number }) => number),
    faults: faults.map(({ number }) => number),
  };
  expect(await simulate(stage, createPlan(seed, 1, kept))).toEqual(shortest);
});
