// Measures speed and cost of the service. `npm run bench` runs all scenarios, and
// `npm run bench -- <name> [size ...]` the named ones at these sizes.
import { availableParallelism, cpus, totalmem } from "node:os";
import { styleText } from "node:util";
import {
  type BenchSection,
  clearProgress,
  formatTable,
  showProgress,
} from "../infra/local/bench/report.ts";
import { type BenchScenario, scenarios } from "../infra/local/bench/scenarios.ts";
import { printsHelp } from "../infra/local/command-line.ts";
import * as clock from "../shared/clock.ts";

const width = Math.max(...Object.keys(scenarios).map((name) => name.length));
const list = Object.entries(scenarios)
  .map(([name, { title }]: [string, BenchScenario]) => `  ${name.padEnd(width)}  ${title}`)
  .join("\n");
if (
  printsHelp(
    `npm run bench -- [name [size ...] ...]

Measures speed and cost of the service. The scenarios are:
${list}`,
  )
)
  process.exit();

const requestedSizes = sizesByName(process.argv.slice(2));
const unknown = [...requestedSizes.keys()].filter((name) => !(name in scenarios));
const [takesNoSize] = [...requestedSizes].filter(
  ([name, sizes]) => sizes.length && !scenarios[name]?.sizes,
);
if (unknown.length) printUsage(`Unknown benchmark: ${unknown.join(", ")}`);
else if (takesNoSize) printUsage(`${takesNoSize[0]} takes no size`);
else
  await measure(
    Object.keys(scenarios).filter((name) => !requestedSizes.size || requestedSizes.has(name)),
  );

function sizesByName(args: string[]): Map<string, number[]> {
  const sizes = new Map<string, number[]>();
  let last: number[] = [];
  for (const word of args)
    if (/^[1-9]\d*$/.test(word)) last.push(Number(word));
    else {
      last = [];
      sizes.set(word, last);
    }
  return sizes;
}

function printUsage(why: string) {
  console.error(`${why}. The scenarios are:\n${list}`);
  process.exitCode = 1;
}

async function measure(names: string[]) {
  const sections: BenchSection[] = [];
  for (const name of names) {
    const { title, run, sizes } = scenarios[name]!;
    const sizesGiven = requestedSizes.get(name) ?? [];
    showProgress(title);
    sections.push({ title, rows: await run(sizesGiven.length ? sizesGiven : (sizes ?? [])) });
  }
  clearProgress();
  console.log(`${styleText("dim", describeMachine())}\n\n${formatTable(sections)}`);
  if (sections.some(({ rows }) => rows.some(({ mustHold, aim }) => mustHold && !aim?.met)))
    process.exitCode = 1;
}

function describeMachine(): string {
  const machine = [
    clock.now().toISOString().slice(0, 10),
    `${availableParallelism()} x ${cpus()[0]?.model ?? "CPU"}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.version}`,
  ];
  return `${machine.join(", ")}
Three processes share the cores: the service (gateway, functions, workers, queues), the DynamoDB
engine in memory, and this process (callers and the provider sandbox). The engine counts capacity
units as DynamoDB does; its speed differs.`;
}
