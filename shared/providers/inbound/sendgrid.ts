// SendGrid's signed Event Webhook (twilio.com/docs/sendgrid, event webhook reference): an array of events, ECDSA over the raw bytes.
import { createPublicKey, type KeyObject } from "node:crypto";
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, type Happening, json, rows, text, time } from "./reading.ts";
import { decoded, verified } from "./signatures.ts";

export const sendgrid: Inbound = {
  proof: "signature",
  genuine({ headers, rawBody }, secret) {
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
    const signature = decoded(headers["x-twilio-email-event-webhook-signature"]);
    const key = verificationKey(secret);
    // Digits only: nothing separates the time from the body, so bytes of one could pass for the other's. How old it may be is not
    // asked: SendGrid repeats a call for 24 hours, and a repeated event has its old id.
    if (!signature || !key || !/^\d{1,16}$/.test(timestamp)) return false;
    return verified("sha256", Buffer.concat([Buffer.from(timestamp), rawBody]), key, signature);
  },
  read: ({ rawBody }) => ({ events: rows(json(rawBody)).flatMap(eventOf) }),
  statuses: { forged: 401, busy: 503 },
};

/** The "verification key" as SendGrid shows it: base64 of a DER public key, on P-256. */
function verificationKey(secret: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(secret, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}

function eventOf(row: Fields): ProviderEvent[] {
  const happening = entry(kinds, row.event)?.(row);
  if (!happening) return [];
  return event({
    ...happening,
    email: row.email,
    sendId: row.sendId,
    // The X-Message-Id of the send, and after the first dot what SendGrid made of it.
    messageId: text(row.sg_message_id)?.split(".")[0],
    eventId: text(row.sg_event_id),
    at: time(row.timestamp),
  });
}

const unsubscribed = (): Happening => ({ type: "unsubscribe" });
const dropped = ({ reason }: Fields): Happening => ({ type: "dropped", reason });

const kinds: Record<string, (row: Fields) => Happening> = {
  delivered: () => ({ type: "delivered" }),
  deferred: ({ response, reason }) => ({ type: "deferred", reason: text(response) ?? reason }),
  bounce: (row) => ({ type: "bounce", bounceType: hardness(row), reason: row.reason }),
  dropped,
  cancel_drop: dropped,
  open: ({ useragent, ip, sg_machine_open: machine }) => ({ type: "open", userAgent: useragent, ip, automated: machine === true }),
  click: ({ url, useragent, ip }) => ({ type: "click", url, userAgent: useragent, ip }),
  spamreport: () => ({ type: "spam_report" }),
  unsubscribe: unsubscribed,
  group_unsubscribe: unsubscribed,
};

const bounceTypes: Record<string, "hard" | "soft"> = { bounce: "hard", blocked: "soft" };

const hardness = ({ type, status }: Fields): "hard" | "soft" =>
  entry(bounceTypes, type) ?? (typeof status === "string" && status.startsWith("5") ? "hard" : "soft");
