// Runs a project of tests that `npm test` leaves out.
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const vitestFile = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

interface ProjectRun {
  name: string;
  /** The file for the output. */
  log: string;
  limitSeconds: number;
}

/**
 * Runs the tests in a process group with a time limit. Prints their totals, and after a failure the
 * last lines of the output. Returns the exit code.
 */
export async function runProject({ name, log, limitSeconds }: ProjectRun): Promise<number> {
  mkdirSync(dirname(log), { recursive: true });
  const output = openSync(log, "w");
  const reporters = ["--reporter=verbose", "--reporter=./test/support/reporter.ts"];
  const command = [vitestFile, "run", "--project", name, ...reporters];
  const vitest = spawn(process.execPath, command, {
    detached: true,
    stdio: ["ignore", output, output],
  });
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
  // Stops what the tests started and have not stopped themselves.
  stopAll();
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const tally =
    lines.findLast((line) => /^\d+ passed, \d+ failed/.test(line)) ?? "0 passed, 1 failed";
  if (code !== 0) console.log(lines.slice(-80).join("\n"));
  if (late) console.log(`Stopped after ${limitSeconds} s.`);
  console.log(tally);
  return code;
}
