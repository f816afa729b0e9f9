// Compares secrets and signatures in constant time. An absent or empty value never matches.
import { createHash, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import type { InboundRequest } from "./inbound-adapter.ts";

/** Whether both texts are equal and not empty. */
export const equalsSecret = (actual: string | undefined, expected: string): boolean =>
  Boolean(actual) && Boolean(expected) && timingSafeEqual(digest(actual!), digest(expected));

/** Whether the URL contains the config's secret, for providers that do not sign. */
export const hasUrlSecret = ({ querySecret }: InboundRequest, secret: string): boolean =>
  equalsSecret(querySecret, secret);

/**
 * Returns undefined for base64 that is not canonical, so that a signature has only one spelling.
 */
export function decodeBase64(base64: string | undefined): Buffer | undefined {
  const bytes = Buffer.from(base64 ?? "", "base64");
  return bytes.length > 0 && bytes.toString("base64") === base64 ? bytes : undefined;
}

/** Verifies a signature. Returns false for a malformed signature or key. */
export function verifySignature(
  algorithm: "sha1" | "sha256",
  { data, signature }: { data: Buffer; signature: Buffer },
  key: KeyObject,
): boolean {
  try {
    return verify(algorithm, data, key, signature);
  } catch {
    return false;
  }
}

const digest = (value: string): Buffer => createHash("sha256").update(value).digest();
