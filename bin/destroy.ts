// Runs `cdk destroy`, and first names the resources that it deletes and those that stay.
import { createInterface } from "node:readline/promises";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  UpdateTerminationProtectionCommand,
} from "@aws-sdk/client-cloudformation";
import { checkContext, destroyOptions } from "../infra/aws/cdk-options.ts";
import { runCdk } from "../infra/aws/run-cdk.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { runCommand } from "../infra/local/command-line.ts";

const usage = `npm run destroy -- [-c stage=NAME] [--yes] [cdk options]

Deletes the stack Pennymail-<stage> (default: dev). Table, bucket and key stay, unless the stack was
deployed with -c protect=false. Asks for the stack's name first, unless you add --yes.
  --profile NAME    AWS profile to use`;

await runCommand({
  usage,
  options: destroyOptions,
  run: async ({ values: { context, profile, yes } }) => {
    checkContext(context, usage);
    if (profile) process.env.AWS_PROFILE = profile;
    const stage =
      context?.findLast((pair) => pair.startsWith("stage="))?.slice("stage=".length) ?? "dev";
    const options = process.argv.slice(2).filter((argument) => argument !== "--yes");
    await destroy(`Pennymail-${stage}`, { isConfirmed: yes ?? false, options }).catch(
      (error: Error) => {
        throw new CliError(error.message);
      },
    );
  },
});

async function destroy(
  stackName: string,
  { isConfirmed, options }: { isConfirmed: boolean; options: string[] },
) {
  const client = new CloudFormationClient({});
  const { isProtected, names } = await describe(client, stackName);
  console.log(
    isProtected
      ? `This deletes ${stackName}: its functions, queues, logs and public URL. ` +
          `These stay in the account, with all data:\n${names}`
      : `This deletes ${stackName} with all data, permanently:\n${names}`,
  );
  if (!isConfirmed) await confirm(stackName);
  if (isProtected)
    await client.send(
      new UpdateTerminationProtectionCommand({
        StackName: stackName,
        EnableTerminationProtection: false,
      }),
    );
  const status = runCdk(["destroy", "--force", "--all", ...options]);
  if (status === 0 && isProtected) console.log(`These stay, and AWS bills them:\n${names}`);
  process.exitCode = status;
}

async function describe(
  client: CloudFormationClient,
  stackName: string,
): Promise<{ isProtected: boolean; names: string }> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
  const outputs = new Map(
    Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const names = [
    ["table ", "TableName"],
    ["bucket", "BucketName"],
    ["key   ", "KeyArn"],
  ].map(([what, output]) => `  ${what} ${outputs.get(output) ?? "(not in the stack's outputs)"}`);
  return {
    isProtected: Stacks[0]?.EnableTerminationProtection ?? false,
    names: names.join("\n"),
  };
}

/** Throws unless the operator types the stack's name. */
async function confirm(stackName: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CliError("There is no terminal to answer: run this in a terminal, or add --yes.");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Type ${stackName} to continue: `);
  terminal.close();
  if (answer.trim() !== stackName) throw new CliError("Nothing was deleted");
}
