// The measured service, which runs in a separate process. It starts like `npm start`, sends mail to
// the sandbox of the parent process, and responds to queries over IPC.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { worker as lane } from "../../../functions/queue/lane.ts";
import { workers } from "../../../functions/queue-workers.ts";
import { groups } from "../../../functions/route-groups.ts";
import { isMainModule } from "../command-line.ts";
import { type LocalService, startLocalService } from "../service.ts";
import { setTracing, traceWork, watchHttpClients } from "./call-trace.ts";
import { childrenCpuMs } from "./process-cpu.ts";
import { insertContacts, insertHistory } from "./seed.ts";

/** CPU time in milliseconds since the process started. */
export interface CpuTime {
  cpu: number;
  /** CPU time of the DynamoDB engine. Undefined if the system does not report it. */
  engineCpu: number | undefined;
}

let service: LocalService | undefined;

const queries = {
  cpuTime: async (): Promise<CpuTime> => {
    const { user, system } = process.cpuUsage();
    return { cpu: (user + system) / 1000, engineCpu: childrenCpuMs(process.pid) };
  },
  /** Bytes in memory: gateway, workers and queues, without the engine. */
  memory: async () => process.memoryUsage.rss(),
  /** Bytes in use after a garbage collection. */
  heapInUse: async (): Promise<number> => {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  },
  setTracing: async (on: boolean) => setTracing(on),
  /** The environment for a process that runs the lanes. */
  environment: async () => process.env,
  insertContacts,
  insertHistory,
  stop: async () => service?.stop(),
};

export type BenchQueries = typeof queries;
export interface BenchQuery {
  id: number;
  query: keyof BenchQueries;
  input: unknown;
}
export type BenchReply = { id: number; answer: unknown } | { id: number; error: string };

if (isMainModule(import.meta)) await main();

async function main() {
  watchHttpClients();
  for (const group of groups) {
    const { handler } = group;
    group.handler = (event, context) =>
      traceWork(`${event.requestContext.http.method} ${event.rawPath}`, () =>
        handler(event, context),
      );
  }
  for (const worker of workers) {
    const { run } = worker;
    worker.run = (event) => traceWork(worker.queue.name, () => run(event));
  }
  // Another process has the lanes for itself, as on Lambda, where each worker is a function.
  if (process.env.LANES_ELSEWHERE) workers.splice(workers.indexOf(lane), 1);
  service = await startLocalService(process.env);
  process.on("message", (query: BenchQuery) => void answerQuery(query));
  process.on("disconnect", () => process.exit());
  process.send!({ id: 0, answer: service.url } satisfies BenchReply);
}

async function answerQuery({ id, query, input }: BenchQuery) {
  const reply: BenchReply = await queries[query](input as never).then(
    (answer) => ({ id, answer }),
    (error: unknown) => ({ id, error: String(error) }),
  );
  process.send!(reply, () => {
    if (query === "stop") process.exit();
  });
}
