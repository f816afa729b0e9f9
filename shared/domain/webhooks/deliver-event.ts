// Makes one signed call to an endpoint. Besides its own signature header the call has the headers
// of Standard Webhooks (https://www.standardwebhooks.com), so that their libraries can verify it.
import { NoResponse } from "../../adapters/http/no-response.ts";
import { postToPublicUrl } from "../../adapters/http/public-client.ts";
import { epochSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { sha256 } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { type SigningSecrets, signatureHeaders } from "./signature-headers.ts";

export interface EndpointTarget {
  id: number;
  url: string;
  secrets: SigningSecrets;
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

const bodyOf = ({ id: _, details, ...fields }: OutgoingEvent): string =>
  JSON.stringify({ ...fields, ...details });

/** The same for every attempt to deliver an event, so that the endpoint can drop duplicates. */
const messageId = (webhookId: number, eventId: string): string =>
  `msg_${sha256(`${webhookId}#${eventId}`).slice(0, 32)}`;
