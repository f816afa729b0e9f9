// The only file that speaks KMS and Secrets Manager.
import { createHash } from "node:crypto";
import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { now } from "../clock.ts";
import { config } from "../config.ts";

let keys: KMSClient | undefined;
const kms = () => {
  keys ??= new KMSClient({});
  return keys;
};

/** What a secret belongs to: it can only be opened by naming the same. */
export type Context = Record<string, string>;

// Decrypting costs a call and 3 $ per million: what was opened is kept for a few minutes.
const keepMs = 5 * 60_000;
const opened = new Map<string, { text: string; until: number }>();

/** Encrypts up to 4,096 bytes under our KMS key; the answer is base64. */
export async function seal(text: string, context: Context): Promise<string> {
  const { CiphertextBlob } = await kms().send(
    new EncryptCommand({ KeyId: config.kmsKey, Plaintext: Buffer.from(text), EncryptionContext: context }),
  );
  return Buffer.from(CiphertextBlob!).toString("base64");
}

export async function open(sealed: string, context: Context): Promise<string> {
  const name = createHash("sha256")
    .update(JSON.stringify([sealed, context]))
    .digest("base64");
  const known = opened.get(name);
  if (known && known.until > now().getTime()) return known.text;
  const { Plaintext } = await kms().send(
    new DecryptCommand({ KeyId: config.kmsKey, CiphertextBlob: Buffer.from(sealed, "base64"), EncryptionContext: context }),
  );
  const text = Buffer.from(Plaintext!).toString("utf8");
  if (opened.size >= 1000) opened.clear();
  opened.set(name, { text, until: now().getTime() + keepMs });
  return text;
}

/** A key for one thing (AES-256), and the same key wrapped under ours, to be kept beside what it locks. */
export async function dataKey(context: Context): Promise<{ key: Buffer; wrapped: Buffer }> {
  const { Plaintext, CiphertextBlob } = await kms().send(
    new GenerateDataKeyCommand({ KeyId: config.kmsKey, KeySpec: "AES_256", EncryptionContext: context }),
  );
  return { key: Buffer.from(Plaintext!), wrapped: Buffer.from(CiphertextBlob!) };
}

/** Never kept: whoever withdraws a thing wants it gone. */
export async function unwrap(wrapped: Uint8Array, context: Context): Promise<Buffer> {
  const { Plaintext } = await kms().send(new DecryptCommand({ KeyId: config.kmsKey, CiphertextBlob: wrapped, EncryptionContext: context }));
  return Buffer.from(Plaintext!);
}

let secrets: SecretsManagerClient | undefined;

/** The text of a secret that the operator keeps under this name. */
export async function secret(name: string): Promise<string> {
  secrets ??= new SecretsManagerClient({});
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: name }));
  if (!SecretString) throw new Error(`The secret ${name} has no text`);
  return SecretString;
}
