// Builds the console, for a service without the packages that build it.
import { resolve } from "node:path";
import { buildConsole } from "../infra/console/build.ts";
import { runCommand } from "../infra/local/command-line.ts";

await runCommand({
  usage: `npm run console -- [folder]

Builds the console in the folder, by default dist/console. A service with CONSOLE_FOLDER serves
these files, and does not build them itself.`,
  words: [0, 1],
  run: async ({ words: [folder = "dist/console"] }) => {
    // npm changes the working directory. Paths are relative to the caller's.
    await buildConsole(resolve(process.env.INIT_CWD ?? "", folder));
  },
});
