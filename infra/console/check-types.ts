// Type-checks the console against the SDK of this version of the API.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildSdkTypes } from "../sdk/build.ts";

const root = join(import.meta.dirname, "../..");
await buildSdkTypes(join(root, "node_modules/.cache/sdk-types"));
const compiler = join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [compiler, "-p", "shared/console"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
