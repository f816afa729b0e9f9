// Options of the scripts that run cdk. cdk itself silently accepts any name after `-c` and any
// option.
import type { ParseArgsOptionsConfig } from "node:util";
import { misused } from "../local/command-line.ts";
import { settingNames } from "./settings.ts";

export const synthOptions = {
  context: { type: "string", short: "c", multiple: true },
} as const satisfies ParseArgsOptionsConfig;

export const deployOptions = {
  ...synthOptions,
  profile: { type: "string" },
  "require-approval": { type: "string" },
  "role-arn": { type: "string" },
  "outputs-file": { type: "string" },
  "change-set-name": { type: "string" },
  method: { type: "string" },
  progress: { type: "string" },
  force: { type: "boolean", short: "f" },
  "no-rollback": { type: "boolean" },
  verbose: { type: "boolean", short: "v" },
} as const satisfies ParseArgsOptionsConfig;

export const destroyOptions = {
  ...synthOptions,
  yes: { type: "boolean" },
  profile: { type: "string" },
  "role-arn": { type: "string" },
  progress: { type: "string" },
  verbose: { type: "boolean", short: "v" },
} as const satisfies ParseArgsOptionsConfig;

/** Throws for a `-c` that is not a setting. */
export function checkContext(pairs: string[] | undefined, usage: string): void {
  for (const pair of pairs ?? []) {
    const [name = "", value] = pair.split(/=(.*)/s);
    if (value === undefined) throw misused(`-c ${pair} must be -c name=value`, usage);
    // Names with a colon are feature flags of cdk.
    if (!settingNames.includes(name) && !name.includes(":"))
      throw misused(`There is no setting ${name}. There are: ${settingNames.join(", ")}`, usage);
  }
}
