// Codes that people type are short: their plain hashes could be guessed by whoever read the table. Keyed with a secret of the
// installation, which is sealed under KMS, they cannot.
import { createHmac, timingSafeEqual } from "node:crypto";
import { secretFor } from "../installation-secrets.ts";

/** 32 bytes; other content, another hash. */
export async function hashOf(...content: (string | number)[]): Promise<Buffer> {
  return createHmac("sha256", await secretFor("codes"))
    .update(JSON.stringify(content))
    .digest();
}

/** In constant time, whatever was given. */
export function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
