// SendGrid's signed event webhook (twilio.com/docs/sendgrid, tracking-events/event): ECDSA P-256 over timestamp and raw body.
import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import type { Account, Happening, Webhook } from "../contract.ts";

export const webhook: Webhook = {
  secret: (account) => keyPair(account).publicKey,
  notices: {
    accepted: (at) => event(at, "processed", { "smtp-id": `<${at.mail.id}@geopod-ismtpd-1>` }),
    delivered: (at) => event(at, "delivered", { response: "250 2.0.0 OK - pennymail sandbox", ip: "198.51.100.7", tls: 1 }),
    deferred: (at) => event(at, "deferred", { response: "451 4.7.1 Greylisting in action, please come back later", attempt: "1" }),
    bounced: (at) =>
      event(at, "bounce", {
        type: "bounce",
        status: "5.1.1",
        reason: "550 5.1.1 The email account that you tried to reach does not exist",
        bounce_classification: "Invalid Address",
        ip: "198.51.100.7",
        tls: 1,
      }),
    softbounced: (at) =>
      event(at, "bounce", {
        type: "blocked",
        status: "4.2.2",
        reason: "452 4.2.2 Mailbox full",
        bounce_classification: "Mailbox Unavailable",
      }),
    dropped: (at) => event(at, "dropped", { reason: "Bounced Address" }),
    opened: (at) => event(at, "open", { ...client, sg_content_type: "html", sg_machine_open: false }),
    clicked: (at) => event(at, "click", { ...client, url: at.url, url_offset: { index: 0, type: "html" } }),
    complained: (at) => event(at, "spamreport", {}),
    unsubscribed: (at) => event(at, "unsubscribe", {}),
  },
  perPost: 1000,
  pack(events, _hook, account) {
    const body = `[${events.map((one) => JSON.stringify(one)).join(",\r\n")}]\r\n`;
    return {
      body,
      headers: () => {
        const timestamp = String(clock.epochSeconds());
        return {
          "content-type": "application/json",
          "user-agent": "SendGrid Event API",
          "x-twilio-email-event-webhook-timestamp": timestamp,
          "x-twilio-email-event-webhook-signature": sign("sha256", Buffer.from(timestamp + body), {
            key: keyPair(account).privateKey,
            dsaEncoding: "der",
          }).toString("base64"),
        };
      },
    };
  },
  retries: () => true,
};

const client = { useragent: "Mozilla/5.0 (X11; Linux x86_64)", ip: "203.0.113.9" };

const event = ({ mail, at, id }: Happening, name: string, more: object) => ({
  email: mail.to.email,
  timestamp: clock.epochSeconds(at),
  event: name,
  ...(mail.tags.length && { category: mail.tags }),
  ...more,
  sg_event_id: createHash("sha256").update(id).digest("base64url").slice(0, 22),
  sg_message_id: `${mail.messageId}.recvd-5d8b9f7c-${mail.id}-1.0`,
  ...mail.metadata,
});

interface KeyPair {
  privateKey: KeyObject;
  /** base64 DER, as the console shows it */
  publicKey: string;
}

const keyPairs = new Map<string, KeyPair>();

/** The account's P-256 key; its number follows from the account, so it needs no storage. */
function keyPair(account: Account): KeyPair {
  const number = account.bytes("sendgrid webhook", 32);
  number[0]! &= 0x7f;
  const name = number.toString("base64");
  const pair = keyPairs.get(name) ?? made(number);
  if (keyPairs.size > 1000) keyPairs.clear();
  keyPairs.set(name, pair);
  return pair;
}

function made(number: Buffer): KeyPair {
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(number);
  const point = curve.getPublicKey();
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), number].map((part) => part.toString("base64url")) as [
    string,
    string,
    string,
  ];
  const spkiHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
  return {
    privateKey: createPrivateKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y, d } }),
    publicKey: Buffer.concat([spkiHead, point]).toString("base64"),
  };
}
