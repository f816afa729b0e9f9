import { SQSClient } from "@aws-sdk/client-sqs";
import { SignatureV4 } from "@smithy/signature-v4";

/** How many functions the operator's account may run at once: 1,000 as a rule, 10 in a new account. Lambda's GetAccountSettings, for which the project has no client of its own. */
export async function concurrencyLimit(): Promise<number> {
  // Any client finds credentials, region and hash in the operator's surroundings.
  const { region: regionOf, credentials, sha256 } = new SQSClient({}).config;
  const region = await regionOf();
  const url = new URL("/2016-08-19/account-settings", process.env.AWS_ENDPOINT_URL_LAMBDA ?? `https://lambda.${region}.amazonaws.com`);
  const signer = new SignatureV4({ service: "lambda", region, credentials, sha256 });
  const { protocol, hostname, port, pathname: path, host } = url;
  const { headers } = await signer.sign({
    method: "GET",
    protocol,
    hostname,
    ...(port && { port: Number(port) }),
    path,
    headers: { host },
  });
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`Lambda answered ${response.status} to GetAccountSettings`);
  const { AccountLimit } = (await response.json()) as { AccountLimit: { ConcurrentExecutions: number } };
  return AccountLimit.ConcurrentExecutions;
}
