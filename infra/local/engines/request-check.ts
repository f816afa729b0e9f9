// Decides which requests the ports of the local engines accept. They stand in for AWS, so whoever
// can call them can read and write everything. They accept only what the service itself signs.
import { randomBytes } from "node:crypto";
import type { RequestSigner } from "@smithy/types";
import { systemTime } from "../../../shared/clock.ts";
import {
  computeSignature,
  hash,
  parseAmzDate,
  parseAuthorization,
  parsePresignedQuery,
  type SignedRequest,
  type SigV4Authorization,
  unsignedBody,
} from "../aws-signature.ts";
import { equalInConstantTime } from "../constant-time.ts";
import { findBrowserRefusal } from "../local-access.ts";

export interface EngineCredentials {
  accessKeyId: string;
  /** Random for each start. Signatures made with another key are refused. */
  secretAccessKey: string;
}

export const createCredentials = (accessKeyId: string = "local"): EngineCredentials => ({
  accessKeyId,
  secretAccessKey: randomBytes(20).toString("hex"),
});

/**
 * A header that only the holder of the credentials can send, the same for all requests. On this
 * machine it replaces their signatures, which take an eighth of the CPU time of a call. It has the
 * form that the engines read.
 */
const localAuthorization = (secretAccessKey: string): string =>
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/local/aws4_request, " +
  `SignedHeaders=host, Signature=${hash(`requests of ${secretAccessKey}`)}`;

export const createLocalSigner = ({ secretAccessKey }: EngineCredentials): RequestSigner => {
  const headers = {
    authorization: localAuthorization(secretAccessKey),
    "x-amz-date": "20260101T000000Z",
  };
  return {
    sign: async (request) => {
      Object.assign(request.headers, headers);
      return request;
    },
  };
};

export interface RequestHead {
  method: string;
  /** The target of the request line. */
  target: string;
  headers: SignedRequest["headers"];
}

export interface AcceptedRequests {
  /** The host and port that requests must name, so that DNS rebinding is refused. */
  host: string;
  secretAccessKey: string;
}

/**
 * Returns why a request is refused, or undefined. The hash of a body is taken from its header
 * without reading the body, because only the service can sign it.
 */
export function findRefusal(
  { method, target, headers }: RequestHead,
  { host, secretAccessKey }: AcceptedRequests,
): string | undefined {
  const refusal = findBrowserRefusal(headers, host);
  if (refusal) return refusal;
  if (isLocal(headers.authorization, secretAccessKey)) return undefined;
  const [path = "", query = ""] = target.split(/\?(.*)/s, 2);
  const request = { method, path, query, headers };
  const header = parseAuthorization(String(headers.authorization ?? ""));
  const isValid = header
    ? isSignedByHeader(request, header, secretAccessKey)
    : isPresigned(request, secretAccessKey);
  return isValid ? undefined : "The request is not signed with the credentials of this service";
}

const isLocal = (header: SignedRequest["headers"][string], secretAccessKey: string): boolean =>
  equalInConstantTime(String(header ?? ""), localAuthorization(secretAccessKey));

function isSignedByHeader(
  request: SignedRequest,
  authorization: SigV4Authorization,
  secretAccessKey: string,
): boolean {
  const { "x-amz-date": at, "x-amz-content-sha256": bodyHash } = request.headers;
  if (typeof at !== "string" || typeof bodyHash !== "string") return false;
  return hasSignature(request, authorization, { at, bodyHash, secretAccessKey });
}

function isPresigned(request: SignedRequest, secretAccessKey: string): boolean {
  const authorization = parsePresignedQuery(request.query);
  if (!authorization) return false;
  const values = new URLSearchParams(request.query);
  const at = values.get("X-Amz-Date") ?? "";
  return (
    hasSignature(request, authorization, { at, bodyHash: unsignedBody, secretAccessKey }) &&
    systemTime().getTime() < parseAmzDate(at) + Number(values.get("X-Amz-Expires")) * 1000
  );
}

const hasSignature = (
  request: SignedRequest,
  authorization: SigV4Authorization,
  signing: Parameters<typeof computeSignature>[2],
): boolean =>
  equalInConstantTime(authorization.signature, computeSignature(request, authorization, signing));

/** The response to a refused request, in the JSON protocol of AWS. */
export const refusalBody = (message: string): string =>
  JSON.stringify({ __type: "AccessDeniedException", message });
