// Verifies AWS Signature Version 4, as SES does (docs.aws.amazon.com, "Create a signed AWS API
// request").
import { createHash, createHmac } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { equalInConstantTime } from "./accounts.ts";
import type { SandboxRequest } from "./types.ts";

export interface SigV4Authorization {
  accessKeyId: string;
  scope: [date: string, region: string, service: string];
  signedHeaders: string[];
  signature: string;
}

// The fields may be separated with or without a space.
const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/;
const credentialPattern = /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/;

export function parseAuthorization(header = ""): SigV4Authorization | undefined {
  const [, credential = "", signedHeaders, signature] = authorizationPattern.exec(header) ?? [];
  const [, accessKeyId, date, region, service] = credentialPattern.exec(credential) ?? [];
  if (!accessKeyId) return undefined;
  return {
    accessKeyId,
    scope: [date!, region!, service!],
    signedHeaders: signedHeaders!.split(";"),
    signature: signature!,
  };
}

/**
 * Returns the error of an invalid signature. The signed host can be the sandbox or the real host of
 * the region.
 */
export function findSignatureError(
  request: SandboxRequest,
  auth: SigV4Authorization,
  secret: string,
): string | undefined {
  const [date, region, service] = auth.scope;
  const at = request.headers["x-amz-date"] ?? "";
  if (service !== "ses") return `Credential should be scoped to correct service: 'ses'.`;
  if (!at.startsWith(date) || Math.abs(clock.now().getTime() - parseAmzDate(at)) > 900_000)
    return `Signature expired: ${at} is now earlier or later than allowed.`;
  if (!["host", "x-amz-date"].every((name) => auth.signedHeaders.includes(name)))
    return "'Host' and 'X-Amz-Date' must be signed headers.";
  const hosts = [request.headers.host ?? "", `email.${region}.amazonaws.com`];
  const isValid = hosts.some((host) => {
    const signedRequest = { ...request, headers: { ...request.headers, host } };
    return equalInConstantTime(auth.signature, computeSignature(signedRequest, auth, secret));
  });
  return isValid
    ? undefined
    : "The request signature we calculated does not match the signature you provided. " +
        "Check your AWS Secret Access Key and signing method. " +
        "Consult the service documentation for details.";
}

function computeSignature(
  { method, path, query, headers, body }: SandboxRequest,
  auth: SigV4Authorization,
  secret: string,
): string {
  const lines = auth.signedHeaders.map(
    (name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}\n`,
  );
  const canonical = [
    method,
    path,
    query.split("&").sort().join("&"),
    lines.join(""),
    auth.signedHeaders.join(";"),
    hash(body),
  ].join("\n");
  const scope = [...auth.scope, "aws4_request"];
  const key = scope.reduce<Buffer | string>((chain, part) => hmac(chain, part), `AWS4${secret}`);
  return hmac(
    key,
    ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope.join("/"), hash(canonical)].join("\n"),
  ).toString("hex");
}

const hash = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) =>
  createHmac("sha256", key).update(data).digest();
const parseAmzDate = (amzDate: string) =>
  Date.parse(amzDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
