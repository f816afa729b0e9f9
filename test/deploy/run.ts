// `npm run test:deploy` runs test/deploy in its own process group, with a time limit. Without
// Python the tests are skipped. The argument `install` only installs the emulator.
import { join } from "node:path";
import { runProject } from "../support/vitest-project.ts";
import { cache, install } from "./emulator.ts";

/** A busy machine can set DEPLOY_LIMIT_SECONDS. */
const limitSeconds = Number(process.env.DEPLOY_LIMIT_SECONDS ?? 300);
const log = join(cache, "output.log");

const missing = install();
if (process.argv[2] === "install") process.exit(missing ? 1 : 0);
if (missing) {
  console.log(`The deploy to an emulator of AWS was left out: ${missing}.`);
  process.exit(0);
}
console.log(`Deploying to an emulator of AWS; output in ${log}`);
process.exitCode = await runProject({ name: "deploy", log, limitSeconds });
