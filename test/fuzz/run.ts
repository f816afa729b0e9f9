// `npm run test:fuzz` runs test/fuzz in its own process group, with a time limit.
import { join } from "node:path";
import { printsHelp } from "../../infra/local/command-line.ts";
import { runProject } from "../support/vitest-project.ts";
import { cache, install } from "./schemathesis.ts";

const limitSeconds = Number(process.env.FUZZ_LIMIT_SECONDS ?? 600);
const log = join(cache, "output.log");

const usage = `npm run test:fuzz -- [install]

Sends the requests that Schemathesis makes from the OpenAPI document. Without Python 3.10 the tests
are skipped. With \`install\`, only installs Schemathesis. FUZZ_RANDOM_REQUESTS sends so many random
requests to each operation instead. A busy machine can set FUZZ_LIMIT_SECONDS.`;
if (printsHelp(usage)) process.exit(0);
const missing = install();
if (process.argv[2] === "install") process.exit(missing ? 1 : 0);
if (missing) {
  console.log(`The requests of Schemathesis were left out: ${missing}.`);
  console.log("They need Python 3.10 or later and access to pypi.org.");
  process.exit(0);
}
console.log(`Sending the requests of Schemathesis; output in ${log}`);
process.exitCode = await runProject({ name: "fuzz", log, limitSeconds });
