// Signature Version 4 of AWS, for services whose requests have no query string. It takes 0.02 ms of
// CPU time where the SDK's signer takes 0.15 ms.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { createLruCache } from "../../kernel/lru-cache.ts";

export interface SigningKeys {
  accessKeyId: string;
  secretAccessKey: string;
  /** With temporary keys. */
  sessionToken?: string | undefined;
}

interface UnsignedRequest {
  method: "GET" | "POST";
  /** As in the request line. */
  path: string;
  /** With `host`. The names are in lower case. */
  headers: Record<string, string>;
  body: string;
}

interface SigningOptions {
  keys: SigningKeys;
  /** The name of the service in signatures, such as `dynamodb`. */
  service: string;
  region: string;
  at: Date;
}

/** Returns the headers of the signed request: those given, and those of the signature. */
export function signRequest(
  { method, path, headers, body }: UnsignedRequest,
  { keys, service, region, at }: SigningOptions,
): Record<string, string> {
  // As in 20261123T104502Z.
  const time = at.toISOString().replace(/[-:]|\.\d+/g, "");
  const bodyHash = hash(body);
  const signed: Record<string, string> = {
    ...headers,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
  };
  if (keys.sessionToken) signed["x-amz-security-token"] = keys.sessionToken;
  const names = Object.keys(signed).sort();
  const lines = names.map((name) => `${name}:${signed[name]!.trim().replace(/ +/g, " ")}\n`);
  const signedNames = names.join(";");
  const canonical = [method, encodePath(path), "", lines.join(""), signedNames, bodyHash];
  const scope = [time.slice(0, 8), region, service, "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), hash(canonical.join("\n"))];
  const signature = createHmac("sha256", signingKeyFor(keys, scope))
    .update(toSign.join("\n"))
    .digest("hex");
  return {
    ...signed,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope.join("/")}, ` +
      `SignedHeaders=${signedNames}, Signature=${signature}`,
  };
}

/** A path is encoded once more than in the request line. */
const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

// A key is valid for a day. Each SES account and each service has its own.
const signingKeys = createLruCache<KeyObject>(200);

/** Node.js parses a key that is given as bytes again for every use. */
function signingKeyFor({ secretAccessKey }: SigningKeys, scope: string[]): KeyObject {
  const name = [secretAccessKey, ...scope].join("\n");
  const known = signingKeys.get(name);
  if (known) return known;
  const bytes = scope.reduce<Buffer | string>(
    (key, part) => createHmac("sha256", key).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const key = createSecretKey(bytes as Buffer);
  signingKeys.set(name, key, 1);
  return key;
}
