// Gives an organization a plan and credits without payment, for operators without Stripe. Asks the
// service on this machine over the socket in its DATA_DIR, or writes to the DynamoDB table that
// TABLE_NAME names.
import { resolve } from "node:path";
import { sendRequest } from "../infra/local/api-client.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { misused, runCommand } from "../infra/local/command-line.ts";
import { resolveServiceUrl } from "../infra/local/listen-address.ts";
import { askOperatorSocket } from "../infra/local/operator-socket.ts";
import { grantPlan, OperatorGrant } from "../shared/domain/billing/operator-grants.ts";
import { planKeys } from "../shared/plans.ts";

const usage = `npm run plan -- <organization id> <${planKeys.join("|")}> [credits]
  [--url http://127.0.0.1:3000]

Gives an organization a plan and adds credits without Stripe: in the running service with the same
DATA_DIR, or on AWS with credentials and TABLE_NAME in the environment.
  --url    the address of a service with the sandbox`;

await runCommand({
  usage,
  options: { url: { type: "string" } },
  words: [2, 3],
  run: async ({ values: { url }, words: [organizationId, plan, credits = "0"] }) => {
    const { data } = OperatorGrant.safeParse({
      organizationId: Number(organizationId),
      plan,
      credits: Number(credits),
    });
    if (!data) throw misused("The organization id, plan or number of credits is not valid", usage);
    const given = await grant(data, url).catch((error: Error) => {
      throw new CliError(error.message);
    });
    console.log(
      `Organization ${given.organizationId} has the plan ${given.plan} and ${given.credits} ` +
        "credits",
    );
  },
});

async function grant(gift: OperatorGrant, url: string | undefined): Promise<OperatorGrant> {
  const { TABLE_NAME, DATA_DIR = ".data" } = process.env;
  if (url !== undefined || (DATA_DIR === ":memory:" && !TABLE_NAME))
    return grantInSandbox(gift, resolveServiceUrl(url, process.env));
  if (TABLE_NAME) return grantPlan(gift);
  const folder = resolve(DATA_DIR || ".data");
  const answer = await askOperatorSocket(resolve(folder, "control.sock"), "/plan", gift);
  if (!answer)
    throw new CliError(
      `No service runs on the folder ${folder} (DATA_DIR): start it first, or name it with --url`,
    );
  return answer.data as OperatorGrant;
}

async function grantInSandbox(gift: OperatorGrant, url: string): Promise<OperatorGrant> {
  const { status, body } = await sendRequest({ url, headers: {} }, "POST /_local/plan", gift);
  if (status !== 200) throw new CliError(body.error);
  return body.data as OperatorGrant;
}
