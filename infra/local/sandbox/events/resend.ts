// Resend webhooks (resend.com/docs/dashboard/webhooks): one event per call, signed by Svix.
import { createHmac, randomBytes } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";

export const webhook: Webhook = {
  secret: (account) => `whsec_${account.bytes("resend webhook", 24).toString("base64")}`,
  notices: {
    accepted: (at) => event(at, "email.sent", {}),
    delivered: (at) => event(at, "email.delivered", {}),
    deferred: (at) => event(at, "email.delivery_delayed", {}),
    bounced: (at) => bounce(at, "Permanent", "NoEmail", "The recipient's email address does not exist.", "smtp; 550 5.1.1 user unknown"),
    softbounced: (at) => bounce(at, "Transient", "MailboxFull", "The recipient's inbox was full.", "smtp; 552 5.2.2 mailbox full"),
    dropped: (at) =>
      event(at, "email.suppressed", {
        suppressed: {
          type: "OnAccountSuppressionList",
          reason: "previous_bounce",
          message: "The address is on the account suppression list.",
          diagnosticCode: [],
        },
      }),
    opened: (at) => event(at, "email.opened", {}),
    clicked: (at) =>
      event(at, "email.clicked", {
        click: {
          ipAddress: "203.0.113.9",
          link: at.url,
          timestamp: at.at.toISOString(),
          userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
        },
      }),
    complained: (at) => event(at, "email.complained", {}),
  },
  perPost: 1,
  /** The id stays over all tries; each try has its own time and signature. */
  pack([event], _hook, account) {
    const body = JSON.stringify(event);
    const id = `msg_${randomBytes(20).toString("base64url")}`;
    const key = Buffer.from(webhook.secret(account).slice("whsec_".length), "base64");
    return {
      body,
      headers: () => {
        const timestamp = String(clock.epochSeconds());
        const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
        return {
          "content-type": "application/json",
          "user-agent": "Svix-Webhooks/1.62.0",
          "svix-id": id,
          "svix-timestamp": timestamp,
          "svix-signature": `v1,${signature}`,
        };
      },
    };
  },
  retries: () => true,
};

const bounce = (at: Happening, type: string, subType: string, message: string, diagnostic: string) =>
  event(at, "email.bounced", { bounce: { type, subType, message, diagnosticCode: [diagnostic] } });

const event = ({ mail, at }: Happening, type: string, more: object) => ({
  type,
  created_at: at.toISOString(),
  data: {
    email_id: mail.messageId,
    message_id: `<${mail.messageId}@pennymail.test>`,
    created_at: mail.at.toISOString(),
    from: mail.from.name ? `${mail.from.name} <${mail.from.email}>` : mail.from.email,
    to: [mail.to.email],
    subject: rendered(mail, "subject"),
    ...(Object.keys(mail.metadata).length && { tags: mail.metadata }),
    ...(Object.keys(mail.headers).length && { headers: Object.entries(mail.headers).map(([name, value]) => ({ name, value })) }),
    ...more,
  },
});
