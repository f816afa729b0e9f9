// `npm run simulate -- --seed 7` plays one simulated world, and `--seeds 1000` that many. README.md
// explains what it does and how to read a failure.
import { createWriteStream, openSync, writeSync } from "node:fs";
import { runCommand } from "../../infra/local/command-line.ts";
import { plantedFaults } from "./planted-faults.ts";
import { loadService } from "./service.ts";
import { shrink } from "./shrink.ts";
import { createPlan, type SimulationResult, type Stage, simulate } from "./simulation.ts";
import { createMemoryTable, type MemoryTable, recordCalls } from "./table.ts";
import { loadCode, prepareWorld } from "./world.ts";

const usage = `npm run simulate -- [--seed 7] [--seeds 100] [--hours 1] [--trace FILE] [--verbose]
Plays a whole installation with faults on a simulated clock, and checks its books.
--seed is the first seed, --seeds how many are played, --hours how long callers act.
--trace writes every call and log line, --verbose prints a line for each seed.
--table-calls writes every call of the table with its answer, as lines of JSON.
--planted plays faults of the source that must be found.`;

const maxSeedsToFind = 100;
/** A change of the service can move a planted fault to another seed, or change its code. */
const maxMissing = 2;

interface Settings {
  firstSeed: number;
  seeds: number;
  hours: number;
  trace?: string | undefined;
  verbose: boolean;
}

await runCommand({
  usage,
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    hours: { type: "string", default: "1" },
    trace: { type: "string" },
    "table-calls": { type: "string" },
    verbose: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
  },
  async run({ values }) {
    const { seed, seeds, hours, trace, verbose = false, planted } = values;
    const settings = {
      firstSeed: Number(seed),
      seeds: Number(seeds),
      hours: Number(hours),
      trace,
      verbose,
    };
    const code = await loadCode();
    const table = tableWritingCalls(values["table-calls"]);
    const stage: Stage = { code, prepared: await prepareWorld(code, table) };
    const startedAt = performance.now();
    const isGreen = planted
      ? await findPlantedFaults(stage, settings)
      : await playSeeds(stage, settings);
    console.log(`In ${((performance.now() - startedAt) / 1000).toFixed(1)} seconds`);
    if (!isGreen) process.exitCode = 1;
  },
});

function tableWritingCalls(path: string | undefined): MemoryTable {
  const table = createMemoryTable();
  if (path === undefined) return table;
  const file = openSync(path, "w");
  return recordCalls(table, (call) => void writeSync(file, `${JSON.stringify(call)}\n`));
}

async function playSeeds(
  stage: Stage,
  { firstSeed, seeds, hours, trace, verbose }: Settings,
): Promise<boolean> {
  const traceFile = trace === undefined ? undefined : createWriteStream(trace);
  let failures = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const result = await simulate(stage, createPlan(seed, hours), (line) =>
      traceFile?.write(`${line}\n`),
    );
    const isViolated = result.violations.length > 0;
    if (isViolated || seeds === 1 || verbose) console.log(summaryOf(result));
    if (!isViolated) continue;
    failures++;
    report(await shrink(stage, result));
  }
  traceFile?.end();
  console.log(`${seeds - failures} of ${seeds} simulations kept their books`);
  return failures === 0;
}

function summaryOf({ plan, events, traceHash }: SimulationResult): string {
  const counts = `${plan.actions.length} actions, ${plan.faults.length} faults, ${events} events`;
  return `Seed ${plan.seed}: ${counts}, trace ${traceHash}`;
}

/** Plays each planted fault until its books are violated. Returns whether enough were found. */
async function findPlantedFaults(stage: Stage, { hours }: Settings): Promise<boolean> {
  let found = 0;
  for (const planted of plantedFaults) {
    // The code of the fault may have changed since.
    const service = await loadService(planted).catch(() => undefined);
    const result =
      service && (await findViolation({ ...stage, code: { ...stage.code, service } }, hours));
    if (result) found++;
    console.log(
      result
        ? `${planted.name}: seed ${result.plan.seed}: ${result.violations[0]}`
        : `${planted.name}: ${service ? "not found" : "cannot be planted"}`,
    );
  }
  console.log(`${found} of ${plantedFaults.length} planted faults were found`);
  return found >= plantedFaults.length - maxMissing;
}

async function findViolation(broken: Stage, hours: number): Promise<SimulationResult | undefined> {
  for (let seed = 1; seed <= maxSeedsToFind; seed++) {
    const result = await simulate(broken, createPlan(seed, hours));
    if (result.violations.length) return result;
  }
  return undefined;
}

function report({ plan, story, violations }: SimulationResult): void {
  console.log("The shortest story found:");
  for (const line of [...story, ...violations]) console.log(`  ${line}`);
  console.log(`Repeat it with: npm run simulate -- --seed ${plan.seed} --hours ${plan.hours}\n`);
}
