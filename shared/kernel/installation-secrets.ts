// Secrets of the whole installation. The first process that needs a secret creates it; it never
// changes.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { get, put, transact } from "../adapters/dynamodb/table.ts";
import * as encryption from "../adapters/kms/encryption.ts";
import { keys } from "../keys.ts";

const cache = new Map<string, Buffer>();

/**
 * 64 random bytes that encrypt the cursors of lists. They are stored in plain text, so that
 * functions with lists need no KMS permission. That is safe: a reader of the table needs no cursor,
 * and a cursor only gives a position in a list that its holder may read.
 */
export const cursorKey = (): Promise<Buffer> => getPlainSecret("cursors");

/**
 * 64 random bytes that sign the address of a client in requests of the service to itself. Stored in
 * plain text for the same reason: the holder of an API key could only choose an address in the log.
 */
export const forwardingKey = (): Promise<Buffer> => getPlainSecret("forwarded-client");

async function getPlainSecret(name: string): Promise<Buffer> {
  const cached = cache.get(name);
  if (cached) return cached;
  const itemKey = keys.installationSecret(name);
  const find = () => get<{ bytes: Uint8Array }>(itemKey);
  let item = await find();
  if (!item) {
    await transact(put(itemKey, { bytes: randomBytes(64) }, { ifAbsent: true }));
    // Another process may have stored its own bytes first.
    item = await find();
  }
  const key = Buffer.from(item!.bytes);
  cache.set(name, key);
  return key;
}

/** 32 random bytes for one purpose, encrypted with the KMS key. */
export async function getInstallationSecret(purpose: string): Promise<Buffer> {
  const cached = cache.get(purpose);
  if (cached) return cached;
  const itemKey = keys.installationSecret(purpose);
  const context = { purpose };
  let item = await get<{ sealed: string }>(itemKey);
  if (!item) {
    const sealed = await encryption.encrypt(randomBytes(32).toString("base64"), context);
    await transact(put(itemKey, { sealed }, { ifAbsent: true }));
    // Another process may have stored its own secret first.
    item = (await get<{ sealed: string }>(itemKey))!;
  }
  const secret = Buffer.from(await encryption.decrypt(item.sealed, context), "base64");
  cache.set(purpose, secret);
  return secret;
}

/**
 * The prefix of every idempotency key for providers. Send ids start at the same number in every
 * installation, and two installations may share one provider account. The prefix keeps their keys
 * apart.
 */
export async function idempotencyPrefix(): Promise<string> {
  const secret = await getInstallationSecret("idempotency-prefix");
  return `pm-${secret.toString("base64url").slice(0, 16)}`;
}

/**
 * A keyed hash of 32 bytes for short codes that people type. A plain hash could be guessed by
 * anyone who can read the table; this one also needs the secret.
 */
export async function keyedHash(...content: (string | number)[]): Promise<Buffer> {
  return createHmac("sha256", await getInstallationSecret("codes"))
    .update(JSON.stringify(content))
    .digest();
}

/** Compares two texts in constant time. */
export function constantTimeEquals(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
