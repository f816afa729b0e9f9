// AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"), as the receiver
// of a request computes it.
import { createHash, createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { createLruCache } from "../../shared/kernel/lru-cache.ts";

export interface SignedRequest {
  method: string;
  /** As in the request line. */
  path: string;
  /** As in the request line, without the question mark. */
  query: string;
  /** The names are in lower case. */
  headers: Record<string, string | string[] | undefined>;
}

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

/** Reads the header `Authorization`. */
export function parseAuthorization(header = ""): SigV4Authorization | undefined {
  const [, credential = "", signedHeaders = "", signature = ""] =
    authorizationPattern.exec(header) ?? [];
  return createAuthorization(credential, signedHeaders, signature);
}

/** Reads the query string of a presigned URL. */
export function parsePresignedQuery(query: string): SigV4Authorization | undefined {
  const values = new URLSearchParams(query);
  const read = (name: string) => values.get(`X-Amz-${name}`) ?? "";
  if (read("Algorithm") !== "AWS4-HMAC-SHA256") return undefined;
  return createAuthorization(read("Credential"), read("SignedHeaders"), read("Signature"));
}

function createAuthorization(
  credential: string,
  signedHeaders: string,
  signature: string,
): SigV4Authorization | undefined {
  const [, accessKeyId, date, region, service] = credentialPattern.exec(credential) ?? [];
  if (!accessKeyId) return undefined;
  return {
    accessKeyId,
    scope: [date!, region!, service!],
    signedHeaders: signedHeaders.split(";"),
    signature,
  };
}

interface SigningInput {
  /** As in the header `X-Amz-Date`. */
  at: string;
  /** The hash of the body, or `unsignedBody`. */
  bodyHash: string;
  secretAccessKey: string;
}

export function computeSignature(
  request: SignedRequest,
  { scope, signedHeaders }: Pick<SigV4Authorization, "scope" | "signedHeaders">,
  { at, bodyHash, secretAccessKey }: SigningInput,
): string {
  const lines = signedHeaders.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? "")
        .trim()
        .replace(/ +/g, " ")}\n`,
  );
  const canonical = [
    request.method,
    request.path,
    canonicalQuery(request.query),
    lines.join(""),
    signedHeaders.join(";"),
    bodyHash,
  ].join("\n");
  const fullScope = [...scope, "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", at, fullScope.join("/"), hash(canonical)].join("\n");
  return hmac(signingKey(secretAccessKey, fullScope), toSign).toString("hex");
}

/** The request that a proxy passes on to `host`, signed for it. The hash of the body stays. */
export function signForHost(
  given: SignedRequest,
  host: string,
  secretAccessKey: string,
): SignedRequest {
  const request = { ...given, headers: { ...given.headers, host } };
  const header = String(given.headers.authorization ?? "");
  const authorization = parseAuthorization(header) ?? parsePresignedQuery(given.query);
  if (!authorization) return request;
  const values = new URLSearchParams(given.query);
  const signature = computeSignature(request, authorization, {
    at: String(given.headers["x-amz-date"] ?? values.get("X-Amz-Date")),
    bodyHash: String(given.headers["x-amz-content-sha256"] ?? unsignedBody),
    secretAccessKey,
  });
  const replace = (text: string) => text.replace(authorization.signature, signature);
  if (!header) return { ...request, query: replace(request.query) };
  return { ...request, headers: { ...request.headers, authorization: replace(header) } };
}

/** In place of the hash of the body, in presigned URLs. */
export const unsignedBody = "UNSIGNED-PAYLOAD";

/** The parameters sorted by name, without the signature itself. */
function canonicalQuery(query: string): string {
  if (!query) return "";
  return query
    .split("&")
    .map((pair) => (pair.includes("=") ? pair : `${pair}=`))
    .filter((pair) => !pair.startsWith("X-Amz-Signature="))
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair] as const)
    .sort(([a, first], [b, second]) => compare(a, b) || compare(first, second))
    .map(([, pair]) => pair)
    .join("&");
}

const compare = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

// A key is valid for a day. Deriving it takes seven times as long as the rest of the check.
const signingKeys = createLruCache<KeyObject>(50);

function signingKey(secretAccessKey: string, scope: string[]): KeyObject {
  const name = [secretAccessKey, ...scope].join("\n");
  const known = signingKeys.get(name);
  if (known) return known;
  const bytes = scope.reduce<Buffer | string>(
    (key, part) => hmac(key, part),
    `AWS4${secretAccessKey}`,
  );
  const key = createSecretKey(bytes as Buffer);
  signingKeys.set(name, key, 1);
  return key;
}

/** Milliseconds since 1970 of a time such as 20261123T104502Z. */
export const parseAmzDate = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

export const hash = (data: string | Buffer): string =>
  createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer | KeyObject, data: string) =>
  createHmac("sha256", key).update(data).digest();
