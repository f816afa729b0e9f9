// Minimal events in the format of each provider, and how the adapter reads them.
import type { ProviderEvent } from "../../shared/providers/inbound/inbound-adapter.ts";
import { getInboundAdapter as inboundOf } from "../../shared/providers/inbound/registry.ts";
import { createNotice } from "./signed-provider-webhooks.ts";

export type EventFields = Record<string, unknown>;

export const recipientEmail = "ann@example.net";
export const [seconds, iso] = [1_795_166_045, "2026-11-20T09:14:05.000Z"];

const wrapByProvider: Record<string, (fields: EventFields) => unknown> = {
  sendgrid: (fields) => [
    { email: recipientEmail, timestamp: seconds, sg_event_id: "e", ...fields },
  ],
  ses: (fields) => ({
    Type: "Notification",
    MessageId: "m",
    TopicArn: "arn:aws:sns:us-east-1:123456789012:t",
    Timestamp: iso,
    Message: JSON.stringify({ mail: { destination: [recipientEmail] }, ...fields }),
  }),
  postmark: (fields) => ({
    Email: recipientEmail,
    Recipient: recipientEmail,
    DeliveredAt: iso,
    ReceivedAt: iso,
    BouncedAt: iso,
    ChangedAt: iso,
    ...fields,
  }),
  mailgun: (fields) => ({
    signature: { timestamp: "1", token: "t", signature: "s" },
    "event-data": { recipient: recipientEmail, timestamp: seconds, ...fields },
  }),
  sparkpost: (fields) => [
    {
      msys: {
        any_event: {
          rcpt_to: recipientEmail,
          timestamp: String(seconds),
          event_id: "e",
          ...fields,
        },
      },
    },
  ],
  brevo: (fields) => ({ email: recipientEmail, ts: seconds, ...fields }),
  mailjet: (fields) => ({ email: recipientEmail, time: seconds, ...fields }),
  mandrill: ({ msg, ...fields }) => [
    { ts: seconds, msg: { email: recipientEmail, ...(msg as object) }, ...fields },
  ],
  resend: ({ type, ...data }) => ({
    type,
    created_at: iso,
    data: { to: [recipientEmail], ...data },
  }),
  smtp2go: (fields) => ({ rcpt: recipientEmail, time: iso, ...fields }),
};

export function readEvent(key: string, fields: EventFields): ProviderEvent[] {
  const json = JSON.stringify(wrapByProvider[key]!(fields));
  const rawBody = Buffer.from(
    key === "mandrill" ? new URLSearchParams({ mandrill_events: json }).toString() : json,
  );
  return inboundOf(key)!.readEvents(createNotice(key, { rawBody, headers: { "svix-id": "msg_1" } }))
    .events;
}
