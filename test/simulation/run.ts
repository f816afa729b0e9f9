// `npm run simulate -- --seed 7` plays one simulated world, and `--seeds 1000` that many. README.md
// explains what it does and how to read a failure.
import { createWriteStream, openSync, writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { runCommand } from "../../infra/local/command-line.ts";
import { plantedFaults } from "./planted-faults.ts";
import { createPlayer, type Task, type TaskResult } from "./player.ts";
import { createMemoryTable, type MemoryTable, recordCalls } from "./table.ts";
import { playInThreads } from "./threads.ts";

const usage = `npm run simulate -- [--seed 7] [--seeds 100] [--hours 1] [--trace FILE] [--verbose]
Plays a whole installation with faults on a simulated clock, and checks its books.
--seed is the first seed, --seeds how many are played, --hours how long callers act.
--attempts 1 makes a message a dead letter after one failed delivery; without it, its queue decides.
--actions 1,4 and --faults none play only these, by their numbers in the story.
--threads plays that many worlds at a time; without it, one on each core.
--trace writes every call and log line, --verbose prints a line for each seed.
--table-calls writes every call of the table with its answer, as lines of JSON.
--planted plays faults of the source that must be found: all, or their numbers from 0.
SIMULATION_LIMIT_SECONDS leaves out seeds that are not started by then.`;

const limitSeconds = Number(process.env.SIMULATION_LIMIT_SECONDS ?? Infinity);

/** A line shows the progress after this many tasks. */
const progressEvery = 100;

await runCommand({
  usage,
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    hours: { type: "string", default: "1" },
    attempts: { type: "string" },
    actions: { type: "string" },
    faults: { type: "string" },
    threads: { type: "string", default: String(availableParallelism()) },
    trace: { type: "string" },
    "table-calls": { type: "string" },
    verbose: { type: "boolean", default: false },
    planted: { type: "string" },
  },
  async run({ values }) {
    const { planted, trace, "table-calls": tableCalls } = values;
    const [seed, seeds, hours, threads] = [
      Number(values.seed),
      Number(values.seeds),
      Number(values.hours),
      Number(values.threads),
    ];
    const options = {
      attempts: values.attempts === undefined ? undefined : Number(values.attempts),
      actions: parseNumbers(values.actions),
      faults: parseNumbers(values.faults),
    };
    const tasks: Task[] = planted
      ? listPlanted(planted).map((number) => ({ planted: number, hours }))
      : Array.from({ length: seeds }, (_, i) => ({ seed: seed + i, hours, options }));
    const printsAll = planted !== undefined || values.verbose || seeds === 1;
    const startedAt = performance.now();
    const results =
      trace !== undefined || tableCalls !== undefined || tasks.length === 1
        ? playHere(tasks, { trace, tableCalls })
        : playInThreads(tasks, {
            threads: Math.min(threads, tasks.length),
            until: startedAt + limitSeconds * 1000,
          });
    const { green, played } = await countGreen(results, { printsAll, count: tasks.length });
    if (played < tasks.length) console.log(`${tasks.length - played} were left out`);
    console.log(
      planted
        ? `${green} of ${played} planted faults were found`
        : `${green} of ${played} simulations kept their books`,
    );
    console.log(`In ${((performance.now() - startedAt) / 1000).toFixed(1)} seconds`);
    console.log(`${green} passed, ${played - green} failed`);
    if (green < played) process.exitCode = 1;
  },
});

function listPlanted(list: string): number[] {
  return list === "all" ? [...plantedFaults.keys()] : list.split(",").map(Number);
}

/** Undefined: all. */
function parseNumbers(list: string | undefined): number[] | undefined {
  return list === "none" ? [] : list?.split(",").map(Number);
}

interface Files {
  trace: string | undefined;
  tableCalls: string | undefined;
}

/** Plays the tasks in this thread, and writes what they do to files. */
async function* playHere(tasks: Task[], { trace, tableCalls }: Files): AsyncGenerator<TaskResult> {
  const traceFile = trace === undefined ? undefined : createWriteStream(trace);
  const play = await createPlayer({
    table: tableCalls === undefined ? undefined : tableWritingCalls(tableCalls),
    onTrace: (line) => traceFile?.write(`${line}\n`),
  });
  for (const task of tasks) yield play(task);
  traceFile?.end();
}

function tableWritingCalls(path: string): MemoryTable {
  const file = openSync(path, "w");
  return recordCalls(
    createMemoryTable(),
    (call) => void writeSync(file, `${JSON.stringify(call)}\n`),
  );
}

/** Prints the results as they come, and returns how many there are and how many are green. */
async function countGreen(
  results: AsyncIterable<TaskResult>,
  { printsAll, count }: { printsAll: boolean; count: number },
): Promise<{ green: number; played: number }> {
  let green = 0;
  let played = 0;
  for await (const { isGreen, summary, story } of results) {
    played++;
    if (isGreen) green++;
    if (printsAll || !isGreen) console.log(summary);
    for (const line of story) console.log(line);
    if (played % progressEvery === 0 && played < count)
      console.log(`${played} of ${count} played, ${played - green} violated`);
  }
  return { green, played };
}
