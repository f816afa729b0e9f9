// SMTP2GO webhooks with output_format json (developers.smtp2go.com/docs/webhooks-overview): one event per call, no signature.
import { createHash } from "node:crypto";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("smtp2go query secret", 32),
  notices: {
    accepted: (at) => event(at, "processed", { recipients: [at.mail.to.email] }),
    delivered: (at) => received(at, "delivered", { ...remote, context: "Unavailable", message: "250 2.0.0 Ok: queued as 4f7f4b3tWbzKy" }),
    bounced: (at) =>
      received(at, "bounce", { ...remote, bounce: "hard", context: `RCPT TO:<${at.mail.to.email}>`, message: "550 5.1.1 User unknown" }),
    softbounced: (at) => received(at, "bounce", { ...remote, bounce: "soft", context: "DATA", message: "452 4.2.2 Mailbox full" }),
    dropped: (at) => received(at, "reject", { context: "Recipient is on the suppression list", message: "" }),
    opened: (at) => received(at, "open", { ...client, "read-secs": 4, client: "Gmail" }),
    clicked: (at) => received(at, "click", { ...client, url: at.url }),
    complained: (at) => received(at, "spam", {}),
    unsubscribed: (at) => received(at, "unsubscribe", client),
  },
  perPost: 1,
  pack: ([event]) => ({
    body: JSON.stringify(event),
    headers: () => ({ "content-type": "application/json", "user-agent": "SMTP2GO-Webhook" }),
  }),
  retries: () => true,
};

const remote = { host: "mx.pennymail.test [198.51.100.25]" };
const client = { srchost: "203.0.113.9", "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36" };

const received = (at: Happening, name: string, more: object) => event(at, name, { rcpt: at.mail.to.email, ...more });

/** The webhook is set up to echo one header: X-Send-Id, found in any case. */
function event({ mail, at, id }: Happening, name: string, more: object) {
  const sendId = Object.entries(mail.headers).find(([header]) => header.toLowerCase() === "x-send-id")?.[1];
  const [subject, messageId] = [rendered(mail, "subject"), `<${mail.messageId}@pennymail.test>`];
  return {
    event: name,
    time: at.toISOString().replace(/\.\d+/, ""),
    sendtime: mail.at.toISOString().replace("Z", "000+00:00"),
    email_id: mail.messageId,
    id: createHash("md5").update(id).digest("hex"),
    sender: mail.from.email,
    from: mail.from.name ? `${mail.from.name} <${mail.from.email}>` : mail.from.email,
    from_address: mail.from.email,
    from_name: mail.from.name ?? "",
    auth: "api-sandbox",
    srchost: "203.0.113.22",
    "message-id": messageId,
    "Message-Id": messageId,
    subject,
    Subject: subject,
    ...(sendId !== undefined && { "X-Send-Id": sendId }),
    ...more,
  };
}
