// `npm run test:fuzz` runs test/fuzz in its own process group, with a time limit. Without Python
// the tests are skipped. The argument `install` only installs Schemathesis.
import { join } from "node:path";
import { runProject } from "../support/vitest-project.ts";
import { cache, install } from "./schemathesis.ts";

/** A busy machine can set FUZZ_LIMIT_SECONDS. */
const limitSeconds = Number(process.env.FUZZ_LIMIT_SECONDS ?? 600);
const log = join(cache, "output.log");

const missing = install();
if (process.argv[2] === "install") process.exit(missing ? 1 : 0);
if (missing) {
  console.log(`The requests of Schemathesis were left out: ${missing}.`);
  console.log("They need Python 3.10 or later and access to pypi.org.");
  process.exit(0);
}
console.log(`Sending the requests of Schemathesis; output in ${log}`);
process.exitCode = await runProject({ name: "fuzz", log, limitSeconds });
