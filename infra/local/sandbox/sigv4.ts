// Verifies AWS Signature Version 4, as SES does.
import * as clock from "../../../shared/clock.ts";
import { computeSignature, hash, parseAmzDate, type SigV4Authorization } from "../aws-signature.ts";
import { equalInConstantTime } from "../constant-time.ts";
import type { SandboxRequest } from "./types.ts";

/**
 * Returns the error of an invalid signature. The signed host can be the sandbox or the real host of
 * the region.
 */
export function findSignatureError(
  request: SandboxRequest,
  auth: SigV4Authorization,
  secretAccessKey: string,
): string | undefined {
  const [date, region, service] = auth.scope;
  const at = request.headers["x-amz-date"] ?? "";
  if (service !== "ses" && service !== "sns")
    return `Credential should be scoped to correct service: 'ses'.`;
  if (!at.startsWith(date) || Math.abs(clock.now().getTime() - parseAmzDate(at)) > 900_000)
    return `Signature expired: ${at} is now earlier or later than allowed.`;
  if (!["host", "x-amz-date"].every((name) => auth.signedHeaders.includes(name)))
    return "'Host' and 'X-Amz-Date' must be signed headers.";
  const realHost = `${service === "ses" ? "email" : service}.${region}.amazonaws.com`;
  const hosts = [request.headers.host ?? "", realHost];
  const signing = { at, bodyHash: hash(request.body), secretAccessKey };
  // All services but S3 sign the path encoded once more.
  const path = request.path.split("/").map(encodeURIComponent).join("/");
  const isValid = hosts.some((host) => {
    const signedRequest = { ...request, path, headers: { ...request.headers, host } };
    return equalInConstantTime(auth.signature, computeSignature(signedRequest, auth, signing));
  });
  return isValid
    ? undefined
    : "The request signature we calculated does not match the signature you provided. " +
        "Check your AWS Secret Access Key and signing method. " +
        "Consult the service documentation for details.";
}
