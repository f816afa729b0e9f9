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
  /** With which it shows our tables, where any will not do. */
  accessKeyId?: string;
  stop(): Promise<void>;
}

/** Where files of a name are kept; undefined keeps all in memory. */
type Path = (name: string) => string | undefined;

/** The engine at `given`, else one of our own: dynoxide, else Amazon's DynamoDB Local. */
export async function startDynamoDb(given: string | undefined, path: Path): Promise<Engine> {
  if (given) return { endpoint: given, stop: async () => {} };
  const binary = dynoxide();
  if (!binary) return startDynamoDbLocal(path);
  const file = path("table.db");
  return run((port) => [binary, "serve", "--port", String(port), ...(file ? ["--db-path", file] : [])]);
}

function dynoxide(): string | undefined {
  try {
    const found = createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`);
    return join(dirname(found), "dynoxide");
  } catch {
    return undefined;
  }
}

export async function startDynamoDbLocal(path: Path): Promise<Engine> {
  const lacking = dynamoDbLocal.lacking();
  if (lacking) throw new Trouble(`There is no DynamoDB for this machine: ${lacking}; or set AWS_ENDPOINT_URL_DYNAMODB`);
  const folder = path("dynamodb-local");
  const accessKeyId = dynamoDbLocal.accessKeyId(folder);
  return { ...(await run((port) => dynamoDbLocal.command(port, folder))), accessKeyId };
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

async function run(commandAt: (port: number) => dynamoDbLocal.Command): Promise<Engine> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const [command, ...args] = commandAt(port);
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
