// One event in its least form, as its provider would wrap it, and what is read from that.
import type { ProviderEvent } from "../../shared/providers/inbound/inbound.ts";
import { inbound as inboundOf } from "../../shared/providers/inbound/index.ts";
import { noticeFor } from "./notices.ts";

export type Row = Record<string, unknown>;

export const to = "ann@example.net";
export const [seconds, iso] = [1_795_166_045, "2026-11-20T09:14:05.000Z"];

const wrapped: Record<string, (row: Row) => unknown> = {
  sendgrid: (row) => [{ email: to, timestamp: seconds, sg_event_id: "e", ...row }],
  ses: (row) => ({
    Type: "Notification",
    MessageId: "m",
    TopicArn: "arn:aws:sns:us-east-1:123456789012:t",
    Timestamp: iso,
    Message: JSON.stringify({ mail: { destination: [to] }, ...row }),
  }),
  postmark: (row) => ({ Email: to, Recipient: to, DeliveredAt: iso, ReceivedAt: iso, BouncedAt: iso, ChangedAt: iso, ...row }),
  mailgun: (row) => ({
    signature: { timestamp: "1", token: "t", signature: "s" },
    "event-data": { recipient: to, timestamp: seconds, ...row },
  }),
  sparkpost: (row) => [{ msys: { any_event: { rcpt_to: to, timestamp: String(seconds), event_id: "e", ...row } } }],
  brevo: (row) => ({ email: to, ts: seconds, ...row }),
  mailjet: (row) => ({ email: to, time: seconds, ...row }),
  mandrill: ({ msg, ...row }) => [{ ts: seconds, msg: { email: to, ...(msg as object) }, ...row }],
  resend: ({ type, ...data }) => ({ type, created_at: iso, data: { to: [to], ...data } }),
  smtp2go: (row) => ({ rcpt: to, time: iso, ...row }),
};

export function readAs(key: string, row: Row): ProviderEvent[] {
  const json = JSON.stringify(wrapped[key]!(row));
  const rawBody = Buffer.from(key === "mandrill" ? new URLSearchParams({ mandrill_events: json }).toString() : json);
  return inboundOf(key)!.read(noticeFor(key, { rawBody, headers: { "svix-id": "msg_1" } })).events;
}
