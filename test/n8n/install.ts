// n8n's engine and its interfaces, which run nodes as n8n does. The whole of n8n is ten times as
// large.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The folder for all files of the tests that stay. */
export const cache: string = join(import.meta.dirname, "../../node_modules/.cache/test-n8n");

const packages = ["n8n-core@2.41.1", "n8n-workflow@2.41.0"];
/** The project in which the packages are installed. */
export const project: string = join(cache, packages.join("-").replaceAll("@", "-"));

/** Installs the packages if they are missing. Returns the reason if that is not possible. */
export function installN8n(): string | undefined {
  if (Number(process.versions.node.split(".")[0]) < 24) return "n8n needs Node.js 24";
  const done = join(project, "installed");
  if (existsSync(done)) return undefined;
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), "{}");
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  try {
    execFileSync("npm", ["install", ...options, ...packages], { cwd: project, stdio: "pipe" });
  } catch {
    return "npm could not install the engine of n8n";
  }
  writeFileSync(done, "");
  return undefined;
}
