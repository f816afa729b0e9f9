// `npm run test:deploy`: test/deploy in a process group of its own, which ends within a limit of
// time. Without Python it is left out. With `install` it only installs the emulator.
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cache, install } from "./emulator.ts";

/** `DEPLOY_LIMIT_SECONDS` gives a busy machine more. */
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

/** On failure the last lines of the output are printed, and always the tally at its end. */
async function run(): Promise<number> {
  const output = openSync(log, "w");
  const reporters = ["--reporter=verbose", "--reporter=./test/support/reporter.ts"];
  const command = ["run", "--project", "deploy", ...reporters];
  const vitest = spawn("vitest", command, { detached: true, stdio: ["ignore", output, output] });
  const stopAll = () => {
    try {
      process.kill(-vitest.pid!, "SIGKILL");
    } catch {
      // All of them have ended.
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
  // The emulator and its functions, should the tests have ended without them.
  stopAll();
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const tally =
    lines.findLast((line) => /^\d+ passed, \d+ failed/.test(line)) ?? "0 passed, 1 failed";
  if (code !== 0) console.log(lines.slice(-80).join("\n"));
  if (late) console.log(`Stopped after ${limitSeconds} s.`);
  console.log(tally);
  return code;
}
