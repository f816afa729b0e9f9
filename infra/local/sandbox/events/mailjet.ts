// Mailjet Event API, grouped (dev.mailjet.com/email/guides/webhooks): an array of events, no signature.
import { createHash } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";

export const webhook: Webhook = {
  secret: (account) => account.hex("mailjet query secret", 32),
  notices: {
    delivered: (at) =>
      event(at, "sent", { smtp_reply: "250 2.0.0 OK - pennymail sandbox", mj_message_id: messageNumber(at.mail.messageId) }),
    deferred: (at) => bounce(at, false, "domain", "greylisted", "451 4.7.1 Greylisted, try again later"),
    bounced: (at) => bounce(at, true, "recipient", "user unknown", "550 5.1.1 Recipient address rejected: User unknown"),
    softbounced: (at) => bounce(at, false, "recipient", "quota exceeded", "452 4.2.2 Mailbox full"),
    dropped: (at) => event(at, "blocked", { error_related_to: "mailjet", error: "preblocked", comment: "" }),
    opened: (at) => event(at, "open", client),
    clicked: (at) => event(at, "click", { ...client, url: at.url }),
    complained: (at) => event(at, "spam", { source: "JMRPP" }),
    unsubscribed: (at) => event(at, "unsub", { ...client, mj_list_id: 0 }),
  },
  perPost: 500,
  pack: (events) => ({ body: written(events), headers: () => ({ "content-type": "application/json", "user-agent": "Mailjet-API" }) }),
  retries: () => true,
};

/** Mailjet's other id of a mail: more digits than a JavaScript number holds. */
export const messageNumber = (uuid: string): string =>
  String((createHash("sha256").update(uuid).digest().readBigUInt64BE() >> 8n) + 288_230_376_151_711_744n);

/** JSON with MessageID as a number in full. */
export const written = (value: unknown): string => JSON.stringify(value).replace(/"MessageID":"(\d+)"/g, '"MessageID":$1');

const client = { ip: "203.0.113.9", geo: "FR", agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36" };

const bounce = (at: Happening, hard: boolean, related: string, error: string, comment: string) =>
  event(at, "bounce", { blocked: false, hard_bounce: hard, error_related_to: related, error, comment });

const event = ({ mail, at }: Happening, name: string, more: object) => ({
  event: name,
  time: clock.epochSeconds(at),
  MessageID: messageNumber(mail.messageId),
  Message_GUID: mail.messageId,
  email: mail.to.email,
  mj_campaign_id: 0,
  mj_contact_id: createHash("sha256").update(mail.to.email).digest().readUInt16BE(),
  customcampaign: mail.tags[0] ?? "",
  ...mail.metadata,
  ...more,
});
