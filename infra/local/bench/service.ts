// A service to be measured, seen from the bench: started in a process of its own, with the providers' sandbox on this side.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as clock from "../../../shared/clock.ts";
import { openSandbox, type Sandbox } from "../sandbox/index.ts";
import type { Answers, Question, Reply } from "./process.ts";

/** What log lines say of one kind of work. */
export interface Spent {
  times: number;
  readUnits: number;
  writeUnits: number;
}

export interface Launched {
  url: string;
  ask<K extends keyof Answers>(what: K, ...given: Parameters<Answers[K]>): Promise<Awaited<ReturnType<Answers[K]>>>;
  /** What each route (`POST /api/v1/send`) and queue (`lane`) has used since the last call. */
  spent(): Record<string, Spent>;
  /** Resolves once the service has had nothing to do for so long; workers of some queues wait for a while to get more at once. */
  quiet(seconds?: number): Promise<void>;
  stop(): Promise<void>;
  /** In the middle of whatever it does. */
  kill(): Promise<void>;
}

export interface Measured extends Launched {
  sandbox: Sandbox;
}

/** In memory, for organizations of the enterprise plan, with a sandbox of its own, unless `settings` say otherwise. */
export async function measured(settings: Record<string, string> = {}): Promise<Measured> {
  const sandbox = await openSandbox({ dataDir: ":memory:", publicUrl: () => "" });
  const launched = await launch(sandbox, settings, (line) => console.error(line));
  const stop = async () => {
    await launched.stop();
    await sandbox.stop();
  };
  return { ...launched, sandbox, stop };
}

const program = fileURLToPath(new URL("./process.ts", import.meta.url));

/** `failed` hears the log lines of errors. */
export async function launch(sandbox: Sandbox, settings: Record<string, string>, failed: (line: string) => void): Promise<Launched> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...defaults, ...originsOf(sandbox), ...settings };
  const child = fork(program, { env, execPath: process.execPath, execArgv: [], stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const spent = bookkeeping(child, failed);
  const { ask, ready } = asking(child);
  const url = await ready;
  const stop = async () => {
    await Promise.race([ask("stop"), gone]);
    await gone;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  return { url, ask, spent, quiet: (seconds = 0.4) => untilQuiet(url, seconds), stop, kill };
}

const defaults = {
  PORT: "0",
  DATA_DIR: ":memory:",
  SANDBOX: "off",
  DEFAULT_PLAN: "enterprise",
  ADDRESS_LIMIT_PER_MINUTE: "1000000",
};

const originsOf = ({ urls, snsUrl }: Sandbox): Record<string, string> => ({
  SNS_URL: snsUrl,
  ...Object.fromEntries(Object.entries(urls).map(([key, url]) => [`PROVIDER_URL_${key.toUpperCase().replaceAll("-", "_")}`, url])),
});

function asking(child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>([[0, Promise.withResolvers<unknown>()]]);
  child.on("message", (reply: Reply) => {
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) asked?.reject(new Error(reply.error));
    else asked?.resolve(reply.answer);
  });
  child.once("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`The service ended with ${signal ?? code}`));
  });
  let last = 0;
  const ask = (what: keyof Answers, given?: unknown) => {
    const asked = Promise.withResolvers<unknown>();
    waiting.set(++last, asked);
    child.send({ id: last, ask: what, with: given } satisfies Question);
    return asked.promise;
  };
  return { ask: ask as Measured["ask"], ready: waiting.get(0)!.promise as Promise<string> };
}

interface Line {
  level?: string;
  message?: string;
  facts?: { route?: string; queue?: string; readUnits?: number; writeUnits?: number };
}

/** Adds up what the service's log says. */
function bookkeeping(child: ChildProcess, failed: (line: string) => void): () => Record<string, Spent> {
  let spent: Record<string, Spent> = {};
  let rest = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const { level, facts: { route, queue, readUnits = 0, writeUnits = 0 } = {} }: Line = line.startsWith("{") ? JSON.parse(line) : {};
      if (level === "ERROR") failed(line);
      const name = route ?? queue;
      if (!name) continue;
      const sum = spent[name] ?? { times: 0, readUnits: 0, writeUnits: 0 };
      spent[name] = { times: sum.times + 1, readUnits: sum.readUnits + readUnits, writeUnits: sum.writeUnits + writeUnits };
    }
  });
  return () => {
    const told = spent;
    spent = {};
    return told;
  };
}

const lookMs = 25;

/** No call of the table in a row of looks: by number, because a busy service also answers late. */
async function untilQuiet(url: string, seconds: number) {
  for (let [calls, same] = [-1, 0]; same * lookMs < seconds * 1000; await clock.sleep(lookMs)) {
    const { data } = (await (await fetch(`${url}/_local/usage`)).json()) as { data: { total: { calls: number } } };
    same = data.total.calls === calls ? same + 1 : 0;
    calls = data.total.calls;
  }
}
