// Postmark webhooks (postmarkapp.com/developer/webhooks): one event per call, proven by the secret in the URL.
import { createHash, randomUUID } from "node:crypto";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("postmark query secret", 32),
  notices: {
    delivered: (at) =>
      event(at, "Delivery", { Recipient: at.mail.to.email, DeliveredAt: time(at), Details: "250 2.0.0 OK - pennymail sandbox" }),
    deferred: (at) => bounce(at, "Transient", 2, "Message delayed/Undeliverable", "smtp;421 4.7.0 try later"),
    bounced: (at) => bounce(at, "HardBounce", 1, "Hard bounce", "smtp;550 5.1.1 The email account that you tried to reach does not exist."),
    softbounced: (at) => bounce(at, "SoftBounce", 4096, "Soft bounce", "smtp;452 4.2.2 Mailbox full"),
    dropped: (at) => bounce(at, "ManuallyDeactivated", 100002, "Manually deactivated", ""),
    complained: (at) => ({ ...bounce(at, "SpamComplaint", 100001, "Spam complaint", ""), RecordType: "SpamComplaint", CanActivate: false }),
    opened: (at) =>
      event(at, "Open", {
        ...client,
        FirstOpen: true,
        Client: { Name: "Gmail", Company: "Google", Family: "Gmail" },
        ReadSeconds: 5,
        ReceivedAt: time(at),
        Recipient: at.mail.to.email,
      }),
    clicked: (at) =>
      event(at, "Click", { ...client, ClickLocation: "HTML", OriginalLink: at.url, ReceivedAt: time(at), Recipient: at.mail.to.email }),
    unsubscribed: (at) =>
      event(at, "SubscriptionChange", {
        ServerID: 23,
        ChangedAt: time(at),
        Recipient: at.mail.to.email,
        Origin: "Recipient",
        SuppressSending: true,
        SuppressionReason: "ManualSuppression",
      }),
  },
  perPost: 1,
  pack([event]) {
    const trace = randomUUID();
    return {
      body: JSON.stringify(event),
      headers: (attempt) => ({
        "content-type": "application/json",
        "user-agent": "Postmark",
        "x-pm-webhook-trace-id": trace,
        "x-pm-retries-remaining": String(9 - attempt),
      }),
    };
  },
  retries: (status) => status === 0 || status === 408 || status === 429 || status >= 500,
};

const client = { Platform: "WebMail", UserAgent: "Mozilla/5.0 (X11; Linux x86_64)", Geo: { CountryISOCode: "US", IP: "203.0.113.9" } };

const time = ({ at }: Happening) => at.toISOString().replace("Z", "0000Z");

const event = ({ mail }: Happening, record: string, more: object) => ({
  RecordType: record,
  MessageStream: "outbound",
  MessageID: mail.messageId,
  Tag: mail.tags[0] ?? null,
  Metadata: mail.metadata,
  ...more,
});

const bounce = (at: Happening, type: string, code: number, name: string, details: string) =>
  event(at, "Bounce", {
    ID: createHash("sha256").update(at.id).digest().readUInt32BE(),
    Type: type,
    TypeCode: code,
    Name: name,
    ServerID: 23,
    Description: name,
    Details: details,
    Email: at.mail.to.email,
    From: at.mail.from.email,
    BouncedAt: time(at),
    DumpAvailable: false,
    Inactive: type !== "SoftBounce" && type !== "Transient",
    CanActivate: true,
    Subject: rendered(at.mail, "subject"),
  });
