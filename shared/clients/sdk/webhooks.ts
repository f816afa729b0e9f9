// Verifies the requests that webhook endpoints get.
import { WebhookSignatureError } from "./errors.ts";
import { webCrypto } from "./web-crypto.ts";

/** Headers of a request, as `Request`, Node and frameworks have them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Record<string, string | string[] | undefined>;

/** The secret of an endpoint, as the service shows it or as `whsec_...`. */
export type WebhookSecret = string | { secret: string; toleranceSeconds?: number };

/**
 * Returns the event of a webhook request. `payload` is the body as it arrived: parsing and printing
 * it again changes its bytes. Throws WebhookSignatureError if the request is not signed with the
 * secret, or if its signed time is more than `toleranceSeconds` (default 300) from now.
 *
 * The signed time is `webhook-timestamp`. A request that has only `X-Webhook-Signature` has no such
 * header; there it is the `timestamp` of the event, which is old if the delivery was retried.
 */
export async function verifyWebhook<Event extends { timestamp: string }>(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  webhookSecret: WebhookSecret,
): Promise<Event> {
  const { secret, toleranceSeconds = 300 } =
    typeof webhookSecret === "string" ? { secret: webhookSecret } : webhookSecret;
  const body = typeof payload === "string" ? encode(payload) : new Uint8Array(payload);
  const { signatures, prefix, timestamp } = readSignatures((name) => readHeader(headers, name));
  const isSigned = await createVerifier(secret, concatenate(encode(prefix), body));
  if (!(await Promise.all(signatures.map(isSigned))).includes(true))
    throw refused("The webhook request is not signed with this secret");
  const event: Event = JSON.parse(new TextDecoder().decode(body));
  const signedAt = timestamp === undefined ? Date.parse(event.timestamp) : Number(timestamp) * 1000;
  // False for NaN, too.
  if (!(Math.abs(Date.now() - signedAt) <= toleranceSeconds * 1000))
    throw refused("The signed time of the webhook request is too far from now");
  return event;
}

interface SignatureHeaders {
  signatures: Uint8Array<ArrayBuffer>[];
  /** What is signed before the body. */
  prefix: string;
  timestamp?: string | undefined;
}

/** Those of Standard Webhooks if the request has them, because they also sign the time. */
function readSignatures(header: (name: string) => string | undefined): SignatureHeaders {
  const standard = header("webhook-signature");
  if (standard === undefined) {
    const own = [header("x-webhook-signature"), header("x-webhook-signature-previous")];
    return { prefix: "", signatures: own.flatMap((hex) => (hex ? [decodeHex(hex)] : [])) };
  }
  const timestamp = header("webhook-timestamp") ?? "";
  return {
    prefix: `${header("webhook-id")}.${timestamp}.`,
    timestamp,
    signatures: standard
      .split(" ")
      .filter((signature) => signature.startsWith("v1,"))
      .map((signature) => decodeBase64(signature.slice(3))),
  };
}

async function createVerifier(secret: string, signed: Uint8Array<ArrayBuffer>) {
  const bytes = secret.startsWith("whsec_") ? decodeBase64(secret.slice(6)) : encode(secret);
  if (!bytes.length) throw new TypeError("The webhook secret is empty or not base64");
  const { subtle } = await webCrypto();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  // WebCrypto compares in constant time.
  return (signature: Uint8Array<ArrayBuffer>) => subtle.verify("HMAC", key, signature, signed);
}

const refused = (message: string) =>
  new WebhookSignatureError(message, { code: "signature_invalid" });

function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value[0] : (value as string | undefined);
}

const encode = (text: string) => new TextEncoder().encode(text);

const decodeHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** Empty if the text is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function concatenate(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
