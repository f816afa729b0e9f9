// KMS and Secrets Manager: the operations that the service uses, in AWS's JSON protocol.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type EngineCredentials, findRefusal } from "./request-check.ts";

interface Settings {
  /** The file of the key. Without it, the key lives as long as the process. */
  keyFile: string | undefined;
  /** The values of GetSecretValue, by name. */
  secrets: Record<string, string>;
  /** Requests must be signed with these. */
  credentials: EngineCredentials;
}

interface KmsKey {
  material: Buffer;
  enabled: boolean;
}

type Input = Record<string, unknown>;
type Operation = (input: Input, key: KmsKey) => Record<string, unknown>;

export const localKmsKeyId = "11111111-2222-4333-8444-555555555555";
const arn = `arn:aws:kms:us-east-1:000000000000:key/${localKmsKeyId}`;

export async function startKmsAndSecrets({
  keyFile,
  secrets,
  credentials,
}: Settings): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const key = loadKey(keyFile);
  const known = operationsWith(secrets);
  let host = "";
  const { secretAccessKey } = credentials;
  const answer = async (request: IncomingMessage) => {
    const { method = "", url: target = "", headers } = request;
    const refusal = findRefusal({ method, target, headers }, { host, secretAccessKey });
    if (refusal) throw new KmsError("AccessDeniedException", refusal, 403);
    return handleRequest(request, known, key);
  };
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request).catch(errorReply);
    response
      .writeHead(status, { "content-type": "application/x-amz-json-1.1" })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint: `http://${host}`, stop };
}

const operationsWith = (secrets: Record<string, string>): Record<string, Operation> => ({
  ...operations,
  "secretsmanager.GetSecretValue": getSecretValue(secrets),
});

/** The operations without a server, by target such as `TrentService.Encrypt`. */
export function createOperations(
  material: Buffer,
  secrets: Record<string, string>,
): (target: string, input: object) => object {
  const key = { material, enabled: true };
  const known = operationsWith(secrets);
  return (target, input) => known[target]!(input as Input, key);
}

function loadKey(file: string | undefined): KmsKey {
  if (file && existsSync(file))
    return { material: Buffer.from(readFileSync(file, "utf8").trim(), "base64"), enabled: true };
  const material = randomBytes(32);
  if (file) writeFileSync(file, `${material.toString("base64")}\n`, { mode: 0o600 });
  return { material, enabled: true };
}

async function handleRequest(
  request: IncomingMessage,
  operationsByTarget: Record<string, Operation>,
  key: KmsKey,
) {
  const operation = operationsByTarget[String(request.headers["x-amz-target"])];
  if (!operation)
    throw new KmsError(
      "UnknownOperationException",
      `Unknown operation: ${request.headers["x-amz-target"]}`,
    );
  const input = JSON.parse((await buffer(request)).toString() || "{}") as Input;
  return { status: 200, body: operation(input, key) };
}

class KmsError extends Error {
  readonly type: string;
  readonly status: number;
  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

const errorReply = (error: unknown) =>
  error instanceof KmsError
    ? { status: error.status, body: { __type: error.type, message: error.message } }
    : { status: 500, body: { __type: "KMSInternalException", message: String(error) } };

const operations: Record<string, Operation> = {
  "TrentService.Encrypt": (input, key) => {
    checkKeyEnabled(input, key);
    return {
      KeyId: arn,
      CiphertextBlob: encrypt(key, readPlaintext(input), encodeContext(input)),
      EncryptionAlgorithm: "SYMMETRIC_DEFAULT",
    };
  },
  "TrentService.Decrypt": (input, key) => {
    checkKeyEnabled(input, key);
    const plaintext = decrypt(
      key,
      Buffer.from(String(input.CiphertextBlob ?? ""), "base64"),
      encodeContext(input),
    );
    return {
      KeyId: arn,
      Plaintext: plaintext.toString("base64"),
      EncryptionAlgorithm: "SYMMETRIC_DEFAULT",
    };
  },
  "TrentService.GenerateDataKey": (input, key) => {
    checkKeyEnabled(input, key);
    const plaintext = randomBytes(
      Number(input.NumberOfBytes ?? (input.KeySpec === "AES_128" ? 16 : 32)),
    );
    return {
      KeyId: arn,
      Plaintext: plaintext.toString("base64"),
      CiphertextBlob: encrypt(key, plaintext, encodeContext(input)),
    };
  },
  "TrentService.DescribeKey": (input, key) => {
    checkKeyId(input);
    return {
      KeyMetadata: {
        KeyId: localKmsKeyId,
        Arn: arn,
        Enabled: key.enabled,
        KeyState: key.enabled ? "Enabled" : "Disabled",
      },
    };
  },
  "TrentService.DisableKey": (input, key) => {
    checkKeyId(input);
    key.enabled = false;
    return {};
  },
  "TrentService.EnableKey": (input, key) => {
    checkKeyId(input);
    key.enabled = true;
    return {};
  },
};

const getSecretValue =
  (secrets: Record<string, string>): Operation =>
  ({ SecretId }) => {
    const text = secrets[String(SecretId)];
    if (text === undefined)
      throw new KmsError(
        "ResourceNotFoundException",
        "Secrets Manager can't find the specified secret.",
      );
    return {
      ARN: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${SecretId}`,
      Name: SecretId,
      SecretString: text,
    };
  };

function checkKeyId({ KeyId = localKmsKeyId }: Input) {
  if (KeyId !== localKmsKeyId && KeyId !== arn)
    throw new KmsError("NotFoundException", `Key '${KeyId}' does not exist`);
}

function checkKeyEnabled(input: Input, { enabled }: KmsKey) {
  checkKeyId(input);
  if (!enabled) throw new KmsError("DisabledException", `${arn} is disabled.`);
}

const maxPlaintextBytes = 4096;

function readPlaintext({ Plaintext = "" }: Input): Buffer {
  const plaintext = Buffer.from(String(Plaintext), "base64");
  if (plaintext.length >= 1 && plaintext.length <= maxPlaintextBytes) return plaintext;
  throw new KmsError(
    "ValidationException",
    `1 validation error detected: 'plaintext' must be of 1 to ${maxPlaintextBytes} bytes`,
  );
}

/** The encryption context, with its pairs sorted. */
const encodeContext = ({ EncryptionContext = {} }: Input): Buffer =>
  Buffer.from(
    JSON.stringify(
      Object.entries(EncryptionContext as Record<string, string>).sort(([a], [b]) =>
        a < b ? -1 : 1,
      ),
    ),
  );

// A blob holds the nonce (12 bytes), the tag (16 bytes) and the ciphertext.
function encrypt({ material }: KmsKey, plaintext: Buffer, context: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", material, nonce).setAAD(context);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64");
}

function decrypt({ material }: KmsKey, blob: Buffer, context: Buffer): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", material, blob.subarray(0, 12), {
      authTagLength: 16,
    });
    decipher.setAAD(context).setAuthTag(blob.subarray(12, 28));
    return Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]);
  } catch {
    throw new KmsError(
      "InvalidCiphertextException",
      "The ciphertext cannot be decrypted with this key and encryption context",
    );
  }
}
