// Mailgun webhooks (documentation.mailgun.com, webhook payloads): one event per call, HMAC over timestamp and token.
import { createHmac, randomBytes } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("mailgun signing key", 32),
  notices: {
    accepted: (at) => event(at, "accepted", {}),
    delivered: (at) =>
      event(at, "delivered", {
        "log-level": "info",
        "delivery-status": { "attempt-no": 1, code: 250, message: "OK", description: null, tls: true },
      }),
    deferred: (at) => failure(at, "temporary", "generic", { code: 421, message: "4.7.0 try again later", "retry-seconds": 600 }),
    bounced: (at) =>
      failure(at, "permanent", "bounce", {
        code: 550,
        message: "5.1.1 The email account that you tried to reach does not exist",
        "enhanced-code": "5.1.1",
        "bounce-type": "hard",
      }),
    softbounced: (at) =>
      failure(at, "permanent", "generic", { code: 452, message: "4.2.2 Mailbox full", "enhanced-code": "4.2.2", "bounce-type": "soft" }),
    dropped: (at) =>
      failure(at, "permanent", "suppress-bounce", { code: 605, message: "", description: "Not delivering to previously bounced address" }),
    opened: (at) => event(at, "opened", client),
    clicked: (at) => event(at, "clicked", { ...client, url: at.url }),
    complained: (at) => event(at, "complained", { "log-level": "warn" }),
    unsubscribed: (at) => event(at, "unsubscribed", { ...client, tags: ["*"] }),
  },
  perPost: 1,
  /** The signature block is made once: retries carry the same token. */
  pack([event], _hook, account) {
    const [timestamp, token] = [String(clock.epochSeconds()), randomBytes(25).toString("hex")];
    const signature = createHmac("sha256", webhook.secret(account))
      .update(timestamp + token)
      .digest("hex");
    const body = JSON.stringify({ signature: { token, timestamp, signature }, "event-data": event });
    return { body, headers: () => ({ "content-type": "application/json", "user-agent": "mailgun/treq-22.2.0" }) };
  },
  retries: (status) => status !== 406,
};

const client = {
  ip: "203.0.113.9",
  geolocation: { city: "San Antonio", country: "US", region: "TX" },
  "client-info": {
    "client-name": "Chrome",
    "client-os": "OS X",
    "client-type": "browser",
    "device-type": "desktop",
    "user-agent": "Mozilla/5.0 (Macintosh)",
    bot: null,
  },
};

const failure = (at: Happening, severity: string, reason: string, status: object) =>
  event(at, "failed", {
    severity,
    reason,
    "log-level": severity === "permanent" ? "error" : "warn",
    "delivery-status": { "attempt-no": 1, description: "", ...status },
  });

/** An empty object is written as `[]`, as Mailgun does. */
const event = ({ mail, at, id }: Happening, name: string, more: object) => ({
  event: name,
  id: Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url"),
  timestamp: at.getTime() / 1000,
  recipient: mail.to.email,
  "recipient-domain": mail.to.email.split("@")[1],
  tags: mail.tags,
  "user-variables": Object.keys(mail.metadata).length ? mail.metadata : [],
  flags: { "is-authenticated": true, "is-routed": false, "is-test-mode": false },
  message: {
    attachments: [],
    headers: { "message-id": mail.messageId, from: mail.from.email, to: mail.to.email, subject: rendered(mail, "subject") },
  },
  domain: { name: "mg.pennymail.test" },
  ...more,
});
