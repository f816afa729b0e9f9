// SparkPost event webhooks (developers.sparkpost.com/api/webhooks): an array of events
// without signature. The token is in the header of older webhooks, in the custom header
// X-Webhook-Token, or the password of Basic authentication.
import {
  addressBad,
  autoReply,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
import {
  type InboundAdapter,
  type InboundRequest,
  megabyte,
  type ProviderEvent,
} from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObject,
  asObjects,
  asText,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toConfigIds,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { equalsSecret } from "./signatures.ts";

export const sparkpost: InboundAdapter = {
  verify: ({ headers }, secret) =>
    [
      headers["x-messagesystems-webhook-token"],
      headers["x-webhook-token"],
      password(headers.authorization),
    ].some((given) => equalsSecret(given, secret)),
  claimedConfigIds: ({ rawBody }) =>
    toConfigIds(
      asObjects(parseJson(rawBody)).map(
        (row) => asObject(asObjects(Object.values(asObject(row.msys)))[0]?.rcpt_meta).configId,
      ),
    ),
  readEvents: ({ rawBody }) => ({ events: asObjects(parseJson(rawBody)).flatMap(toEvents) }),
  isProbe: isPing,
  statuses: { rejected: 401, retryLater: 503 },
  // Batches without a published limit.
  maxBodyBytes: 10 * megabyte,
};

function password(authorization: string | undefined): string | undefined {
  const [, base64] = /^Basic +([\w+/=-]+)$/i.exec(authorization ?? "") ?? [];
  const credentials = Buffer.from(base64 ?? "", "base64").toString();
  return credentials.includes(":") ? credentials.slice(credentials.indexOf(":") + 1) : undefined;
}

/** SparkPost sends an empty array when a webhook is created or tested. */
function isPing({ rawBody }: InboundRequest): boolean {
  if (rawBody.length > 100) return false;
  const body = parseJson(rawBody);
  return (
    Array.isArray(body) &&
    asObjects(body).length === body.length &&
    body.every((row) => JSON.stringify(row) === '{"msys":{}}')
  );
}

/** The name of the wrapper object is less specific than the `type` of the event. */
function toEvents(row: UntrustedJson): ProviderEvent[] {
  const [event] = asObjects(Object.values(asObject(row.msys)));
  const details = event && ownValue(detailsByKind, event.type)?.(event);
  if (!event || !details) return [];
  return toProviderEvents({
    ...details,
    email: asText(event.raw_rcpt_to) ?? event.rcpt_to,
    sendId: asObject(event.rcpt_meta).sendId,
    messageId: event.transmission_id,
    // SparkPost's samples use the same event_id for events of different types.
    eventId: typeof event.event_id === "string" ? [event.event_id, event.type] : undefined,
    at: asIsoTime(event.timestamp),
  });
}

const reason = (event: UntrustedJson) => ({ reason: firstText(event.raw_reason, event.reason) });
const client = (event: UntrustedJson) => ({
  userAgent: event.user_agent,
  ip: event.ip_address,
  automated: asObject(event.user_agent_parsed).is_prefetched === true,
});

const opened = (event: UntrustedJson): EventDetails => ({ type: "open", ...client(event) });
const clicked = (event: UntrustedJson): EventDetails => ({
  type: "click",
  url: event.target_link_url,
  ...client(event),
});
const dropped = (event: UntrustedJson): EventDetails => ({ type: "dropped", ...reason(event) });
const unsubscribed = (): EventDetails => ({ type: "unsubscribe" });

// `initial_open` is a second pixel in the same mail: `open` reports every view that it reports.
const detailsByKind: Record<string, (event: UntrustedJson) => EventDetails | undefined> = {
  delivery: () => ({ type: "delivered" }),
  delay: (event) => ({ type: "deferred", ...reason(event) }),
  bounce,
  out_of_band: bounce,
  policy_rejection: dropped,
  generation_rejection: dropped,
  generation_failure: dropped,
  spam_complaint: () => ({ type: "spam_report" }),
  open: opened,
  amp_open: opened,
  click: clicked,
  amp_click: clicked,
  list_unsubscribe: unsubscribed,
  link_unsubscribe: unsubscribed,
};

/**
 * By bounce classification code (support.sparkpost.com, "Bounce Classification Codes"); null is
 * ignored.
 */
const detailsByBounceClass: Record<string, FailureDetails | null> = {
  // Invalid recipient, no RCPT
  "10": addressBad,
  "30": addressBad,
  // Soft bounce, DNS failure, mailbox full, time-out, transient failure
  "20": mailboxUnwell,
  "21": mailboxUnwell,
  "22": mailboxUnwell,
  "24": mailboxUnwell,
  "70": mailboxUnwell,
  // Too large, spam content, prohibited attachment
  "23": messageRefused,
  "52": messageRefused,
  "53": messageRefused,
  // Mail block, spam block, relaying denied
  "50": senderRefused,
  "51": senderRefused,
  "54": senderRefused,
  // Admin failure, Smart Send suppression
  "25": { type: "dropped" },
  "26": listedByProvider,
  // Auto-reply, challenge
  "60": autoReply,
  "100": autoReply,
  "80": null,
  "90": { type: "unsubscribe" },
};

/** Undetermined and generic bounces are read by the code of the mail server. */
function bounce(event: UntrustedJson): EventDetails | undefined {
  const known = ownValue(detailsByBounceClass, event.bounce_class);
  if (known === null) return undefined;
  const details = known ?? readSoftBounce(event.raw_reason, event.reason);
  return details.type === "unsubscribe" ? details : { ...details, ...reason(event) };
}
