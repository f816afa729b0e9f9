// Reads the limits of the operator's AWS account before a deployment. Signs two requests itself,
// because the project has no client for these services.
import { SQSClient } from "@aws-sdk/client-sqs";
import { SignatureV4 } from "@smithy/signature-v4";

export interface AccountLimits {
  /**
   * Concurrent executions: usually 1,000, and 10 in a new account. Undefined if Lambda did not
   * respond.
   */
  concurrency: number | undefined;
  /** Undefined if SES did not respond or does not exist in this region. */
  mailQuota: { sandbox: boolean } | undefined;
  /** One sentence for each failed request. */
  problems: string[];
}

export async function accountLimits(): Promise<AccountLimits> {
  const [concurrency, mailQuota] = await Promise.allSettled([
    getConcurrencyLimit(),
    getMailQuota(),
  ]);
  return {
    concurrency: concurrency.status === "fulfilled" ? concurrency.value : undefined,
    mailQuota: mailQuota.status === "fulfilled" ? mailQuota.value : undefined,
    problems:
      concurrency.status === "rejected"
        ? [
            "The concurrency limit of this account could not be read from Lambda " +
              `(${concurrency.reason.message}). The deployment assumes 1,000.`,
          ]
        : [],
  };
}

/** Source: Lambda API, GetAccountSettings. */
async function getConcurrencyLimit(): Promise<number> {
  const { AccountLimit } = await get<{ AccountLimit: { ConcurrentExecutions: number } }>(
    "lambda",
    "/2016-08-19/account-settings",
  );
  return AccountLimit.ConcurrentExecutions;
}

/** Source: SES API v2, GetAccount. */
async function getMailQuota(): Promise<{ sandbox: boolean }> {
  const { ProductionAccessEnabled } = await get<{ ProductionAccessEnabled: boolean }>(
    "email",
    "/v2/email/account",
  );
  return { sandbox: !ProductionAccessEnabled };
}

/** Sends a signed GET to an AWS service. Throws unless the response is 200 within 10 seconds. */
async function get<Body>(service: "lambda" | "email", path: string): Promise<Body> {
  // Any client of the SDK resolves the operator's region and credentials.
  const { region: regionOf, credentials, sha256 } = new SQSClient({}).config;
  const region = await regionOf();
  const endpoint =
    service === "lambda" ? process.env.AWS_ENDPOINT_URL_LAMBDA : process.env.AWS_ENDPOINT_URL_SESV2;
  const url = new URL(
    path,
    endpoint ?? process.env.AWS_ENDPOINT_URL ?? `https://${service}.${region}.amazonaws.com`,
  );
  // The signing name of SES is `ses`, although its host begins with `email`.
  const signer = new SignatureV4({
    service: service === "email" ? "ses" : service,
    region,
    credentials,
    sha256,
  });
  const { headers } = await signer.sign({
    method: "GET",
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port && { port: Number(url.port) }),
    path: url.pathname,
    headers: { host: url.host },
  });
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`${service} returned ${response.status} for ${path}`);
  return (await response.json()) as Body;
}
