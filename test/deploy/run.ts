// `npm run test:deploy` runs test/deploy in its own process group, with a time limit.
import { join } from "node:path";
import { printsHelp } from "../../infra/local/command-line.ts";
import { runProject } from "../support/vitest-project.ts";
import { cache, install } from "./emulator.ts";

const limitSeconds = Number(process.env.DEPLOY_LIMIT_SECONDS ?? 300);
const log = join(cache, "output.log");

const usage = `npm run test:deploy -- [install]

Deploys to an emulator of AWS, upgrades and destroys the stack. Without Python 3 the tests are
skipped. With \`install\`, only installs the emulator. A busy machine can set DEPLOY_LIMIT_SECONDS.`;
if (printsHelp(usage)) process.exit(0);
const missing = install();
if (process.argv[2] === "install") process.exit(missing ? 1 : 0);
if (missing) {
  console.log(`The deploy to an emulator of AWS was left out: ${missing}.`);
  process.exit(0);
}
console.log(`Deploying to an emulator of AWS; output in ${log}`);
process.exitCode = await runProject({ name: "deploy", log, limitSeconds });
