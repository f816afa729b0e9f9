// One call of an endpoint, signed: our own body and header, and beside it the headers of Standard Webhooks
// (https://www.standardwebhooks.com), so that any library for these can verify it.
import { createHmac } from "node:crypto";
import { epochSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { NoAnswer } from "../../doors/no-answer.ts";
import { callPublic } from "../../doors/public-web.ts";
import { sha256 } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";

export interface Target {
  id: number;
  url: string;
  /** Those that sign, the current one first. */
  secrets: [current: string, previous?: string];
}

export interface Outcome {
  delivered: boolean;
  /** HTTP status; null when no answer came. */
  responseStatus: number | null;
  latencyMs: number;
  /** One sentence; null when it was delivered. */
  error: string | null;
  timedOut: boolean;
}

/** Never throws: what goes wrong is an outcome. `eventId` makes the webhook-id, together with the endpoint. */
export async function post({ id, url, secrets }: Target, event: OutgoingEvent, eventId: string = String(event.id)): Promise<Outcome> {
  const body = bodyOf(event);
  const headers = { ...constantHeaders, ...signatures(secrets, messageId(id, eventId), epochSeconds(), body) };
  const started = performance.now();
  const latency = () => ({ latencyMs: Math.round(performance.now() - started) });
  try {
    const limits = { timeoutSeconds: config.webhookTimeoutSeconds, allowLoopback: config.allowLoopbackWebhooks };
    const { status } = await callPublic({ url, headers, body, ...limits });
    const delivered = status >= 200 && status < 300;
    return {
      delivered,
      responseStatus: status,
      error: delivered ? null : `The endpoint answered ${status}`,
      timedOut: false,
      ...latency(),
    };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { delivered: false, responseStatus: null, error: error.reason, timedOut: error.timedOut, ...latency() };
  }
}

const constantHeaders = { "content-type": "application/json", "user-agent": "Pennymail-Webhooks" };

/** The payload that the interface promises, and nothing else. */
const bodyOf = ({ event, sendId, contactId, email, timestamp }: OutgoingEvent): string =>
  JSON.stringify({ event, sendId, contactId, email, timestamp });

/** The same for every attempt at telling an endpoint of an event, by which it can drop what it has heard already. */
const messageId = (webhookId: number, eventId: string): string => `msg_${sha256(`${webhookId}#${eventId}`).slice(0, 32)}`;

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text);

/**
 * Headers that prove a body. The key of all of them is the secret's text; a library for Standard Webhooks has it as `whsec_` and
 * the base64 of that text.
 */
export function signatures(secrets: Target["secrets"], id: string, timestamp: number, body: string): Record<string, string> {
  const [current, previous] = secrets;
  const standard = secrets.flatMap((secret) => (secret ? [`v1,${hmac(secret, `${id}.${timestamp}.${body}`).digest("base64")}`] : []));
  return {
    "x-webhook-signature": hmac(current, body).digest("hex"),
    ...(previous && { "x-webhook-signature-previous": hmac(previous, body).digest("hex") }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standard.join(" "),
  };
}
