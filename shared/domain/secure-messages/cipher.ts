// A message locked with AES-256-GCM under a key of its own. The key lies beside it, wrapped by KMS for this organization and message:
// length of the wrapped key (2 bytes), the wrapped key, nonce (12), tag (16), ciphertext.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as vault from "../../doors/vault.ts";
import { contextOf, type Said } from "./item.ts";

const [lengthBytes, nonceBytes, tagBytes] = [2, 12, 16];

export async function locked(orgId: number, id: number, said: Said): Promise<Uint8Array> {
  const { key, wrapped } = await vault.dataKey(contextOf(orgId, id));
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(placeOf(orgId, id));
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(said), "utf8"), cipher.final()]);
  key.fill(0);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(wrapped.length);
  return Buffer.concat([length, wrapped, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Throws when it was locked for another message, or touched. */
export async function unlocked(orgId: number, id: number, blob: Uint8Array): Promise<Said> {
  const bytes = Buffer.from(blob);
  const [wrapped, nonce, tag, ciphertext] = parted(bytes.subarray(lengthBytes), [bytes.readUInt16BE(0), nonceBytes, tagBytes]);
  const key = await vault.unwrap(wrapped, contextOf(orgId, id));
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(placeOf(orgId, id)).setAuthTag(tag);
  const json = Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
  key.fill(0);
  return JSON.parse(json) as Said;
}

/** Pieces of these lengths, and the rest. */
const parted = (bytes: Buffer, [a = 0, b = 0, c = 0]: number[]) =>
  [bytes.subarray(0, a), bytes.subarray(a, a + b), bytes.subarray(a + b, a + b + c), bytes.subarray(a + b + c)] as const;

const placeOf = (orgId: number, id: number): Buffer => Buffer.from(`${orgId}/${id}`);
