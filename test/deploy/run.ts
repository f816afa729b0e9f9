// `npm run test:deploy` runs test/deploy in its own process group, with a time limit. Without
// Python the tests are skipped. The argument `install` only installs the emulator.
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
mkdirSync(cache, { recursive: true });
console.log(`Deploying to an emulator of AWS; output in ${log}`);
process.exitCode = await run();

/** Runs the tests. Prints their totals, and after a failure the last lines of the output. */
async function run(): Promise<number> {
  const output = openSync(log, "w");
  const reporters = ["--reporter=verbose", "--reporter=./test/support/reporter.ts"];
  const command = ["run", "--project", "deploy", ...reporters];
  const vitest = spawn("vitest", command, { detached: true, stdio: ["ignore", output, output] });
  const stopAll = () => {
    try {
      process.kill(-vitest.pid!, "SIGKILL");
    } catch {
      // All processes of the group have ended.
    }
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stopAll();
      process.exit(1);
    });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stopAll();
  }, limitSeconds * 1000);
  const code = await new Promise<number>((resolve) =>
    vitest.once("close", (ended) => resolve(ended ?? 1)),
  );
  clearTimeout(timer);
  // Stops the emulator and its functions if the tests have not done so.
  stopAll();
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const tally =
    lines.findLast((line) => /^\d+ passed, \d+ failed/.test(line)) ?? "0 passed, 1 failed";
  if (code !== 0) console.log(lines.slice(-80).join("\n"));
  if (late) console.log(`Stopped after ${limitSeconds} s.`);
  console.log(tally);
  return code;
}
