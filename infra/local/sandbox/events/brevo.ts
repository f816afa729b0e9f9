// Brevo transactional webhooks (developers.brevo.com/docs/transactional-webhooks): one event per call, no signature.
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("brevo query secret", 32),
  notices: {
    accepted: (at) => event(at, "request", { reason: "sent" }),
    delivered: (at) => event(at, "delivered", { reason: "sent" }),
    deferred: (at) => event(at, "deferred", { reason: "421-4.7.28 Our system has detected an unusual rate of unsolicited mail" }),
    bounced: (at) => event(at, "hard_bounce", { reason: "550-5.1.1 The email account that you tried to reach does not exist." }),
    softbounced: (at) => event(at, "soft_bounce", { reason: "452-4.2.2 The email account that you tried to reach is over quota" }),
    dropped: (at) => event(at, "blocked", { reason: "blocked : due to unsubscribed user" }),
    opened: (at) => event(at, "unique_opened", { link: "" }),
    clicked: (at) => event(at, "click", { link: at.url }),
    complained: (at) => event(at, "spam", {}),
    unsubscribed: (at) => event(at, "unsubscribed", { is_returnpath: true }),
  },
  perPost: 1,
  pack: ([event]) => ({
    body: JSON.stringify(event),
    headers: () => ({ "content-type": "application/json", "user-agent": "SendinBlue Webhook" }),
  }),
  /** Only silence and 429 are tried again: any other answer is final. */
  retries: (status) => status === 0 || status === 429,
};

const event = ({ mail, at }: Happening, name: string, more: object) => ({
  id: 814119,
  email: mail.to.email,
  "message-id": mail.messageId,
  date: at.toISOString().slice(0, 19).replace("T", " "),
  tags: mail.tags,
  tag: JSON.stringify(mail.tags),
  event: name,
  subject: rendered(mail, "subject"),
  sending_ip: "203.0.113.22",
  ts_event: clock.epochSeconds(at),
  ts: clock.epochSeconds(at),
  ts_epoch: at.getTime(),
  ...mail.metadata,
  ...more,
});
