// Runs the CDK command line of this project without a shell, which Windows would need for `cdk`.
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { createRequire } from "node:module";

/** Returns the exit code. */
export function runCdk(args: string[], stdio: SpawnSyncOptions["stdio"] = "inherit"): number {
  const program = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");
  return spawnSync(process.execPath, [program, ...args], { stdio }).status ?? 1;
}
