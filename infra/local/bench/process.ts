// The service in a process of its own, for benches. It is started like `npm start`, without the providers' sandbox, and answers
// over IPC what can only be measured from inside.
import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { groups } from "../../../functions/http/index.ts";
import { workers } from "../../../functions/queue/index.ts";
import { type Service, startService } from "../service.ts";
import { crowd } from "./crowd.ts";
import { history } from "./history.ts";
import { trace, traced, watchCalls } from "./trips.ts";

/** CPU time in milliseconds since the process started. */
export interface Cost {
  cpu: number;
  /** Of the DynamoDB engine; undefined where the system does not tell. */
  engineCpu: number | undefined;
}

const inspector = new Session();
let service: Service | undefined;

const answers = {
  cost: async (): Promise<Cost> => {
    const { user, system } = process.cpuUsage();
    return { cpu: (user + system) / 1000, engineCpu: cpuOfChildren() };
  },
  /** Bytes in memory: gateway, workers and queues, without the engine. */
  memory: async () => process.memoryUsage.rss(),
  /** Bytes that are in use once all is collected that is not. */
  live: async (): Promise<number> => {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  },
  trace: async (on: boolean) => trace(on),
  crowd,
  history,
  profile: async () => {
    inspector.connect();
    await inspector.post("Profiler.enable");
    await inspector.post("Profiler.setSamplingInterval", { interval: 250 });
    await inspector.post("Profiler.start");
  },
  /** Writes what was profiled to a file, in V8's own format. */
  profiled: async (file: string) => {
    const { profile } = await inspector.post("Profiler.stop");
    inspector.disconnect();
    writeFileSync(file, JSON.stringify(profile));
  },
  stop: async () => service?.stop(),
};

export type Answers = typeof answers;
export interface Question {
  id: number;
  ask: keyof Answers;
  with: unknown;
}
export type Reply = { id: number; answer: unknown } | { id: number; error: string };

if (import.meta.main) await main();

async function main() {
  watchCalls();
  for (const group of groups) {
    const { handler } = group;
    group.handler = (event, context) => traced(event.routeKey, () => handler(event, context));
  }
  for (const worker of workers) {
    const { handler } = worker;
    worker.handler = (event) => traced(worker.queue.name, () => handler(event));
  }
  service = await startService(process.env);
  process.on("message", (question: Question) => void reply(question));
  process.on("disconnect", () => process.exit());
  process.send!({ id: 0, answer: service.url } satisfies Reply);
}

async function reply({ id, ask, with: given }: Question) {
  const said: Reply = await answers[ask](given as never).then(
    (answer) => ({ id, answer }),
    (error: unknown) => ({ id, error: String(error) }),
  );
  process.send!(said, () => {
    if (ask === "stop") process.exit();
  });
}

/** Linux tells of every process what it has used, in hundredths of a second. */
function cpuOfChildren(): number | undefined {
  try {
    return ticksBelow(process.pid) * 10;
  } catch {
    return undefined;
  }
}

const ticksBelow = (pid: number): number =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .reduce((sum, child) => sum + ticksOf(child) + ticksBelow(Number(child)), 0);

// The name, in brackets, may have spaces: fields are counted behind it. Its 12th and 13th are the time as user and as system.
const ticksOf = (pid: string): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
};
