// The signatures of webhook requests. The service and `pennymail listen` make them.
import { createHmac } from "node:crypto";

/** The secrets that sign, the current one first. */
export type SigningSecrets = [current: string, previous?: string];

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

/**
 * The signature headers of a body. `x-webhook-signature` is keyed by the text of the secret.
 * `webhook-signature` has two signatures per secret: keyed by its text, which a Standard Webhooks
 * library takes as `whsec_` followed by the base64 of the text, and keyed by the secret read as
 * base64, so that a library also takes the secret as it is shown.
 */
export function signatureHeaders(
  secrets: SigningSecrets,
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): Record<string, string> {
  const [current, previous] = secrets;
  const standard = secrets.flatMap((secret) => {
    const keys = secret ? [secret, Buffer.from(secret, "base64")] : [];
    return keys.map((key) => `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest("base64")}`);
  });
  return {
    "x-webhook-signature": hmac(current, body).digest("hex"),
    ...(previous && { "x-webhook-signature-previous": hmac(previous, body).digest("hex") }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standard.join(" "),
  };
}
