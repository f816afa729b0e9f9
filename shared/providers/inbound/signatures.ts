// How a call's proof is compared: in a time that tells nothing, and never true where there is nothing to compare.
import { createHash, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import type { Notice } from "./inbound.ts";

/** Whether both texts are the same; an empty or absent one is the same as none. */
export const same = (given: string | undefined, expected: string): boolean =>
  Boolean(given) && Boolean(expected) && timingSafeEqual(digest(given!), digest(expected));

/** For providers that do not sign: `secret=` of the URL is the config's. */
export const secretInUrl = ({ querySecret }: Notice, secret: string): boolean => same(querySecret, secret);

/** The bytes; undefined unless it is base64 as any encoder writes it, so that one signature has one spelling. */
export function decoded(base64: string | undefined): Buffer | undefined {
  const bytes = Buffer.from(base64 ?? "", "base64");
  return bytes.length > 0 && bytes.toString("base64") === base64 ? bytes : undefined;
}

/** Whether the key's owner signed the data. False, not an error, for a signature or key that makes no sense. */
export function verified(algorithm: "sha1" | "sha256", data: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(algorithm, data, key, signature);
  } catch {
    return false;
  }
}

const digest = (value: string): Buffer => createHash("sha256").update(value).digest();
