// Verifies AWS Signature Version 4, as SES does (docs.aws.amazon.com, "Create a signed AWS API request").
import { createHash, createHmac } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { same } from "./accounts.ts";
import type { Request } from "./contract.ts";

export interface Authorization {
  accessKeyId: string;
  scope: [date: string, region: string, service: string];
  signedHeaders: string[];
  signature: string;
}

export function authorization(header = ""): Authorization | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (!found) return undefined;
  const [, accessKeyId, date, region, service, signedHeaders, signature] = found as unknown as string[];
  return { accessKeyId: accessKeyId!, scope: [date!, region!, service!], signedHeaders: signedHeaders!.split(";"), signature: signature! };
}

/** What is wrong with the signature, or undefined. The host may be the real one of the region as well as the one that was called. */
export function signatureFault(request: Request, auth: Authorization, secret: string): string | undefined {
  const [date, region, service] = auth.scope;
  const at = request.headers["x-amz-date"] ?? "";
  if (service !== "ses") return `Credential should be scoped to correct service: 'ses'.`;
  if (!at.startsWith(date) || Math.abs(clock.now().getTime() - instant(at)) > 900_000)
    return `Signature expired: ${at} is now earlier or later than allowed.`;
  if (!["host", "x-amz-date"].every((name) => auth.signedHeaders.includes(name))) return "'Host' and 'X-Amz-Date' must be signed headers.";
  const hosts = [request.headers.host ?? "", `email.${region}.amazonaws.com`];
  if (hosts.some((host) => same(auth.signature, signatureOf(request, auth, secret, host, at)))) return undefined;
  return "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";
}

function signatureOf(
  { method, path, query, headers, body }: Request,
  auth: Authorization,
  secret: string,
  host: string,
  at: string,
): string {
  const lines = auth.signedHeaders.map(
    (name) => `${name}:${(name === "host" ? host : (headers[name] ?? "")).trim().replace(/ +/g, " ")}\n`,
  );
  const canonical = [method, path, query.split("&").sort().join("&"), lines.join(""), auth.signedHeaders.join(";"), hash(body)].join("\n");
  const scope = [...auth.scope, "aws4_request"];
  const key = scope.reduce<Buffer | string>((chain, part) => hmac(chain, part), `AWS4${secret}`);
  return hmac(key, ["AWS4-HMAC-SHA256", at, scope.join("/"), hash(canonical)].join("\n")).toString("hex");
}

const hash = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
const instant = (at: string) => Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
