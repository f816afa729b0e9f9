// A receiver of provider webhooks, for tests of the sandbox: it records requests and verifies them
// as each provider documents, with code that is independent of the service.
import { createHmac, createPublicKey, verify, X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { snsStringToSign } from "./signed-provider-webhooks.ts";

export interface ReceivedWebhook {
  url: URL;
  headers: Record<string, string>;
  body: string;
}

export interface WebhookReceiver {
  origin: string;
  received: ReceivedWebhook[];
  /** Statuses of the responses in order. The last one repeats. */
  answers: number[];
  close(): Promise<void>;
}

export async function startWebhookReceiver(
  onReceived: (webhook: ReceivedWebhook) => Promise<void> = async () => {},
): Promise<WebhookReceiver> {
  const state: WebhookReceiver = {
    origin: "",
    received: [],
    answers: [200],
    close: async () => {},
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const one = {
      url: new URL(request.url!, state.origin),
      headers: request.headers as Record<string, string>,
      body,
    };
    state.received.push(one);
    const status = state.answers.length > 1 ? state.answers.shift()! : state.answers[0]!;
    response.writeHead(status).end();
    if (status === 200) await onReceived(one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return state;
}

/** The fields in which providers name the type of an event. */
interface RawProviderEvent {
  event?: string;
  eventType?: string;
  type?: string;
  RecordType?: string;
  Type?: string;
  severity?: string;
  reason?: string;
  bounce_class?: string;
  hard_bounce?: boolean;
  error?: string;
  bounce?: string | { bounceType: string };
  data?: { bounce?: { type: string } };
}

/** Reads the events of a request. */
export const readEvents: Record<string, (webhook: ReceivedWebhook) => RawProviderEvent[]> = {
  sendgrid: ({ body }) => JSON.parse(body),
  ses: ({ body }) =>
    JSON.parse(body).Type === "Notification" ? [JSON.parse(JSON.parse(body).Message)] : [],
  postmark: ({ body }) => [JSON.parse(body)],
  mailgun: ({ body }) => [JSON.parse(body)["event-data"]],
  sparkpost: ({ body }) =>
    JSON.parse(body).map(({ msys }: { msys: object }) => Object.values(msys)[0]),
  brevo: ({ body }) => [JSON.parse(body)],
  mailjet: ({ body }) => JSON.parse(body),
  mandrill: ({ body }) => JSON.parse(new URLSearchParams(body).get("mandrill_events")!),
  resend: ({ body }) => [JSON.parse(body)],
  smtp2go: ({ body }) => [JSON.parse(body)],
};

/** The provider's name of an event, with the kind of a bounce. */
export const eventName: Record<string, (event: RawProviderEvent) => string> = {
  sendgrid: ({ event, type }) => joinWords(event, type),
  ses: ({ eventType, bounce }) =>
    joinWords(eventType, typeof bounce === "object" ? bounce.bounceType : undefined),
  postmark: ({ RecordType, Type }) => joinWords(RecordType, Type),
  mailgun: ({ event, severity, reason }) => joinWords(event, severity, reason),
  sparkpost: ({ type, bounce_class }) => joinWords(type, bounce_class),
  brevo: ({ event }) => joinWords(event),
  mailjet: ({ event, hard_bounce, error }) => joinWords(event, hard_bounce, error),
  mandrill: ({ event }) => joinWords(event),
  resend: ({ type, data }) => joinWords(type, data?.bounce?.type),
  smtp2go: ({ event, bounce }) => joinWords(event, typeof bounce === "string" ? bounce : undefined),
};

const joinWords = (...parts: unknown[]): string => parts.filter(Boolean).join(" ");

const bySecret = ({ url }: ReceivedWebhook, secret: string) =>
  url.searchParams.get("secret") === secret;

/** Verifies a request by the provider's rules. */
export const isGenuine: Record<
  string,
  (webhook: ReceivedWebhook, secret: string, snsUrl: string) => boolean | Promise<boolean>
> = {
  sendgrid: ({ headers, body }, secret) => {
    const key = createPublicKey({
      key: Buffer.from(secret, "base64"),
      format: "der",
      type: "spki",
    });
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"]!;
    const signature = Buffer.from(headers["x-twilio-email-event-webhook-signature"]!, "base64");
    return verify(
      "sha256",
      Buffer.concat([Buffer.from(timestamp), Buffer.from(body)]),
      { key, dsaEncoding: "der" },
      signature,
    );
  },
  ses: async (webhook, secret, snsUrl) => {
    const message = JSON.parse(webhook.body) as Record<string, string>;
    const url = new URL(message.SigningCertURL!);
    if (
      !/^sns\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com$/.test(url.host) ||
      !/^\/SimpleNotificationService-[0-9a-f]+\.pem$/.test(url.pathname)
    )
      return false;
    const certificate = new X509Certificate(await (await fetch(snsUrl + url.pathname)).text());
    const isValid = verify(
      message.SignatureVersion === "1" ? "sha1" : "sha256",
      Buffer.from(snsStringToSign(message)),
      certificate.publicKey,
      Buffer.from(message.Signature!, "base64"),
    );
    return (
      isValid &&
      new Date(certificate.validTo) > new Date() &&
      new Date(certificate.validFrom) < new Date() &&
      bySecret(webhook, secret)
    );
  },
  mailgun: ({ body }, secret) => {
    const { timestamp, token, signature } = JSON.parse(body).signature;
    return (
      createHmac("sha256", secret)
        .update(timestamp + token)
        .digest("hex") === signature
    );
  },
  sparkpost: ({ headers }, secret) => headers["x-messagesystems-webhook-token"] === secret,
  mandrill: ({ url, headers, body }, secret) => {
    const fields = [...new URLSearchParams(body)].sort().map(([name, value]) => name + value);
    return (
      createHmac("sha1", secret)
        .update(url.href + fields.join(""))
        .digest("base64") === headers["x-mandrill-signature"]
    );
  },
  resend: ({ headers, body }, secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const expected = createHmac("sha256", key)
      .update(`${headers["svix-id"]}.${headers["svix-timestamp"]}.${body}`)
      .digest("base64");
    const age = Math.abs(Date.now() / 1000 - Number(headers["svix-timestamp"]));
    return age < 300 && headers["svix-signature"]!.split(" ").includes(`v1,${expected}`);
  },
  postmark: bySecret,
  brevo: bySecret,
  mailjet: bySecret,
  smtp2go: bySecret,
};
