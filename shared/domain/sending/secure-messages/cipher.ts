// Encrypts each message with AES-256-GCM and a key of its own. KMS wraps the key for this
// organization and message. Format: length of the wrapped key (2 bytes), wrapped key, nonce (12),
// tag (16), ciphertext.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as vault from "../../../adapters/kms/encryption.ts";
import { encryptionContext, type SecureMessageBody } from "./secure-message-item.ts";

const [lengthBytes, nonceBytes, tagBytes] = [2, 12, 16];

export async function encryptBody(
  orgId: number,
  id: number,
  body: SecureMessageBody,
): Promise<Uint8Array> {
  const { key, wrapped: wrappedKey } = await vault.generateDataKey(encryptionContext(orgId, id));
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(additionalDataOf(orgId, id));
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(body), "utf8"), cipher.final()]);
  key.fill(0);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(wrappedKey.length);
  return Buffer.concat([length, wrappedKey, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Throws when the blob was encrypted for another message, or was altered. */
export async function decryptBody(
  orgId: number,
  id: number,
  blob: Uint8Array,
): Promise<SecureMessageBody> {
  const bytes = Buffer.from(blob);
  const [wrappedKey, nonce, tag, ciphertext] = splitBytes(bytes.subarray(lengthBytes), [
    bytes.readUInt16BE(0),
    nonceBytes,
    tagBytes,
  ]);
  const key = await vault.decryptDataKey(wrappedKey, encryptionContext(orgId, id));
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
    .setAAD(additionalDataOf(orgId, id))
    .setAuthTag(tag);
  const json = Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
  key.fill(0);
  return JSON.parse(json) as SecureMessageBody;
}

const splitBytes = (bytes: Buffer, [a = 0, b = 0, c = 0]: number[]) =>
  [
    bytes.subarray(0, a),
    bytes.subarray(a, a + b),
    bytes.subarray(a + b, a + b + c),
    bytes.subarray(a + b + c),
  ] as const;

const additionalDataOf = (orgId: number, id: number): Buffer => Buffer.from(`${orgId}/${id}`);
