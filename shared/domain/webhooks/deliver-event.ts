// Makes one signed call to an endpoint. Besides its own signature header the call has the headers
// of Standard Webhooks (https://www.standardwebhooks.com), so that their libraries can verify it.
import { NoResponse } from "../../adapters/http/no-response.ts";
import {
  type PublicPostRequest,
  postToPublicUrl,
  requestPublicUrl,
} from "../../adapters/http/public-client.ts";
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
  /** The start of the response; null without a response. */
  responseBody: string | null;
  /** One sentence; null if the event was delivered. */
  error: string | null;
  timedOut: boolean;
}

/** Delivers one event. The webhook-id is made from the endpoint and `eventId`. */
export const deliverEvent = (
  { id, url, secrets }: EndpointTarget,
  event: OutgoingEvent,
  eventId: string = String(event.id),
): Promise<DeliveryAttempt> =>
  postSigned({ url, secrets, messageId: toMessageId(`${id}#${eventId}`), body: bodyOf(event) });

interface SignedPost {
  url: string;
  secrets: SigningSecrets;
  messageId: string;
  body: string;
  /** Reads the response, if it is not longer. */
  maxResponseBytes?: number;
}

/** Returns network errors as a failed attempt. */
export async function postSigned({
  url,
  secrets,
  messageId: id,
  body,
  maxResponseBytes: maxBytes,
}: SignedPost): Promise<DeliveryAttempt & { text?: string }> {
  const headers = {
    ...constantHeaders,
    ...signatureHeaders(secrets, { id, timestamp: epochSeconds(), body }),
  };
  const started = performance.now();
  const latency = () => ({ latencyMs: Math.round(performance.now() - started) });
  try {
    const limits = {
      timeoutSeconds: config.webhookTimeoutSeconds,
      allowLoopback: config.allowLoopbackWebhooks,
    };
    const request = { url, headers, body, ...limits };
    const { status, start, text } =
      maxBytes === undefined
        ? await postShowingStart(request)
        : await postReadingText({ ...request, maxBytes });
    const delivered = status >= 200 && status < 300;
    return {
      delivered,
      responseStatus: status,
      responseBody: toShown(start),
      error: delivered ? null : `The endpoint responded with status ${status}`,
      timedOut: false,
      ...latency(),
      ...(text !== undefined && { text }),
    };
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    return {
      delivered: false,
      responseStatus: null,
      responseBody: null,
      error: error.reason,
      timedOut: error.timedOut,
      ...latency(),
    };
  }
}

interface ReadResponse {
  status: number;
  start: string;
  /** The whole response, if it was asked for. */
  text?: string;
}

async function postShowingStart(request: PublicPostRequest): Promise<ReadResponse> {
  const { status, startOfText } = await postToPublicUrl(request);
  return { status, start: startOfText };
}

async function postReadingText(
  request: PublicPostRequest & { maxBytes: number },
): Promise<ReadResponse> {
  const { status, text } = await requestPublicUrl({ ...request, method: "POST" });
  return { status, start: text, text };
}

export const maxResponseCharacters = 300;

/** Without control characters, and not longer than what is stored of it. */
const toShown = (start: string): string =>
  Array.from(start.replace(/[^\P{C}\n\t]/gu, "").trim())
    .slice(0, maxResponseCharacters)
    .join("");

const constantHeaders = { "content-type": "application/json", "user-agent": "Pennymail-Webhooks" };

/** The JSON that the endpoint gets. */
export const bodyOf = ({ id: _, details, ...fields }: OutgoingEvent): string =>
  JSON.stringify({ ...fields, ...details });

/** The same for every attempt to deliver an event, so that the endpoint can drop duplicates. */
export const toMessageId = (name: string): string => `msg_${sha256(name).slice(0, 32)}`;
