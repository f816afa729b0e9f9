// Runs `cdk deploy` with the limits of the AWS account, and first explains what CDK will ask.
import { styleText } from "node:util";
import { checkContext, deployOptions } from "../infra/aws/cdk-options.ts";
import { accountLimits } from "../infra/aws/concurrency-limit.ts";
import { runCdk } from "../infra/aws/run-cdk.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { runCommand } from "../infra/local/command-line.ts";

const usage = `npm run deploy -- [-c setting=value ...] [cdk options]

Builds the functions and deploys the stack Pennymail-<stage> with cdk deploy.
infra/aws/README.md lists the settings.
  npm run deploy -- -c stage=prod -c alarmEmail=ops@example.com
  --profile NAME    AWS profile to use
  --require-approval never    do not ask before permissions change`;

await runCommand({
  usage,
  options: deployOptions,
  run: async ({ values: { context, profile, "require-approval": approval } }) => {
    checkContext(context, usage);
    if (profile) process.env.AWS_PROFILE = profile;
    await deploy(process.argv.slice(2), approval === undefined);
  },
});

async function deploy(cdkArgs: string[], asks: boolean) {
  // The CLI, the SDK and CDK each read one of these two variables.
  process.env.AWS_REGION ||= process.env.AWS_DEFAULT_REGION;
  process.env.AWS_DEFAULT_REGION ||= process.env.AWS_REGION;
  for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION"])
    if (!process.env[name]) delete process.env[name];

  if (asks && !process.stdin.isTTY) {
    if (!process.env.CI) {
      throw new CliError(
        "cdk asks before it changes permissions, and there is no terminal to answer. " +
          "Run this in a terminal, or add --require-approval never.",
      );
    }
    cdkArgs.push("--require-approval", "never");
  }

  const options = await fitToAccount();
  if (asks && process.stdin.isTTY)
    console.log(
      "CDK lists the permissions of each function, which are limited to this stack's table, " +
        "bucket, key and queues, and asks once whether to continue.",
    );
  process.exitCode = runCdk(["deploy", "--all", ...options, ...cdkArgs]);
}

/** Returns the limits of the account as context for CDK. Prints a warning for each low quota. */
async function fitToAccount(): Promise<string[]> {
  const { concurrency, mailQuota, problems } = await accountLimits();
  for (const problem of problems) warn(problem);
  if (concurrency !== undefined && concurrency < 1000)
    warn(
      `This account runs ${concurrency} functions at once; 1,000 are usual. ` +
        "The stack's workers get at most three quarters of that, so mail goes out more slowly. " +
        "To send faster, request a higher quota " +
        '(Service Quotas, AWS Lambda, "Concurrent executions") and deploy again.',
    );
  if (mailQuota?.sandbox)
    warn(
      "Amazon SES is in its sandbox in this account and reaches only verified addresses. " +
        "If you send through SES, ask AWS for production access.",
    );
  return concurrency === undefined ? [] : ["-c", `accountConcurrency=${concurrency}`];
}

function warn(text: string) {
  console.warn(styleText("yellow", text, { stream: process.stderr }));
}
