// KMS and Secrets Manager for one machine: the operations that the vault door and its neighbours use, in AWS's JSON protocol.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface Settings {
  /** Where the key is kept; without it the key lives as long as the process. */
  keyFile: string | undefined;
  /** What GetSecretValue answers, by name. */
  secrets: Record<string, string>;
}

interface Key {
  material: Buffer;
  enabled: boolean;
}

type Input = Record<string, unknown>;
type Operation = (input: Input, key: Key) => Record<string, unknown>;

export const keyId = "11111111-2222-4333-8444-555555555555";
const arn = `arn:aws:kms:us-east-1:000000000000:key/${keyId}`;

export async function startKms({ keyFile, secrets }: Settings): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const key = openKey(keyFile);
  const known = { ...operations, "secretsmanager.GetSecretValue": secretValue(secrets) };
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, known, key).catch((error: unknown) => refusal(error));
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function openKey(file: string | undefined): Key {
  if (file && existsSync(file)) return { material: Buffer.from(readFileSync(file, "utf8").trim(), "base64"), enabled: true };
  const material = randomBytes(32);
  if (file) writeFileSync(file, `${material.toString("base64")}\n`, { mode: 0o600 });
  return { material, enabled: true };
}

async function answer(request: IncomingMessage, known: Record<string, Operation>, key: Key) {
  const operation = known[String(request.headers["x-amz-target"])];
  if (!operation) throw new Refusal("UnknownOperationException", `Not known here: ${request.headers["x-amz-target"]}`);
  const input = JSON.parse((await buffer(request)).toString() || "{}") as Input;
  return { status: 200, body: operation(input, key) };
}

class Refusal extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

const refusal = (error: unknown) =>
  error instanceof Refusal
    ? { status: 400, body: { __type: error.type, message: error.message } }
    : { status: 500, body: { __type: "KMSInternalException", message: String(error) } };

const operations: Record<string, Operation> = {
  "TrentService.Encrypt": (input, key) => {
    usable(input, key);
    return { KeyId: arn, CiphertextBlob: seal(key, plaintextOf(input), contextOf(input)), EncryptionAlgorithm: "SYMMETRIC_DEFAULT" };
  },
  "TrentService.Decrypt": (input, key) => {
    usable(input, key);
    const plaintext = open(key, Buffer.from(String(input.CiphertextBlob ?? ""), "base64"), contextOf(input));
    return { KeyId: arn, Plaintext: plaintext.toString("base64"), EncryptionAlgorithm: "SYMMETRIC_DEFAULT" };
  },
  "TrentService.GenerateDataKey": (input, key) => {
    usable(input, key);
    const plaintext = randomBytes(Number(input.NumberOfBytes ?? (input.KeySpec === "AES_128" ? 16 : 32)));
    return { KeyId: arn, Plaintext: plaintext.toString("base64"), CiphertextBlob: seal(key, plaintext, contextOf(input)) };
  },
  "TrentService.DescribeKey": (input, key) => {
    named(input);
    return { KeyMetadata: { KeyId: keyId, Arn: arn, Enabled: key.enabled, KeyState: key.enabled ? "Enabled" : "Disabled" } };
  },
  "TrentService.DisableKey": (input, key) => {
    named(input);
    key.enabled = false;
    return {};
  },
  "TrentService.EnableKey": (input, key) => {
    named(input);
    key.enabled = true;
    return {};
  },
};

const secretValue =
  (secrets: Record<string, string>): Operation =>
  ({ SecretId }) => {
    const text = secrets[String(SecretId)];
    if (text === undefined) throw new Refusal("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
    return { ARN: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${SecretId}`, Name: SecretId, SecretString: text };
  };

function named({ KeyId = keyId }: Input) {
  if (KeyId !== keyId && KeyId !== arn) throw new Refusal("NotFoundException", `Key '${KeyId}' does not exist`);
}

function usable(input: Input, { enabled }: Key) {
  named(input);
  if (!enabled) throw new Refusal("DisabledException", `${arn} is disabled.`);
}

const maxPlaintextBytes = 4096;

function plaintextOf({ Plaintext = "" }: Input): Buffer {
  const plaintext = Buffer.from(String(Plaintext), "base64");
  if (plaintext.length >= 1 && plaintext.length <= maxPlaintextBytes) return plaintext;
  throw new Refusal("ValidationException", `1 validation error detected: 'plaintext' must be of 1 to ${maxPlaintextBytes} bytes`);
}

/** What a ciphertext is bound to: the same pairs in any order. */
const contextOf = ({ EncryptionContext = {} }: Input): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(EncryptionContext as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))));

// A blob is nonce (12 bytes), tag (16), ciphertext.
function seal({ material }: Key, plaintext: Buffer, context: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", material, nonce).setAAD(context);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64");
}

function open({ material }: Key, blob: Buffer, context: Buffer): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", material, blob.subarray(0, 12), { authTagLength: 16 });
    decipher.setAAD(context).setAuthTag(blob.subarray(12, 28));
    return Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]);
  } catch {
    throw new Refusal("InvalidCiphertextException", "The ciphertext cannot be decrypted with this key and encryption context");
  }
}
