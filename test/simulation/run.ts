// `npm run simulate -- --seed 7` plays one simulated world, and `--seeds 1000` that many. README.md
// explains what it does and how to read a failure.
import { createWriteStream } from "node:fs";
import { parseArgs } from "node:util";
import { shrink } from "./shrink.ts";
import { createPlan, type SimulationResult, type Stage, simulate } from "./simulation.ts";
import { loadCode, prepareWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    hours: { type: "string", default: "1" },
    trace: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const [firstSeed, seeds, hours] = [values.seed, values.seeds, values.hours].map(Number) as [
  number,
  number,
  number,
];

const code = await loadCode();
const stage: Stage = { code, prepared: await prepareWorld(code) };
const traceFile = values.trace === undefined ? undefined : createWriteStream(values.trace);
const startedAt = performance.now();
let failures = 0;
for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
  const result = await simulate(stage, createPlan(seed, hours), (line) =>
    traceFile?.write(`${line}\n`),
  );
  if (!result.violations.length && seeds > 1 && !values.verbose) continue;
  console.log(
    `Seed ${seed}: ${result.plan.actions.length} actions, ${result.plan.faults.length} faults, ` +
      `${result.events} events, trace ${result.traceHash}`,
  );
  if (!result.violations.length) continue;
  failures++;
  report(await shrink(stage, result));
}
const seconds = (performance.now() - startedAt) / 1000;
console.log(
  `${seeds - failures} of ${seeds} simulations kept their books, in ${seconds.toFixed(1)} seconds`,
);
traceFile?.end();
process.exitCode = failures ? 1 : 0;

function report({ plan, story, violations }: SimulationResult): void {
  console.log("The shortest story found:");
  for (const line of [...story, ...violations]) console.log(`  ${line}`);
  console.log(`Repeat it with: npm run simulate -- --seed ${plan.seed} --hours ${plan.hours}\n`);
}
