// SparkPost event webhooks (developers.sparkpost.com/api/webhooks): an array of events, proven by a token header.
import { createHash, randomUUID } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("sparkpost webhook token", 40),
  notices: {
    accepted: (at) => event(at, "message_event", "injection", {}),
    delivered: (at) => event(at, "message_event", "delivery", { ip_address: "192.0.2.4", num_retries: "0", queue_time: "820" }),
    deferred: (at) =>
      event(at, "message_event", "delay", {
        ...reason("454 4.4.4 [internal] no MX or A for domain"),
        bounce_class: "21",
        error_code: "454",
        num_retries: "1",
      }),
    bounced: (at) =>
      event(at, "message_event", "bounce", {
        ...reason("550 5.1.1 Recipient address rejected: User unknown"),
        bounce_class: "10",
        error_code: "550",
      }),
    softbounced: (at) =>
      event(at, "message_event", "bounce", { ...reason("552 5.2.2 Mailbox full"), bounce_class: "22", error_code: "552" }),
    dropped: (at) =>
      event(at, "gen_event", "generation_rejection", {
        ...reason("554 5.7.1 recipient address suppressed due to customer policy"),
        error_code: "554",
      }),
    opened: (at) => event(at, "track_event", "open", client),
    clicked: (at) => event(at, "track_event", "click", { ...client, target_link_url: at.url, target_link_name: "" }),
    complained: (at) =>
      event(at, "message_event", "spam_complaint", {
        fbtype: "abuse",
        report_by: "server.pennymail.test",
        report_to: "abuse.pennymail.test",
      }),
    unsubscribed: (at) => event(at, "unsubscribe_event", "list_unsubscribe", { mailfrom: at.mail.to.email }),
    unrenderable: (at) => event(at, "gen_event", "generation_failure", { ...reason(at.mail.unrenderable ?? ""), error_code: "554" }),
  },
  perPost: 250,
  pack(events, _hook, account) {
    const batch = randomUUID();
    const headers = {
      "content-type": "application/json",
      "x-messagesystems-batch-id": batch,
      "x-messagesystems-webhook-token": webhook.secret(account),
    };
    return { body: JSON.stringify(events), headers: () => headers };
  },
  retries: () => true,
};

const client = {
  user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
  ip_address: "203.0.113.9",
  geo_ip: { country: "US", region: "MD", city: "Columbia" },
};
const reason = (text: string) => ({ raw_reason: text, reason: text.replace(/\S+@\S+/g, "...@...") });

/** Ids have more digits than a JavaScript number holds, as SparkPost's do. */
const eventId = (id: string) => (createHash("sha256").update(id).digest().readBigUInt64BE() >> 7n).toString();

const event = ({ mail, at, id }: Happening, group: string, type: string, more: object) => ({
  msys: {
    [group]: {
      type,
      event_id: eventId(id),
      message_id: createHash("sha256").update(`${mail.messageId} ${mail.id}`).digest("hex").slice(0, 20),
      transmission_id: mail.messageId,
      rcpt_to: mail.to.email.toLowerCase(),
      raw_rcpt_to: mail.to.email,
      rcpt_meta: mail.metadata,
      rcpt_tags: [],
      ...(mail.tags[0] && { campaign_id: mail.tags[0] }),
      friendly_from: mail.from.email,
      subject: rendered(mail, "subject"),
      timestamp: String(clock.epochSeconds(at)),
      ...more,
    },
  },
});
