// Mailjet's Event API (dev.mailjet.com/email/guides/webhooks): one event per request, or an array
// if grouped. No signature and no event ids. Mailjet retries for a day until it gets 200.
import { type InboundAdapter, megabyte, type ProviderEvent } from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObject,
  asObjects,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { hasUrlSecret } from "./signatures.ts";

export const mailjet: InboundAdapter = {
  verify: hasUrlSecret,
  readEvents: ({ rawBody }) => ({ events: asObjects(parseJson(rawBody)).flatMap(toEvents) }),
  statuses: { rejected: 401, retryLater: 503 },
  // Groups of events without a published limit.
  maxBodyBytes: 10 * megabyte,
};

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const details = ownValue(detailsByKind, row.event)?.(row);
  if (!details) return [];
  return toProviderEvents({
    ...details,
    email: row.email,
    sendId: asObject(parseJson(row.Payload)).sendId ?? row.CustomID,
    // MessageID is a number with more digits than JSON.parse keeps.
    messageId: row.Message_GUID,
    // Includes our type: a greylisting and the bounce after it have the same `event`, perhaps in
    // the same second.
    eventId: [row.event, details.type, row.Message_GUID, row.email, row.time, row.url, row.ip],
    at: asIsoTime(row.time),
  });
}

const client = ({ agent, ip }: UntrustedJson) => ({ userAgent: agent, ip });

const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  sent: () => ({ type: "delivered" }),
  open: (row) => ({ type: "open", ...client(row) }),
  click: (row) => ({ type: "click", url: row.url, ...client(row) }),
  bounce: ({ hard_bounce: hard, error, comment, error_related_to: related }) => ({
    // Mailjet retries greylisted mail.
    ...(error === "greylisted" && hard !== true
      ? { type: "deferred" }
      : { type: "bounce", bounceType: hard === true ? "hard" : "soft" }),
    reason: firstText(comment, error, related),
  }),
  blocked: ({ error, error_related_to: related }) => ({
    type: "dropped",
    reason: firstText(error, related),
  }),
  spam: () => ({ type: "spam_report" }),
  unsub: (row) => ({ type: "unsubscribe", ...client(row) }),
};
