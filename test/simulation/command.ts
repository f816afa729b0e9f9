// Runs the command as a process of its own, as callers of `npm run simulate` do.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Returns the output. Throws an error with the output when the command fails. */
export async function simulate(...args: string[]): Promise<string> {
  const command = join(import.meta.dirname, "run.ts");
  const run = promisify(execFile)(process.execPath, [command, ...args]);
  const { stdout } = await run.catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error));
  });
  return stdout;
}
