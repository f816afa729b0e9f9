// DynamoDB for one machine: whichever engine this machine has, the table in it, and what the engines leave out (expiry).
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as dynamoDbLocal from "./dynamodb-local.ts";
import { Trouble } from "./trouble.ts";

export interface Engine {
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * The engine at `given`, else one of our own: dynoxide, else Amazon's DynamoDB Local where it is installed.
 * `path` tells where files of a name are kept; undefined keeps all in memory.
 */
export async function startDynamoDb(given: string | undefined, path: (name: string) => string | undefined): Promise<Engine> {
  if (given) return { endpoint: given, stop: async () => {} };
  return start((port) => dynoxide(port, path("table.db")) ?? amazons(port, path("dynamodb-local")));
}

/** Amazon's, in memory, whatever else there is. */
export const startDynamoDbLocal = (): Promise<Engine> => start((port) => amazons(port, undefined));

async function start(commandAt: (port: number) => dynamoDbLocal.Command): Promise<Engine> {
  const port = await freePort();
  const [command, ...args] = commandAt(port);
  return run(command, args, `http://127.0.0.1:${port}`);
}

const require = createRequire(import.meta.url);

function dynoxide(port: number, file: string | undefined): dynamoDbLocal.Command | undefined {
  try {
    const folder = dirname(require.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`));
    return [join(folder, "dynoxide"), "serve", "--port", String(port), ...(file ? ["--db-path", file] : [])];
  } catch {
    return undefined;
  }
}

function amazons(port: number, folder: string | undefined): dynamoDbLocal.Command {
  const lacking = dynamoDbLocal.lacking();
  if (lacking) throw new Trouble(`There is no DynamoDB for this machine: ${lacking}; or set AWS_ENDPOINT_URL_DYNAMODB`);
  return dynamoDbLocal.command(port, folder);
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

// The engine lives as long as its input is open: it goes when we close it, and also when we are killed. A group of its own keeps
// it from a Ctrl-C in our terminal, so that messages in work can finish first.
const guard = 'exec 3<&0; "$0" "$@" & child=$!; (cat <&3 >/dev/null; kill $child 2>/dev/null) & wait $child';

async function run(command: string, args: string[], endpoint: string): Promise<Engine> {
  const guarded = existsSync("/bin/sh");
  const child = guarded
    ? spawn("/bin/sh", ["-c", guard, command, ...args], { stdio: ["pipe", "ignore", "pipe"], detached: true })
    : spawn(command, args, { stdio: ["pipe", "ignore", "pipe"] });
  let words = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-500);
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await answering(child, endpoint, () => words);
  const stop = async () => {
    child.stdin!.end();
    if (!guarded) child.kill();
    await gone;
  };
  return { endpoint, stop };
}

const startSeconds = 20;

async function answering(child: ChildProcess, endpoint: string, words: () => string) {
  for (let waited = 0; waited < startSeconds * 1000; waited += 10) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const answer = await fetch(endpoint, { method: "POST", body: "{}", signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer) return;
    await pause(10);
  }
  child.stdin!.end();
  throw new Trouble(`The DynamoDB engine did not start: ${words().trim().split("\n").at(-1) || "it does not answer"}`);
}
