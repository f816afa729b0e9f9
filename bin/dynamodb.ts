// Downloads Amazon's DynamoDB Local, if there is Java to run it.
import { spawnSync } from "node:child_process";
import { CliError } from "../infra/local/cli-error.ts";
import { runCommand } from "../infra/local/command-line.ts";
import { installFolder, missingJava } from "../infra/local/engines/dynamodb-local.ts";
import { npmCommand } from "../infra/local/npm-command.ts";

await runCommand({
  usage:
    "npm run dynamodb\n\nDownloads Amazon's DynamoDB Local (58 MB). It needs Java 17 or later.",
  run: async () => {
    const missing = missingJava();
    if (missing) throw new CliError(missing);
    const npm = npmCommand();
    if (!npm) throw new CliError("npm was not found in PATH");
    const [command, ...args] = npm;
    const install = [...args, "ci", "--no-audit", "--no-fund", "--prefix", installFolder];
    const { status } = spawnSync(command, install, { stdio: "inherit" });
    process.exitCode = status ?? 1;
  },
});
