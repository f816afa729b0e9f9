// Amazon SES, API v2 SendEmail, signed by Signature V4: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
//
// It has no `batch`: SendBulkEmail takes Handlebars templates only, renders them after it has answered, and counts each
// recipient against the account's rate like a mail of its own, so nothing would be gained for what could go wrong.
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { domainToASCII } from "node:url";
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod";
import * as clock from "../clock.ts";
import { asciiMailbox } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailbox, type Mailing, type Provider } from "./provider.ts";

const Credentials = z.object({
  accessKeyId: credentials.token("Access key id of an IAM user that may ses:SendEmail"),
  secretAccessKey: credentials.token("Secret access key of that user"),
  sessionToken: credentials.token("").optional().describe("Session token, with temporary keys only"),
  // It becomes part of the host name, so nothing else may pass.
  region: z
    .string()
    .trim()
    .regex(/^[a-z]{2}(-[a-z]{2,12}){1,2}-\d$/, "Must be an AWS region such as us-east-1")
    .describe("AWS region of the verified identity, such as us-east-1"),
  configurationSet: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "Must be 1 to 64 letters, digits, underscores or hyphens")
    .optional()
    .describe("Configuration set whose SNS destination reports events; without one no event names its send"),
});

export const ses: Provider<typeof Credentials> = {
  key: "ses",
  name: "Amazon SES",
  credentials: Credentials,
  webhookProof: "secret",
  // 40 MB for all of a mail, base64 counted: more than our own limit.
  maxAttachmentBytes: 25 * 1024 * 1024,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  async send({ mailing, credentials: keys }) {
    const { accessKeyId, secretAccessKey, sessionToken = "" } = keys;
    const body = JSON.stringify(message(mailing, keys.configurationSet));
    const url = `https://email.${keys.region}.amazonaws.com${keys.region.startsWith("cn-") ? ".cn" : ""}/v2/email/outbound-emails`;
    return exchange(
      ses,
      mailing,
      { url, headers: await signed(url, body, keys, clock.now()), body, secrets: [secretAccessKey, accessKeyId, sessionToken] },
      {
        accepted: ({ status, json }) =>
          status === 200 ? { status: "accepted", messageId: Sent.safeParse(json).data?.MessageId } : undefined,
        words: ({ json }) => Problem.safeParse(json).data?.message ?? Problem.safeParse(json).data?.Message,
        verdict,
        retryAfterSeconds: (_, words) => (dailyQuota.test(words) ? 3600 : undefined),
      },
    );
  },
};

const Sent = z.object({ MessageId: z.string() });
const Problem = z.object({ message: z.string().optional(), Message: z.string().optional() });

/** The headers to send along, for the real host: a host put in its place by settings gets the same signature. */
export async function signed(url: string, body: string, keys: z.output<typeof Credentials>, at: Date): Promise<Record<string, string>> {
  const { hostname, pathname } = new URL(url);
  const signer = new SignatureV4({
    service: "ses",
    region: keys.region,
    credentials: {
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken && { sessionToken: keys.sessionToken }),
    },
    sha256: Sha256,
  });
  const headers = { host: hostname, "content-type": "application/json" };
  const request = await signer.sign({ method: "POST", protocol: "https:", hostname, path: pathname, headers, body }, { signingDate: at });
  const { host: _, ...rest } = request.headers;
  return rest;
}

/** Hashing as the signer wants it. */
class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytes(secret));
  }
  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytes(chunk));
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

const bytes = (data: string | ArrayBuffer | ArrayBufferView): Buffer | string =>
  typeof data === "string"
    ? data
    : ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data);

function message(mailing: Mailing, configurationSet: string | undefined): object {
  const recipient = mailing.recipients[0]!;
  const bcc = bccOf(mailing, recipient);
  const utf8 = (Data: string) => ({ Data, Charset: "UTF-8" });
  return {
    FromEmailAddress: address(mailing.from),
    Destination: { ToAddresses: [address(recipient.to)], ...(bcc && { BccAddresses: [address({ email: bcc })] }) },
    ...(mailing.replyTo && { ReplyToAddresses: [address({ email: mailing.replyTo })] }),
    ...(configurationSet && { ConfigurationSetName: configurationSet }),
    EmailTags: [{ Name: "sendId", Value: String(recipient.sendId) }, ...mailing.tags.slice(0, 10).map(tag)],
    ...tracking(mailing),
    Content: {
      Simple: {
        Subject: utf8(filled(mailing.subject, recipient)),
        Body: {
          ...(mailing.text && { Text: utf8(filled(mailing.text, recipient)) }),
          ...(mailing.html && { Html: utf8(filled(mailing.html, recipient)) }),
        },
        Headers: Object.entries(headersOf(mailing, recipient)).map(([Name, Value]) => ({ Name, Value })),
        ...(mailing.attachments.length > 0 && { Attachments: attachments(mailing) }),
      },
    },
  };
}

/** Names as encoded words and domains in punycode: SES takes ASCII only. */
const address = ({ email, name }: Mailbox): string => {
  const at = email.lastIndexOf("@");
  return asciiMailbox({ email: `${email.slice(0, at)}@${domainToASCII(email.slice(at + 1)) || email.slice(at + 1)}`, name });
};

/** A tag here is a name with a value, both of a small alphabet. */
const tag = (value: string, n: number) => ({ Name: `tag${n + 1}`, Value: value.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 256) });

const tracking = ({ trackOpens, trackClicks }: Mailing): object => {
  const state = (on: boolean): string => (on ? "ENABLED" : "DISABLED");
  const wishes = {
    ...(trackOpens !== undefined && { OpenTrackingEnabled: state(trackOpens) }),
    ...(trackClicks !== undefined && { ClickTrackingEnabled: state(trackClicks) }),
  };
  return Object.keys(wishes).length > 0 ? { ConfigurationOverrides: { Tracking: wishes } } : {};
};

const attachments = (mailing: Mailing): object[] =>
  mailing.attachments.map(({ filename, type, content }) => ({
    FileName: filename,
    ContentType: type,
    ContentDisposition: "ATTACHMENT",
    ContentTransferEncoding: "BASE64",
    RawContent: content,
  }));

const dailyQuota = /daily message quota/i;

const verdicts: Record<string, Verdict> = {
  AccountSuspendedException: "config",
  SendingPausedException: "config",
  MailFromDomainNotVerifiedException: "config",
  // The configuration set is what a mail without template can lack.
  NotFoundException: "config",
  LimitExceededException: "pace",
  TooManyRequestsException: "pace",
  ThrottlingException: "pace",
};

/** The error's name is in a header, sometimes with a URL after a colon. */
const verdict = ({ headers }: Answer, words: string): Verdict | undefined =>
  /is not verified/i.test(words) ? "config" : verdicts[headers.get("x-amzn-errortype")?.split(":")[0] ?? ""];
