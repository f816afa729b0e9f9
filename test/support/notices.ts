// Webhook calls as each provider makes them, signed with throw-away keys, for tests of how they are proven and read.
import { createHash, createHmac, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Notice, ProviderEvent } from "../../shared/providers/inbound/inbound.ts";

export interface Sample {
  name?: string;
  contentType?: string;
  body: unknown;
  expect: Record<string, unknown>[];
}

/** Every fixture has its own shape. */
export const fixture = (key: string, file: "samples" | "vectors") =>
  JSON.parse(readFileSync(new URL(`../fixtures/providers/${key}/${file}.json`, import.meta.url), "utf8"));

export const samplesOf = (key: string): Sample[] => fixture(key, "samples");

export const now = new Date("2026-12-01T12:00:00Z");

const sendgrid = fixture("sendgrid", "vectors");
const { sns } = fixture("ses", "vectors");

export const certificate = async (url: string): Promise<string> => {
  if (url !== sns.certificateUrl) throw new Error("There is no such certificate");
  return sns.certificatePem;
};

export const secrets: Record<string, string> = {
  sendgrid: sendgrid.cases[0].webhookSecret,
  ses: "a secret in the URL",
  postmark: "a secret in the URL",
  mailgun: "a signing key of ours",
  sparkpost: "a token of ours",
  brevo: "a secret in the URL",
  mailjet: "a secret in the URL",
  mandrill: "webhook_Key-1",
  resend: `whsec_${Buffer.from("a key of its own").toString("base64")}`,
  smtp2go: "a secret in the URL",
};

export const noticeFor = (key: string, changes: Partial<Notice>): Notice => ({
  headers: {},
  rawBody: Buffer.alloc(0),
  url: `https://mail.example.com/api/v1/webhooks/${key}?config_id=7`,
  querySecret: undefined,
  ...changes,
});

const seconds = (at: Date) => String(Math.floor(at.getTime() / 1000));
const form = "application/x-www-form-urlencoded";

const withSecret = (key: string) => (body: unknown, _at: Date, contentType?: string) =>
  noticeFor(key, {
    headers: { "content-type": contentType ?? "application/json" },
    rawBody: Buffer.from(contentType === form ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body)),
    querySecret: secrets[key],
  });

/** SNS signs what its documentation lists; the envelope's own fields stay as they are, but for the signature. */
export function snsNotice(message: Record<string, string>, querySecret = secrets.ses): Notice {
  const { UnsubscribeURL: _, ...rest } = message;
  const unsigned: Record<string, string> = { ...rest, SignatureVersion: "2", SigningCertURL: sns.certificateUrl };
  const names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names.flatMap((name) => (unsigned[name] === undefined ? [] : [`${name}\n${unsigned[name]}\n`])).join("");
  const signature = sign("sha256", Buffer.from(text), sns.testPrivateKeyPem).toString("base64");
  return noticeFor("ses", {
    headers: { "x-amz-sns-message-type": unsigned.Type, "x-amz-sns-message-id": unsigned.MessageId },
    rawBody: Buffer.from(JSON.stringify({ ...unsigned, Signature: signature })),
    querySecret,
  });
}

export function mandrillNotice(mandrillEvents: string, key = secrets.mandrill!): Notice {
  const notice = noticeFor("mandrill", { rawBody: Buffer.from(new URLSearchParams({ mandrill_events: mandrillEvents }).toString()) });
  return { ...notice, headers: { "content-type": form, ...mandrillSignature(notice.url, notice.rawBody.toString(), key) } };
}

/** It covers the URL, as the customer entered it there, and the form's fields. */
export function mandrillSignature(url: string, body: string, key: string): Record<string, string> {
  const fields = [...new URLSearchParams(body)].sort().flat().join("");
  return { "x-mandrill-signature": createHmac("sha1", key).update(`${url}${fields}`).digest("base64") };
}

export function resendNotice(body: string, at: Date, secret = secrets.resend!): Notice {
  const id = `msg_${createHash("md5").update(body).digest("hex")}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${id}.${seconds(at)}.${body}`)
    .digest("base64");
  const headers = { "svix-id": id, "svix-timestamp": seconds(at), "svix-signature": `v1,${signature}` };
  return noticeFor("resend", { headers, rawBody: Buffer.from(body) });
}

export function mailgunNotice(body: unknown, at: Date, secret = secrets.mailgun!): Notice {
  const { token } = (body as { signature: { token: string } }).signature;
  const signature = createHmac("sha256", secret)
    .update(seconds(at) + token)
    .digest("hex");
  const block = { timestamp: seconds(at), token, signature };
  return noticeFor("mailgun", { rawBody: Buffer.from(JSON.stringify({ ...(body as object), signature: block })) });
}

type Call = (body: unknown, at: Date, contentType?: string) => Notice;

/** A genuine call with this body, made at that time. */
export const calls: Record<string, Call> = {
  sendgrid: (body, at) => {
    const rawBody = Buffer.from(JSON.stringify(body));
    const signature = sign("sha256", Buffer.concat([Buffer.from(seconds(at)), rawBody]), sendgrid.testPrivateKeyPem).toString("base64");
    const headers = {
      "x-twilio-email-event-webhook-timestamp": seconds(at),
      "x-twilio-email-event-webhook-signature": signature,
    };
    return noticeFor("sendgrid", { headers, rawBody });
  },
  ses: (body) => snsNotice(body as Record<string, string>),
  postmark: withSecret("postmark"),
  mailgun: (body, at) => mailgunNotice(body, at),
  sparkpost: (body) =>
    noticeFor("sparkpost", {
      headers: { "x-messagesystems-webhook-token": secrets.sparkpost },
      rawBody: Buffer.from(JSON.stringify(body)),
    }),
  brevo: withSecret("brevo"),
  mailjet: withSecret("mailjet"),
  mandrill: (body) => mandrillNotice(JSON.stringify(body).replaceAll("/", "\\/")),
  resend: (body, at) => resendNotice(JSON.stringify(body), at),
  smtp2go: withSecret("smtp2go"),
};

/** An event in the flat form of the samples, without what they do not tell. */
export const flat = ({ data, ipAddress, automated: _, ...rest }: ProviderEvent) => ({
  ...rest,
  ...data,
  ...(ipAddress && { ip: ipAddress }),
});
