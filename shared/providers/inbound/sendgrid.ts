// SendGrid's signed Event Webhook (twilio.com/docs/sendgrid, event webhook reference): an array of
// events, signed with ECDSA over the raw body.
import { createPublicKey, type KeyObject } from "node:crypto";
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
const dropped = ({ reason }: UntrustedJson): EventDetails => ({ type: "dropped", reason });

const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  deferred: ({ response, reason }) => ({ type: "deferred", reason: asText(response) ?? reason }),
  bounce: (row) => ({ type: "bounce", bounceType: bounceTypeOf(row), reason: row.reason }),
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

const bounceTypes: Record<string, "hard" | "soft"> = { bounce: "hard", blocked: "soft" };

const bounceTypeOf = ({ type, status }: UntrustedJson): "hard" | "soft" =>
  ownValue(bounceTypes, type) ??
  (typeof status === "string" && status.startsWith("5") ? "hard" : "soft");
