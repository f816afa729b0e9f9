// `npm run test:n8n` runs test/n8n in its own process group, with a time limit.
import { join } from "node:path";
import { printsHelp } from "../../infra/local/command-line.ts";
import { runProject } from "../support/vitest-project.ts";
import { cache, installN8n } from "./install.ts";

const limitSeconds = 600;
const log = join(cache, "output.log");

const usage = `npm run test:n8n

Builds the nodes of n8n and runs them in its engine against a local service. Downloads the engine
with npm the first time: 350 MB, about a minute. Needs Node.js 24.`;
if (!printsHelp(usage)) {
  const missing = installN8n();
  if (missing) console.log(`The tests were left out: ${missing}.`);
  else process.exitCode = await runProject({ name: "n8n", log, limitSeconds });
}
