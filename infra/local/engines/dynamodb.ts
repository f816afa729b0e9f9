// Starts the DynamoDB engine that this machine has, and restarts it when it ends.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as log from "../../../shared/kernel/log.ts";
import { CliError } from "../cli-error.ts";
import * as dynamoDbLocal from "./dynamodb-local.ts";

export interface DynamoDbEngine {
  endpoint: string;
  /** The access key that selects our tables. Absent when the engine ignores access keys. */
  accessKeyId?: string;
  /** Endpoints of further engines that only read the same data. */
  readers?: string[];
  /** The engine needs commas between the changes of a PartiQL UPDATE. */
  partiqlCommas?: true;
  stop(): Promise<void>;
}

/** The path of a file. Undefined keeps data in memory. */
type DataPath = (name: string) => string | undefined;

/** Uses the existing endpoint, else starts dynoxide, else Amazon's DynamoDB Local. */
export async function startDynamoDb(
  existingEndpoint: string | undefined,
  path: DataPath,
): Promise<DynamoDbEngine> {
  if (existingEndpoint) return { endpoint: existingEndpoint, stop: async () => {} };
  const binary = findDynoxide();
  if (!binary) return startDynamoDbLocal(path);
  const file = path("table.db");
  const command = (port: number): dynamoDbLocal.LaunchCommand => [
    binary,
    "serve",
    "--port",
    String(port),
    ...(file ? ["--db-path", file] : []),
  ];
  const engine = await startProcess(command, file !== undefined);
  const readers = file ? await startReaders(command, engine) : [];
  return {
    endpoint: engine.endpoint,
    readers: readers.map(({ endpoint }) => endpoint),
    partiqlCommas: true,
    stop: () => stopAll([...readers, engine]),
  };
}

/**
 * dynoxide serves one request at a time, in one thread. Several can have one file, which SQLite
 * locks, and a read sees every write that was answered before. So counts use all cores.
 */
async function startReaders(
  command: (port: number) => dynamoDbLocal.LaunchCommand,
  engine: DynamoDbEngine,
): Promise<DynamoDbEngine[]> {
  const readers: DynamoDbEngine[] = [];
  try {
    while (readers.length < Math.min(maxReaders, availableParallelism() - 1))
      readers.push(await startProcess(command, true));
    return readers;
  } catch (error) {
    await stopAll([...readers, engine]);
    throw error;
  }
}

const maxReaders = 3;

const stopAll = async (engines: DynamoDbEngine[]): Promise<void> => {
  for (const { stop } of engines) await stop();
};

function findDynoxide(): string | undefined {
  try {
    const found = createRequire(import.meta.url).resolve(
      `@dynoxide/${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(found), "dynoxide");
  } catch {
    return undefined;
  }
}

export async function startDynamoDbLocal(path: DataPath): Promise<DynamoDbEngine> {
  const missing = dynamoDbLocal.missingRequirement();
  if (missing)
    throw new CliError(
      `No DynamoDB engine is available on this machine. ${missing}, or set ` +
        "AWS_ENDPOINT_URL_DYNAMODB to a running one",
    );
  const folder = path("dynamodb-local");
  const accessKeyId = dynamoDbLocal.loadAccessKeyId(folder);
  return {
    ...(await startProcess(
      (port) => dynamoDbLocal.launchCommand(port, folder),
      folder !== undefined,
    )),
    accessKeyId,
  };
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

// The engine runs as long as its stdin is open, so it ends with this process, even after SIGKILL.
// Its own process group keeps Ctrl-C from it, so that messages in progress can finish first.
const parentGuardScript =
  'exec 3<&0; "$0" "$@" & child=$!; (cat <&3 >/dev/null; kill $child 2>/dev/null) & wait $child';

/** Restarts an engine that ends by itself if its data is on disk (`persistent`). */
async function startProcess(
  commandAt: (port: number) => dynamoDbLocal.LaunchCommand,
  persistent: boolean,
): Promise<DynamoDbEngine> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const launch = () => launchProcess(commandAt(port));
  let running = launch();
  await waitUntilReady(running.child, endpoint, running.stderrTail);
  let stopped = false;
  const restartOnExit = async () => {
    while (!stopped) {
      await running.exited;
      if (stopped) return;
      log.error(
        "DynamoDB engine ended and restarts",
        new Error(running.stderrTail().trim().split("\n").at(-1) || "no output"),
      );
      await pause(restartMs);
      if (!stopped) running = launch();
    }
  };
  if (persistent) void restartOnExit();
  const stop = async () => {
    stopped = true;
    running.end();
    await running.exited;
  };
  return { endpoint, stop };
}

const restartMs = 300;

// dynoxide serves one request at a time, and its threads compete for memory: with one thread it
// needs half the CPU time for parallel transactions.
const engineEnv = { TOKIO_WORKER_THREADS: "1" };

function launchProcess([command, ...args]: dynamoDbLocal.LaunchCommand) {
  const usesGuard = existsSync("/bin/sh");
  const env = { ...process.env, ...engineEnv };
  const child = usesGuard
    ? spawn("/bin/sh", ["-c", parentGuardScript, command, ...args], {
        stdio: ["pipe", "ignore", "pipe"],
        detached: true,
        env,
      })
    : spawn(command, args, { stdio: ["pipe", "ignore", "pipe"], env });
  let stderrTail = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString()).slice(-500);
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const end = () => {
    child.stdin!.end();
    if (!usesGuard) child.kill();
  };
  return { child, exited, end, stderrTail: () => stderrTail };
}

const startSeconds = 20;

async function waitUntilReady(child: ChildProcess, endpoint: string, stderrTail: () => string) {
  for (let waited = 0; waited < startSeconds * 1000; waited += 10) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const answer = await fetch(endpoint, {
      method: "POST",
      body: "{}",
      signal: AbortSignal.timeout(2000),
    }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer) return;
    await pause(10);
  }
  child.stdin!.end();
  throw new CliError(
    "The DynamoDB engine did not start: " +
      `${stderrTail().trim().split("\n").at(-1) || "it does not respond"}`,
  );
}
