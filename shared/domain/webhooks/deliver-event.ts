// Makes one signed call to an endpoint. Besides its own signature header the call has the headers
// of Standard Webhooks (https://www.standardwebhooks.com), so that their libraries can verify it.
import { createHmac } from "node:crypto";
import { NoResponse } from "../../adapters/http/no-response.ts";
import { postToPublicUrl } from "../../adapters/http/public-client.ts";
import { epochSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { sha256 } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";

export interface EndpointTarget {
  id: number;
  url: string;
  /** The secrets that sign, the current one first. */
  secrets: [current: string, previous?: string];
}

export interface DeliveryAttempt {
  delivered: boolean;
  /** HTTP status; null without a response. */
  responseStatus: number | null;
  latencyMs: number;
  /** One sentence; null if the event was delivered. */
  error: string | null;
  timedOut: boolean;
}

/**
 * Delivers one event. Returns network errors as a failed attempt. The webhook-id is made from the
 * endpoint and `eventId`.
 */
export async function deliverEvent(
  { id, url, secrets }: EndpointTarget,
  event: OutgoingEvent,
  eventId: string = String(event.id),
): Promise<DeliveryAttempt> {
  const body = bodyOf(event);
  const headers = {
    ...constantHeaders,
    ...signatureHeaders(secrets, { id: messageId(id, eventId), timestamp: epochSeconds(), body }),
  };
  const started = performance.now();
  const latency = () => ({ latencyMs: Math.round(performance.now() - started) });
  try {
    const limits = {
      timeoutSeconds: config.webhookTimeoutSeconds,
      allowLoopback: config.allowLoopbackWebhooks,
    };
    const { status } = await postToPublicUrl({ url, headers, body, ...limits });
    const delivered = status >= 200 && status < 300;
    return {
      delivered,
      responseStatus: status,
      error: delivered ? null : `The endpoint responded with status ${status}`,
      timedOut: false,
      ...latency(),
    };
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    return {
      delivered: false,
      responseStatus: null,
      error: error.reason,
      timedOut: error.timedOut,
      ...latency(),
    };
  }
}

const constantHeaders = { "content-type": "application/json", "user-agent": "Pennymail-Webhooks" };

/** Contains only the fields that the API documents. */
const bodyOf = ({ event, sendId, contactId, email, timestamp }: OutgoingEvent): string =>
  JSON.stringify({ event, sendId, contactId, email, timestamp });

/** The same for every attempt to deliver an event, so that the endpoint can drop duplicates. */
const messageId = (webhookId: number, eventId: string): string =>
  `msg_${sha256(`${webhookId}#${eventId}`).slice(0, 32)}`;

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

/**
 * The signature headers of a body. `x-webhook-signature` is keyed by the text of the secret.
 * `webhook-signature` has two signatures per secret: keyed by its text, which a Standard Webhooks
 * library takes as `whsec_` followed by the base64 of the text, and keyed by the secret read as
 * base64, so that a library also takes the secret as it is shown.
 */
export function signatureHeaders(
  secrets: EndpointTarget["secrets"],
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
