// Fetches Amazon's DynamoDB Local, where there is Java to run it.
import { spawnSync } from "node:child_process";
import { home, lackingJava } from "../infra/local/dynamodb-local.ts";

const lacking = lackingJava();
if (lacking) console.error(lacking);
process.exitCode = lacking
  ? 1
  : (spawnSync(`npm ci --no-audit --no-fund --prefix "${home}"`, { shell: true, stdio: "inherit" }).status ?? 1);
