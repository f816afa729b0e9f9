// Webhook requests in the format of each provider, signed with test keys.
import { createHash, createHmac, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type {
  InboundRequest,
  ProviderEvent,
} from "../../shared/providers/inbound/inbound-adapter.ts";

export interface WebhookSample {
  name?: string;
  contentType?: string;
  body: unknown;
  expect: Record<string, unknown>[];
}

/** Reads a fixture. Each provider's fixtures have their own shape. */
export const readFixture = (key: string, file: "samples" | "vectors") =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/providers/${key}/${file}.json`, import.meta.url), "utf8"),
  );

export const readSamples = (key: string): WebhookSample[] => readFixture(key, "samples");

export const sampleTime = new Date("2026-12-01T12:00:00Z");

const sendgrid = readFixture("sendgrid", "vectors");
const { sns } = readFixture("ses", "vectors");

export const fetchSampleCertificate = async (url: string): Promise<string> => {
  if (url !== sns.certificateUrl) throw new Error("There is no such certificate");
  return sns.certificatePem;
};

export const webhookSecrets: Record<string, string> = {
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

export const createNotice = (key: string, changes: Partial<InboundRequest>): InboundRequest => ({
  headers: {},
  rawBody: Buffer.alloc(0),
  url: `https://mail.example.com/api/v1/webhooks/${key}?config_id=7`,
  querySecret: undefined,
  ...changes,
});

const seconds = (at: Date) => String(Math.floor(at.getTime() / 1000));
const form = "application/x-www-form-urlencoded";

const noticeWithUrlSecret = (key: string) => (body: unknown, _at: Date, contentType?: string) =>
  createNotice(key, {
    headers: { "content-type": contentType ?? "application/json" },
    rawBody: Buffer.from(
      contentType === form
        ? new URLSearchParams(body as Record<string, string>).toString()
        : JSON.stringify(body),
    ),
    querySecret: webhookSecrets[key],
  });

const snsSignedFields = [
  "Message",
  "MessageId",
  "Subject",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
];

/** The text that SNS signs, as its documentation defines it. Garbage in a field is left out. */
export const snsStringToSign = (message: Record<string, unknown>): string =>
  snsSignedFields
    .flatMap((name) => (typeof message[name] === "string" ? [`${name}\n${message[name]}\n`] : []))
    .join("");

/** Signs the message and keeps its other fields. */
export function signSnsNotice(
  message: Record<string, string>,
  querySecret = webhookSecrets.ses,
): InboundRequest {
  const { UnsubscribeURL: _, ...rest } = message;
  const unsigned: Record<string, string> = {
    ...rest,
    SignatureVersion: "2",
    SigningCertURL: sns.certificateUrl,
  };
  const text = snsStringToSign(unsigned);
  const signature = sign("sha256", Buffer.from(text), sns.testPrivateKeyPem).toString("base64");
  return createNotice("ses", {
    headers: {
      "x-amz-sns-message-type": unsigned.Type,
      "x-amz-sns-message-id": unsigned.MessageId,
    },
    rawBody: Buffer.from(JSON.stringify({ ...unsigned, Signature: signature })),
    querySecret,
  });
}

export function signMandrillNotice(
  mandrillEvents: string,
  key = webhookSecrets.mandrill!,
): InboundRequest {
  const notice = createNotice("mandrill", {
    rawBody: Buffer.from(new URLSearchParams({ mandrill_events: mandrillEvents }).toString()),
  });
  return {
    ...notice,
    headers: {
      "content-type": form,
      ...mandrillSignatureHeader(notice.url, notice.rawBody.toString(), key),
    },
  };
}

/** Signs the URL that the customer entered at Mandrill, and the fields of the form. */
export function mandrillSignatureHeader(
  url: string,
  body: string,
  key: string,
): Record<string, string> {
  const fields = [...new URLSearchParams(body)].sort().flat().join("");
  return {
    "x-mandrill-signature": createHmac("sha1", key).update(`${url}${fields}`).digest("base64"),
  };
}

export function signResendNotice(
  body: string,
  at: Date,
  secret = webhookSecrets.resend!,
): InboundRequest {
  const id = `msg_${createHash("md5").update(body).digest("hex")}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${id}.${seconds(at)}.${body}`)
    .digest("base64");
  const headers = {
    "svix-id": id,
    "svix-timestamp": seconds(at),
    "svix-signature": `v1,${signature}`,
  };
  return createNotice("resend", { headers, rawBody: Buffer.from(body) });
}

export function signMailgunNotice(
  body: unknown,
  at: Date,
  secret = webhookSecrets.mailgun!,
): InboundRequest {
  const { token } = (body as { signature: { token: string } }).signature;
  const signature = createHmac("sha256", secret)
    .update(seconds(at) + token)
    .digest("hex");
  const block = { timestamp: seconds(at), token, signature };
  return createNotice("mailgun", {
    rawBody: Buffer.from(JSON.stringify({ ...(body as object), signature: block })),
  });
}

type SignedCall = (body: unknown, at: Date, contentType?: string) => InboundRequest;

/** Signs a request with this body, as if it was made at that time. */
export const signByProvider: Record<string, SignedCall> = {
  sendgrid: (body, at) => {
    const rawBody = Buffer.from(JSON.stringify(body));
    const signature = sign(
      "sha256",
      Buffer.concat([Buffer.from(seconds(at)), rawBody]),
      sendgrid.testPrivateKeyPem,
    ).toString("base64");
    const headers = {
      "x-twilio-email-event-webhook-timestamp": seconds(at),
      "x-twilio-email-event-webhook-signature": signature,
    };
    return createNotice("sendgrid", { headers, rawBody });
  },
  ses: (body) => signSnsNotice(body as Record<string, string>),
  postmark: noticeWithUrlSecret("postmark"),
  mailgun: (body, at) => signMailgunNotice(body, at),
  sparkpost: (body) =>
    createNotice("sparkpost", {
      headers: { "x-messagesystems-webhook-token": webhookSecrets.sparkpost },
      rawBody: Buffer.from(JSON.stringify(body)),
    }),
  brevo: noticeWithUrlSecret("brevo"),
  mailjet: noticeWithUrlSecret("mailjet"),
  mandrill: (body) => signMandrillNotice(JSON.stringify(body).replaceAll("/", "\\/")),
  resend: (body, at) => signResendNotice(JSON.stringify(body), at),
  smtp2go: noticeWithUrlSecret("smtp2go"),
};

/** Converts an event to the flat shape of the samples, without fields that they do not have. */
export const toSampleShape = ({ data, ipAddress, automated: _, ...rest }: ProviderEvent) => ({
  ...rest,
  ...data,
  ...(ipAddress && { ip: ipAddress }),
});
