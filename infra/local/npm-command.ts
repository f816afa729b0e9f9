// Finds npm without a shell. The folder of the Node.js that npm installs has no npm.
import { existsSync } from "node:fs";
import { posix, win32 } from "node:path";

interface Machine {
  platform: NodeJS.Platform;
  env: Record<string, string | undefined>;
  /** The path of Node.js. */
  node: string;
  exists(path: string): boolean;
}

const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  node: process.execPath,
  exists: existsSync,
};

/**
 * The start of a command line: the npm that runs this script, else the first one in PATH. On
 * Windows, npm.cmd can only be started by a shell, so Node.js runs the script that it runs.
 */
export function npmCommand({
  platform,
  env,
  node,
  exists,
}: Machine = thisMachine): [command: string, ...args: string[]] | undefined {
  const { join, delimiter } = platform === "win32" ? win32 : posix;
  const running = env.npm_execpath;
  if (running && /[\\/]npm-cli\.[cm]?js$/.test(running)) return [node, running];
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  const file = platform === "win32" ? "node_modules/npm/bin/npm-cli.js" : "npm";
  const found = path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, file))
    .find(exists);
  if (!found) return undefined;
  return platform === "win32" ? [node, found] : [found];
}
