// Starts the measured service in a process of its own. The provider sandbox runs in this process.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as clock from "../../../shared/clock.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { processCpuMs } from "./process-cpu.ts";
import type { BenchQueries, BenchQuery, BenchReply } from "./service-process.ts";

/** The request units of one route or queue, added up from the log. */
export interface MeasuredUnits {
  runs: number;
  readUnits: number;
  writeUnits: number;
}

export interface ServiceProcess {
  url: string;
  query<K extends keyof BenchQueries>(
    name: K,
    ...input: Parameters<BenchQueries[K]>
  ): Promise<Awaited<ReturnType<BenchQueries[K]>>>;
  /** Returns and resets the units of each route (`POST /api/v1/send`) and queue (`lane`). */
  takeUnits(): Record<string, MeasuredUnits>;
  /** Resolves after this many seconds without a call of the table. Some workers collect a batch. */
  waitUntilIdle(seconds?: number): Promise<void>;
  stop(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

export interface MeasuredService extends ServiceProcess {
  sandbox: Sandbox;
}

/** Starts a service in memory with its own sandbox. Organizations get the enterprise plan. */
export async function startMeasuredService(
  settings: Record<string, string> = {},
): Promise<MeasuredService> {
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const launched = await launchService(sandbox, settings, (line) => console.error(line));
  const stop = async () => {
    await launched.stop();
    await sandbox.stop();
  };
  return { ...launched, sandbox, stop };
}

const program = fileURLToPath(new URL("./service-process.ts", import.meta.url));

const laneProgram = fileURLToPath(new URL("./lane-process.ts", import.meta.url));

export interface LaneProcess {
  /** CPU time in milliseconds since it started. Undefined if the system does not report it. */
  cpuMs(): number | undefined;
  end(signal?: "SIGKILL"): Promise<void>;
}

/** Starts the process that runs the lanes of a service with `LANES_ELSEWHERE`. */
export async function startLaneProcess(
  service: Pick<ServiceProcess, "query">,
): Promise<LaneProcess> {
  const env = await service.query("environment");
  const child = fork(laneProgram, {
    env,
    execArgv: readStartFlags(),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    cpuMs: () => processCpuMs(child.pid!),
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

export async function launchService(
  sandbox: Sandbox,
  settings: Record<string, string>,
  onErrorLine: (line: string) => void,
): Promise<ServiceProcess> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...defaults, ...sandboxEnv(sandbox), ...settings };
  const child = fork(program, {
    env,
    execPath: process.execPath,
    execArgv: readStartFlags(),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const takeUnits = sumUnitsFromLog(child, onErrorLine);
  const { query, ready } = createRpc(child);
  const url = await ready;
  const stop = async () => {
    await Promise.race([query("stop"), exited]);
    await exited;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    url,
    query,
    takeUnits,
    waitUntilIdle: (seconds = 0.4) => waitUntilIdle(url, seconds),
    stop,
    kill,
  };
}

/** The flags of `npm start`, which keep its memory small. */
function readStartFlags(): string[] {
  const packageFile = new URL("../../../package.json", import.meta.url);
  const { scripts } = JSON.parse(readFileSync(packageFile, "utf8"));
  return scripts.start.split(" ").filter((word: string) => word.startsWith("--"));
}

const defaults = {
  PORT: "0",
  DATA_DIR: ":memory:",
  DEFAULT_PLAN: "enterprise",
  ADDRESS_LIMIT_PER_MINUTE: "1000000",
};

const sandboxEnv = (sandbox: Sandbox): Record<string, string> => ({
  SNS_URL: sandbox.snsUrl,
  SYSTEM_SENDER_CREDENTIALS: sandbox.secrets["system-sender"]!,
  ...Object.fromEntries(
    Object.entries(sandbox.originByProvider).map(([key, url]) => [
      `PROVIDER_URL_${key.toUpperCase().replaceAll("-", "_")}`,
      url,
    ]),
  ),
});

function createRpc(child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>([
    [0, Promise.withResolvers<unknown>()],
  ]);
  child.on("message", (reply: BenchReply) => {
    const pending = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) pending?.reject(new Error(reply.error));
    else pending?.resolve(reply.answer);
  });
  child.once("exit", (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`The service ended with ${signal ?? code}`));
  });
  let last = 0;
  const query = (name: keyof BenchQueries, input?: unknown) => {
    const pending = Promise.withResolvers<unknown>();
    waiting.set(++last, pending);
    child.send({ id: last, query: name, input } satisfies BenchQuery);
    return pending.promise;
  };
  return {
    query: query as MeasuredService["query"],
    ready: waiting.get(0)!.promise as Promise<string>,
  };
}

interface LogLineFacts {
  level?: string;
  message?: string;
  facts?: { route?: string; queue?: string; readUnits?: number; writeUnits?: number };
}

/** Adds up the units in the log lines. */
function sumUnitsFromLog(
  child: ChildProcess,
  onErrorLine: (line: string) => void,
): () => Record<string, MeasuredUnits> {
  let spent: Record<string, MeasuredUnits> = {};
  const readLine = (line: string) => {
    if (!line.startsWith("{")) return;
    const { level, facts: { route, queue, readUnits = 0, writeUnits = 0 } = {} }: LogLineFacts =
      JSON.parse(line);
    if (level === "ERROR") onErrorLine(line);
    const name = route ?? queue;
    if (!name) return;
    const sum = spent[name] ?? { runs: 0, readUnits: 0, writeUnits: 0 };
    spent[name] = {
      runs: sum.runs + 1,
      readUnits: sum.readUnits + readUnits,
      writeUnits: sum.writeUnits + writeUnits,
    };
  };
  createInterface(child.stdout!).on("line", readLine);
  // The log's warnings and errors, and the output of a crash.
  createInterface(child.stderr!).on("line", (line) =>
    line.startsWith("{") ? readLine(line) : console.error(line),
  );
  return () => {
    const sums = spent;
    spent = {};
    return sums;
  };
}

const pollMs = 25;

/** Counts polls in a row without a call of the table, because a busy service responds late. */
async function waitUntilIdle(url: string, seconds: number) {
  for (let [calls, same] = [-1, 0]; same * pollMs < seconds * 1000; await clock.sleep(pollMs)) {
    const { data } = (await (await fetch(`${url}/_local/usage`)).json()) as {
      data: { total: { calls: number } };
    };
    same = data.total.calls === calls ? same + 1 : 0;
    calls = data.total.calls;
  }
}
