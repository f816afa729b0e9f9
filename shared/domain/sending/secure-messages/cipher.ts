// Encrypts each message and each of its files with AES-256-GCM and a key of its own. KMS wraps the
// key for this organization and message. Format: length of the wrapped key (2 bytes), wrapped key,
// nonce (12), tag (16), ciphertext.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as encryption from "../../../adapters/kms/encryption.ts";
import { encryptionContext, type SecureMessageBody } from "./secure-message-item.ts";

const [lengthBytes, nonceBytes, tagBytes] = [2, 12, 16];

/** What a blob belongs to. `file`: the position of the file in the message. */
interface BlobPlace {
  orgId: number;
  id: number;
  file?: number;
}

export const encryptBody = (
  orgId: number,
  id: number,
  body: SecureMessageBody,
): Promise<Uint8Array> => encrypt({ orgId, id }, Buffer.from(JSON.stringify(body)));

/** Throws when the blob was encrypted for another message, or was altered. */
export async function decryptBody(
  orgId: number,
  id: number,
  blob: Uint8Array,
): Promise<SecureMessageBody> {
  return JSON.parse((await decrypt({ orgId, id }, blob)).toString("utf8")) as SecureMessageBody;
}

export async function encrypt(place: BlobPlace, bytes: Uint8Array): Promise<Uint8Array> {
  const { orgId, id } = place;
  const { key, wrapped: wrappedKey } = await encryption.generateDataKey(
    encryptionContext(orgId, id),
  );
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(additionalDataOf(place));
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  key.fill(0);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(wrappedKey.length);
  return Buffer.concat([length, wrappedKey, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Throws when the blob was encrypted for another place, or was altered. */
export async function decrypt(place: BlobPlace, blob: Uint8Array): Promise<Buffer> {
  const bytes = Buffer.from(blob);
  const [wrappedKey, nonce, tag, ciphertext] = splitBytes(bytes.subarray(lengthBytes), [
    bytes.readUInt16BE(0),
    nonceBytes,
    tagBytes,
  ]);
  const key = await encryption.decryptDataKey(wrappedKey, encryptionContext(place.orgId, place.id));
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
    .setAAD(additionalDataOf(place))
    .setAuthTag(tag);
  const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  key.fill(0);
  return plain;
}

const splitBytes = (bytes: Buffer, [a = 0, b = 0, c = 0]: number[]) =>
  [
    bytes.subarray(0, a),
    bytes.subarray(a, a + b),
    bytes.subarray(a + b, a + b + c),
    bytes.subarray(a + b + c),
  ] as const;

const additionalDataOf = ({ orgId, id, file }: BlobPlace): Buffer =>
  Buffer.from(file === undefined ? `${orgId}/${id}` : `${orgId}/${id}/${file}`);
