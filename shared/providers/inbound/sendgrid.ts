// SendGrid's signed Event Webhook (twilio.com/docs/sendgrid, event webhook reference): an array of
// events, signed with ECDSA over the raw body.
import { createPublicKey, type KeyObject } from "node:crypto";
import {
  addressBad,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readReply,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
import { type InboundAdapter, megabyte, type ProviderEvent } from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObjects,
  asText,
  type EventDetails,
  ownValue,
  parseJson,
  toConfigIds,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { decodeBase64, verifySignature } from "./signatures.ts";

export const sendgrid: InboundAdapter = {
  verify({ headers, rawBody }, secret) {
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
    const signature = decodeBase64(headers["x-twilio-email-event-webhook-signature"]);
    const key = verificationKey(secret);
    // Only digits are accepted: the signature does not separate the time from the body. The age is
    // not checked, because SendGrid retries for 24 hours and a repeated event has the same id.
    if (!signature || !key || !/^\d{1,16}$/.test(timestamp)) return false;
    return verifySignature(
      "sha256",
      { data: Buffer.concat([Buffer.from(timestamp), rawBody]), signature },
      key,
    );
  },
  claimedConfigIds: ({ rawBody }) =>
    toConfigIds(asObjects(parseJson(rawBody)).map(({ configId }) => configId)),
  readEvents: ({ rawBody }) => ({ events: asObjects(parseJson(rawBody)).flatMap(toEvents) }),
  statuses: { rejected: 401, retryLater: 503 },
  // SendGrid sends a batch at 768 KB.
  maxBodyBytes: 2 * megabyte,
};

/** Parses the "verification key" that SendGrid shows: base64 of a DER public key on P-256. */
export function verificationKey(secret: string): KeyObject | undefined {
  try {
    const key = createPublicKey({
      key: Buffer.from(secret, "base64"),
      format: "der",
      type: "spki",
    });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const details = ownValue(detailsByKind, row.event)?.(row);
  if (!details) return [];
  return toProviderEvents({
    ...details,
    email: row.email,
    sendId: row.sendId,
    // The X-Message-Id of the send comes first; SendGrid appends a suffix after a dot.
    messageId: asText(row.sg_message_id)?.split(".")[0],
    eventId: asText(row.sg_event_id) ? [row.sg_event_id] : undefined,
    at: asIsoTime(row.timestamp),
  });
}

const unsubscribed = (): EventDetails => ({ type: "unsubscribe" });
const dropped = ({ reason }: UntrustedJson): EventDetails => ({
  ...(ownValue(dropReasons, reason) ?? { type: "dropped" }),
  reason,
});

const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  deferred: ({ response, reason }) => ({ type: "deferred", reason: asText(response) ?? reason }),
  bounce: (row) => ({ ...bounceDetails(row), reason: row.reason }),
  dropped,
  cancel_drop: dropped,
  open: ({ useragent, ip, sg_machine_open: machine }) => ({
    type: "open",
    userAgent: useragent,
    ip,
    automated: machine === true,
  }),
  click: ({ url, useragent, ip }) => ({ type: "click", url, userAgent: useragent, ip }),
  spamreport: () => ({ type: "spam_report" }),
  unsubscribe: unsubscribed,
  group_unsubscribe: unsubscribed,
};

/** Values of `reason` of a dropped mail (event webhook reference, "Dropped"). */
const dropReasons: Record<string, FailureDetails> = {
  "Bounced Address": listedByProvider,
  "Unsubscribed Address": listedByProvider,
  "Spam Reporting Address": listedByProvider,
  "Invalid SMTPAPI header": messageRefused,
  "Spam Content": messageRefused,
  "Recipient List over Package Quota": senderRefused,
};

/** `bounce_classification` in lower case, where it is about the message or the sender. */
const refusals: Record<string, FailureDetails> = {
  content: messageRefused,
  reputation: senderRefused,
  "frequency or volume too high": senderRefused,
};

/** By the classification, then by `type`: SendGrid goes on sending to a `blocked` address. */
function bounceDetails(row: UntrustedJson): FailureDetails {
  const { type, status, reason, bounce_classification: classification } = row;
  const refusal = ownValue(refusals, asText(classification)?.toLowerCase());
  if (refusal) return refusal;
  if (type === "bounce") return addressBad;
  if (type === "blocked") return readSoftBounce(status, reason);
  return readReply(status, reason) ?? (isFinal(status) ? addressBad : mailboxUnwell);
}

const isFinal = (status: unknown): boolean => asText(status)?.startsWith("5") === true;
