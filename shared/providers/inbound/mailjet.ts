// Mailjet's Event API (dev.mailjet.com/email/guides/webhooks): one event per request, or an array
// if grouped. No signature and no event ids. Mailjet retries for a day until it gets 200.
import {
  addressBad,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
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
  bounce: (row) => ({
    ...bounceDetails(row),
    reason: firstText(row.comment, row.error, row.error_related_to),
  }),
  // The mail never left Mailjet.
  blocked: ({ error, error_related_to: related }) => {
    const refusal = ownValue(refusals, firstText(error, related));
    const details = ownValue(blockedDetails, error) ?? refusal ?? { type: "dropped" };
    return { ...details, reason: firstText(error, related) };
  },
  spam: () => ({ type: "spam_report" }),
  unsub: (row) => ({ type: "unsubscribe", ...client(row) }),
};

/**
 * Values of `error`, or of `error_related_to` without it, that are about the message or the sender
 * (dev.mailjet.com/email/guides/webhooks, "Possible values for errors").
 */
const refusals: Record<string, FailureDetails> = {
  "sender blocked": senderRefused,
  "policy issue": senderRefused,
  "relay/access denied": senderRefused,
  "content blocked": messageRefused,
  "bad or empty template": messageRefused,
  "error in template language": messageRefused,
};

const blockedDetails: Record<string, FailureDetails> = {
  preblocked: listedByProvider,
  "user unknown": listedByProvider,
  "mailbox inactive": listedByProvider,
  blacklisted: listedByProvider,
  "spam reporter": listedByProvider,
};

function bounceDetails(row: UntrustedJson): FailureDetails {
  const { hard_bounce: hard, error, error_related_to: related, comment } = row;
  const refusal = ownValue(refusals, firstText(error, related));
  if (refusal) return refusal;
  if (hard === true) return addressBad;
  // Mailjet retries greylisted mail.
  if (error === "greylisted") return { type: "deferred" };
  return error === "quota exceeded" ? mailboxUnwell : readSoftBounce(comment);
}
