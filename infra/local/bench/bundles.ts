// What Lambda has to load: the size of every bundle, and how long the largest takes from the start of a process to a handler.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bundle, build, maxBundleBytes } from "../../../build.ts";
import { atMost, median, milliseconds, number, progress, type Row } from "./report.ts";

const starts = 5;

export async function run(): Promise<Row[]> {
  const dist = await mkdtemp(join(tmpdir(), "pennymail-bench-"));
  try {
    const bundles = await build(dist);
    const { kind, name } = bundles[0]!;
    progress(`${starts} starts of ${kind}/${name}`);
    const bare = await startMilliseconds(bareStart);
    const ready = await startMilliseconds([...handlerStart, join(dist, kind, name, "index.cjs")]);
    const note = `median of ${starts}, of which Node alone ${milliseconds(bare)}`;
    return [...bundles.map(sizeRow), { what: `${kind}/${name}: start to ready`, value: milliseconds(ready), note }];
  } finally {
    await rm(dist, { recursive: true });
  }
}

const sizeRow = ({ kind, name, bytes, lateBytes }: Bundle): Row => ({
  what: `${kind}/${name}`,
  value: `${number(bytes / 1000)} kB`,
  aim: atMost(maxBundleBytes / 1000, bytes / 1000, "kB"),
  note: lateBytes ? `and ${number(lateBytes / 1000)} kB when needed` : "",
});

const bareStart = ["-e", "process.stdout.write('ready')"];
const handlerStart = ["-e", "if (typeof require(process.argv[1]).handler === 'function') process.stdout.write('ready')"];

async function startMilliseconds(args: string[]): Promise<number> {
  const took: number[] = [];
  while (took.length < starts) took.push(await start(args));
  return median(took);
}

/** With nothing in its environment: a bundle that reads settings on import would fail. */
function start(args: string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { env: {}, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    child.stdout.once("data", () => resolve(performance.now() - began));
    child.once("close", () => reject(new Error(`${args.at(-1)} has no handler`)));
  });
}
