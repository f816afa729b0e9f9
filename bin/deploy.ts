// `npm run deploy -- -c stage=prod`: cdk deploy, with the workers cut to what the account may run at once.
import { spawnSync } from "node:child_process";
import { styleText } from "node:util";
import { concurrencyLimit } from "../infra/aws/account.ts";

const given = process.argv.slice(2);
const profile = given[given.indexOf("--profile") + 1];
if (given.includes("--profile") && profile) process.env.AWS_PROFILE = profile;

const warn = (text: string) => console.warn(styleText("yellow", text, { stream: process.stderr }));

async function limited(): Promise<string[]> {
  try {
    const limit = await concurrencyLimit();
    if (limit < 1000)
      warn(
        `This account runs ${limit} functions at once, where 1,000 are usual. The workers are kept to three quarters of that, though at least 2 for each queue, so mail goes out slower. ` +
          `Ask for more (Service Quotas, AWS Lambda, "Concurrent executions"), then deploy again.`,
      );
    return ["-c", `accountConcurrency=${limit}`];
  } catch (error) {
    warn(`How many functions this account may run at once could not be seen (${(error as Error).message}); taking it to be 1,000.`);
    return [];
  }
}

const { status } = spawnSync("cdk", ["deploy", "--all", ...(await limited()), ...given], { stdio: "inherit" });
process.exitCode = status ?? 1;
