// Speed and cost of the service: `npm run bench` measures what most want to know, `npm run bench -- <name> ...` what is named, numbers
// behind a name being the sizes at which it is measured.
import { availableParallelism, cpus, totalmem } from "node:os";
import { styleText } from "node:util";
import { type Bench, benches } from "../infra/local/bench/index.ts";
import { progress, progressDone, type Section, table } from "../infra/local/bench/report.ts";
import * as clock from "../shared/clock.ts";

const asked = sizesByName(process.argv.slice(2));
const unknown = [...asked.keys()].filter((name) => !(name in benches));
const [sizeless] = [...asked].filter(([name, sizes]) => sizes.length && !benches[name]?.sizes);
if (unknown.length) fail(`There is no bench ${unknown.join(", ")}`);
else if (sizeless) fail(`${sizeless[0]} takes no size`);
else await measure(Object.keys(benches).filter((name) => (asked.size ? asked.has(name) : !benches[name]!.onlyWhenNamed)));

function sizesByName(words: string[]): Map<string, number[]> {
  const sizes = new Map<string, number[]>();
  let last: number[] = [];
  for (const word of words)
    if (/^[1-9]\d*$/.test(word)) last.push(Number(word));
    else {
      last = [];
      sizes.set(word, last);
    }
  return sizes;
}

function fail(why: string) {
  const width = Math.max(...Object.keys(benches).map((name) => name.length));
  const lines = Object.entries(benches).map(([name, { title }]: [string, Bench]) => `  ${name.padEnd(width)}  ${title}`);
  console.error(`${why}. There are:\n${lines.join("\n")}`);
  process.exitCode = 1;
}

async function measure(names: string[]) {
  const sections: Section[] = [];
  for (const name of names) {
    const { title, run, sizes } = benches[name]!;
    const wanted = asked.get(name) ?? [];
    progress(title);
    sections.push({ title, rows: await run(wanted.length ? wanted : (sizes ?? [])) });
  }
  progressDone();
  console.log(`${styleText("dim", surroundings())}\n\n${table(sections)}`);
  if (sections.some(({ rows }) => rows.some(({ must, aim }) => must && !aim?.met))) process.exitCode = 1;
}

function surroundings(): string {
  return [
    `${clock.now().toISOString().slice(0, 10)}, ${availableParallelism()} x ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`,
    "Three processes share the cores: the service (gateway, functions, workers, queues), DynamoDB's engine in memory, and this one",
    "(callers, and the mail provider's sandbox). The engine's units are those of DynamoDB; its speed is not.",
  ].join("\n");
}
