// KMS and Secrets Manager.
import { createHash } from "node:crypto";
import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand } from "@aws-sdk/client-kms";
import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { kms, secretsManager } from "./client.ts";

/** Names the owner of a ciphertext. Decryption needs the same context. */
export type EncryptionContext = Record<string, string>;

// A call takes time and costs 3 $ per million, so decrypted texts are cached for a few minutes.
const cacheMs = 5 * 60_000;
const decryptedCache = new Map<string, { text: string; expires: number }>();

/** Encrypts up to 4,096 bytes with our KMS key. Returns base64. */
export async function encrypt(text: string, context: EncryptionContext): Promise<string> {
  const { CiphertextBlob } = await kms().send(
    new EncryptCommand({
      KeyId: config.kmsKey,
      Plaintext: Buffer.from(text),
      EncryptionContext: context,
    }),
  );
  return Buffer.from(CiphertextBlob!).toString("base64");
}

export async function decrypt(ciphertext: string, context: EncryptionContext): Promise<string> {
  const cacheKey = createHash("sha256")
    .update(JSON.stringify([ciphertext, context]))
    .digest("base64");
  const cached = decryptedCache.get(cacheKey);
  if (cached && cached.expires > now().getTime()) return cached.text;
  const { Plaintext } = await kms().send(
    new DecryptCommand({
      KeyId: config.kmsKey,
      CiphertextBlob: Buffer.from(ciphertext, "base64"),
      EncryptionContext: context,
    }),
  );
  const text = Buffer.from(Plaintext!).toString("utf8");
  if (decryptedCache.size >= 1000) decryptedCache.clear();
  decryptedCache.set(cacheKey, { text, expires: now().getTime() + cacheMs });
  return text;
}

/**
 * Creates an AES-256 key and returns it in plain text and encrypted with our KMS key, for storage
 * with the data.
 */
export async function generateDataKey(
  context: EncryptionContext,
): Promise<{ key: Buffer; wrapped: Buffer }> {
  const { Plaintext, CiphertextBlob } = await kms().send(
    new GenerateDataKeyCommand({
      KeyId: config.kmsKey,
      KeySpec: "AES_256",
      EncryptionContext: context,
    }),
  );
  return {
    key: Buffer.from(Plaintext!),
    wrapped: Buffer.from(CiphertextBlob!),
  };
}

/** Never cached: after a secure message is revoked, its key must not stay in memory. */
export async function decryptDataKey(
  encryptedKey: Uint8Array,
  context: EncryptionContext,
): Promise<Buffer> {
  const { Plaintext } = await kms().send(
    new DecryptCommand({
      KeyId: config.kmsKey,
      CiphertextBlob: encryptedKey,
      EncryptionContext: context,
    }),
  );
  return Buffer.from(Plaintext!);
}

/** The text of a secret in Secrets Manager. */
export async function getSecret(name: string): Promise<string> {
  const { SecretString } = await secretsManager().send(
    new GetSecretValueCommand({ SecretId: name }),
  );
  if (!SecretString) throw new Error(`The secret ${name} has no text`);
  return SecretString;
}
