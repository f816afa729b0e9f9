// Mandrill webhooks (mailchimp.com/developer/transactional/docs/webhooks): a form with an array of events, HMAC-SHA1 signed.
import { createHmac } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.bytes("mandrill webhook", 16).toString("base64url"),
  notices: {
    accepted: (at) => event(at, "send", {}),
    delivered: (at) => event(at, "delivered", { smtp_events: [smtp(at, "sent", "250 2.0.0 OK")] }),
    deferred: (at) => event(at, "deferral", { state: "deferred", smtp_events: [smtp(at, "deferred", "421 4.7.0 Try again later")] }),
    bounced: (at) =>
      event(at, "hard_bounce", {
        state: "bounced",
        bounce_description: "bad_mailbox",
        bgtools_code: 10,
        diag: "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
      }),
    softbounced: (at) =>
      event(at, "soft_bounce", {
        state: "soft-bounced",
        bounce_description: "mailbox_full",
        bgtools_code: 22,
        diag: "smtp;552 5.2.2 Over Quota",
      }),
    dropped: (at) => event(at, "reject", { state: "rejected", reject: { reason: "hard-bounce", last_event_at: "2026-11-01 10:00:00" } }),
    opened: (at) => ({
      ...event(at, "open", { opens: [{ ts: clock.epochSeconds(at.at), ip: client.ip, ua: "Windows/Windows 10/Chrome" }] }),
      ...client,
    }),
    clicked: (at) => ({ ...event(at, "click", { clicks: [{ ts: clock.epochSeconds(at.at), url: at.url }] }), url: at.url, ...client }),
    complained: (at) => event(at, "spam", { state: "spam" }),
    unsubscribed: (at) => event(at, "unsub", { state: "unsub" }),
  },
  perPost: 1000,
  pack(events, hook, account) {
    const json = JSON.stringify(events).replaceAll("/", "\\/");
    const signature = createHmac("sha1", webhook.secret(account)).update(`${hook.url}mandrill_events${json}`).digest("base64");
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Mandrill-Webhook/1.0",
      "x-mandrill-signature": signature,
    };
    return { body: new URLSearchParams({ mandrill_events: json }).toString(), headers: () => headers };
  },
  retries: () => true,
};

const client = {
  ip: "203.0.113.9",
  user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
  user_agent_parsed: { type: "Browser", ua_family: "Chrome", mobile: false },
};

const smtp = ({ at }: Happening, type: string, diag: string) => ({
  ts: clock.epochSeconds(at),
  type,
  diag,
  source_ip: "203.0.113.22",
  destination_ip: "198.51.100.25",
  size: 4120,
});

/** PHP behind it: an empty object is written as `[]`. */
const event = ({ mail, at }: Happening, name: string, more: object) => ({
  event: name,
  _id: mail.messageId,
  msg: {
    ts: clock.epochSeconds(mail.at),
    _id: mail.messageId,
    _version: "pennymail",
    state: "sent",
    subject: rendered(mail, "subject"),
    email: mail.to.email,
    sender: mail.from.email,
    tags: mail.tags,
    metadata: Object.keys(mail.metadata).length ? mail.metadata : [],
    opens: [],
    clicks: [],
    smtp_events: [],
    resends: [],
    ...more,
  },
  ts: clock.epochSeconds(at),
});
