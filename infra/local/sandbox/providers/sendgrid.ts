// SendGrid Mail Send v3 (twilio.com/docs/sendgrid, mail-send), and its event webhook, signed with
// ECDSA P-256.
import {
  createECDH,
  createHash,
  createPrivateKey,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { sendgridAccountRoutes } from "../account-apis/sendgrid.ts";
import { replaceLiterally } from "../merge-syntax.ts";
import {
  acceptByTime,
  bearerToken,
  checkMail,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  NamedAddress,
  notSupported,
  ok,
  parseBody,
  readTime,
  refuse,
  stringRecord,
  toAcceptedMails,
  unsupported,
} from "../request-reader.ts";
import { queryOf, searchSent } from "../search.ts";
import type {
  CapturedContent,
  SandboxAccount,
  SandboxCall,
  SandboxProvider,
  SandboxResponse,
  WebhookProfile,
} from "../types.ts";
import { jsonPost } from "../webhook-format.ts";

const Addresses = z.array(NamedAddress).min(1).max(1000);
const Switch = z.object({ enable: z.boolean().optional() });
const SendGridPersonalization = z.strictObject({
  dynamic_template_data: unsupported,
  to: Addresses,
  cc: Addresses.optional(),
  bcc: Addresses.optional(),
  send_at: z.int().optional(),
  from: NamedAddress.optional(),
  subject: z.string().optional(),
  headers: stringRecord.optional(),
  custom_args: stringRecord.optional(),
  substitutions: stringRecord.optional(),
});
const SendGridBody = z.strictObject({
  template_id: unsupported,
  from: NamedAddress,
  reply_to: NamedAddress.optional(),
  reply_to_list: Addresses.optional(),
  subject: z.string().optional(),
  personalizations: z.array(SendGridPersonalization).min(1).max(1000),
  content: z.array(z.object({ type: z.string(), value: z.string().min(1) })).min(1),
  headers: stringRecord.optional(),
  custom_args: stringRecord.optional(),
  categories: z.array(z.string().max(255)).max(10).optional(),
  send_at: z.int().optional(),
  batch_id: z.string().optional(),
  ip_pool_name: z.string().optional(),
  asm: z.unknown().optional(),
  attachments: z
    .array(
      z.object({
        content: z.string(),
        filename: z.string(),
        type: z.string().optional(),
        disposition: z.enum(["attachment", "inline"]).default("attachment"),
        content_id: z.string().optional(),
      }),
    )
    .optional(),
  tracking_settings: z
    .looseObject({ click_tracking: Switch.optional(), open_tracking: Switch.optional() })
    .optional(),
  mail_settings: z.object({ bcc: unsupported, sandbox_mode: Switch.optional() }).optional(),
});
type SendGridBody = z.output<typeof SendGridBody>;
type SendGridPersonalization = z.output<typeof SendGridPersonalization>;

/** `place` is the path of the personalization. Any fault refuses the whole call. */
const rulesFor = (place: string): MailRules => ({
  maxRecipients: 1000,
  refusedFor: "invalid or rejected",
  needsSubject: true,
  maxScheduleDays: 3,
  reservedHeaders: headerNames(
    "x-sg-id x-sg-eid received dkim-signature content-type content-transfer-encoding to from " +
      "subject reply-to cc bcc",
  ),
  toResponse(fault, detail, index) {
    const [message, field] = faults[fault](detail, index, place);
    return errorResponse(fault === "unverifiedSender" ? 403 : 400, message, field);
  },
});

const faults: Record<
  MailFault,
  (detail: string, index: number, place: string) => [message: string, field: string]
> = {
  sender: () => ["The from email does not contain a valid address.", "from.email"],
  unverifiedSender: () => [unverifiedMessage, "from"],
  recipient: (_, index, place) => [
    "Does not contain a valid address.",
    `${place}.to.${index}.email`,
  ],
  recipientCount: () => ["There are more than 1000 recipients.", "personalizations"],
  noContent: () => ["The content types must be text/plain, then text/html.", "content"],
  subject: (detail) => [`The subject is required and valid: it ${detail}.`, "subject"],
  header: (detail, _, place) => [detail, `${place}.headers`],
  attachment: (_, index) => [
    "The attachment content must be base64 encoded.",
    `attachments.${index}.content`,
  ],
  time: () => ["The send_at is more than 72 hours in the future.", "send_at"],
};
const unverifiedMessage =
  "The from address does not match a verified Sender Identity. Mail cannot be sent until " +
  "this error is resolved. Visit " +
  "https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender " +
  "Identity requirements";

const webhook: WebhookProfile = {
  deriveSecret: (account) => keyPair(account).publicKey,
  events: {
    accepted: ["processed", ({ mail }) => ({ "smtp-id": `<${mail.id}@geopod-ismtpd-1>` })],
    delivered: [
      "delivered",
      () => ({ response: "250 2.0.0 OK - pennymail sandbox", ip: "198.51.100.7", tls: 1 }),
    ],
    deferred: [
      "deferred",
      () => ({
        response: "451 4.7.1 Greylisting in action, please come back later",
        attempt: "1",
      }),
    ],
    bounced: [
      "bounce",
      () => ({
        type: "bounce",
        status: "5.1.1",
        reason: "550 5.1.1 The email account that you tried to reach does not exist",
        bounce_classification: "Invalid Address",
        ip: "198.51.100.7",
        tls: 1,
      }),
    ],
    softbounced: [
      "bounce",
      () => ({
        type: "blocked",
        status: "4.2.2",
        reason: "452 4.2.2 Mailbox full",
        bounce_classification: "Mailbox Unavailable",
      }),
    ],
    dropped: ["dropped", () => ({ reason: "Bounced Address" })],
    opened: ["open", () => ({ ...clientFields, sg_content_type: "html", sg_machine_open: false })],
    clicked: [
      "click",
      ({ url }) => ({ ...clientFields, url, url_offset: { index: 0, type: "html" } }),
    ],
    complained: ["spamreport"],
    unsubscribed: ["unsubscribe"],
  },
  toEvent: ({ mail, at, id }, name, fields) => ({
    email: mail.to.email,
    timestamp: clock.epochSeconds(at),
    event: name,
    ...(mail.tags.length && { category: mail.tags }),
    ...fields,
    sg_event_id: createHash("sha256").update(id).digest("base64url").slice(0, 22),
    sg_message_id: `${mail.messageId}.recvd-5d8b9f7c-${mail.id}-1.0`,
    ...mail.metadata,
  }),
  eventsPerPost: 1000,
  buildPost(events, _target, account) {
    const body = `[${events.map((event) => JSON.stringify(event)).join(",\r\n")}]\r\n`;
    return jsonPost(body, () => {
      const timestamp = String(clock.epochSeconds());
      const signature = sign("sha256", Buffer.from(timestamp + body), {
        key: keyPair(account).privateKey,
        dsaEncoding: "der",
      });
      return {
        "user-agent": "SendGrid Event API",
        "x-twilio-email-event-webhook-timestamp": timestamp,
        "x-twilio-email-event-webhook-signature": signature.toString("base64"),
      };
    });
  },
};

const clientFields = { useragent: "Mozilla/5.0 (X11; Linux x86_64)", ip: "203.0.113.9" };

export const sendgrid: SandboxProvider = {
  key: "sendgrid",
  name: "SendGrid",
  accountIdPattern: /^SG\.([0-9a-f]{16})/,
  credentials({ id, deriveHex, deriveBytes }) {
    const secret = deriveBytes("sendgrid key secret", 32).toString("base64url");
    return { apiKey: `SG.${id}${deriveHex("sendgrid key", 6)}.${secret}` };
  },
  readKey: bearerToken,
  routes: {
    "POST /v3/mail/send": send,
    "GET /v3/messages": searchActivity,
    "POST /v3/mail/batch": () => ({
      status: 201,
      body: { batch_id: randomBytes(24).toString("base64url") },
    }),
    "POST /v3/user/scheduled_sends": cancelScheduled,
    ...sendgridAccountRoutes((account) => keyPair(account).publicKey),
    "GET /v3/scopes": ok({ scopes: ["mail.send", "sender_verification_eligible"] }),
  },
  maxBytes: 30 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(
      401,
      "The provided authorization grant is invalid, expired, or revoked",
      null,
    ),
    notFound: (what) => errorResponse(404, `not found: ${what}`, null),
    malformed: errorResponse(400, "Bad Request", null),
    tooLarge: {
      status: 413,
      headers: { "content-type": "text/html" },
      body: "<html><body><h1>413 Request Entity Too Large</h1></body></html>",
    },
    rateLimited: () => ({
      ...errorResponse(429, "too many requests", null),
      headers: {
        "x-ratelimit-limit": "600",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(clock.epochSeconds() + 1),
      },
    }),
    outage: errorResponse(503, "Internal Server Error", null),
  },
  webhook,
};

/** Understands the query for a custom argument only. */
function searchActivity(call: SandboxCall): SandboxResponse {
  const query = queryOf(call).get("query") ?? "";
  const [, name = "", value] = /^unique_args\['(\w+)'\]="([^"]*)"$/.exec(query) ?? [];
  const found = searchSent(call, 30, ({ metadata }) => metadata[name] === value);
  const messages = found.map((mail) => ({
    from_email: mail.from.email,
    msg_id: `${mail.messageId}.recvd-pennymail-1.0`,
    to_email: mail.to.email,
    status: "processed",
    last_event_time: mail.at.toISOString(),
  }));
  return ok({ messages });
}

function send(call: SandboxCall): SandboxResponse {
  const body = parseBody(SendGridBody, call.json(), (path, message) =>
    errorResponse(400, message, path),
  );
  const content = contentOf(body);
  const mails = body.personalizations.map((one) => toMailInput(body, one, content));
  for (const [index, mail] of mails.entries()) {
    checkMail(mail, rulesFor(`personalizations.${index}`), call);
    checkUnique(mail, index);
  }
  const messageId = randomBytes(16).toString("base64url");
  const headers = { "x-message-id": messageId };
  if (body.mail_settings?.sandbox_mode?.enable) return { status: 200, headers };
  acceptByTime(
    mails.map((mail) => ({ drafts: toAcceptedMails(mail, messageId), due: mail.due })),
    call,
    body.batch_id,
  );
  return { status: 202, headers };
}

function contentOf({ content, subject = "", attachments = [] }: SendGridBody): CapturedContent {
  if (!/^(text\/plain)? ?(text\/html)?$/.test(content.map(({ type }) => type).join(" ")))
    refuse(errorResponse(400, ...faults.noContent("", 0, "")));
  const part = (type: string) => content.find((one) => one.type === type)?.value;
  return {
    subject,
    html: part("text/html"),
    text: part("text/plain"),
    attachments: attachments.map(
      ({ filename, type = "application/octet-stream", content, disposition, content_id }) => ({
        filename,
        type,
        content,
        ...(disposition === "inline" && { contentId: content_id }),
      }),
    ),
  };
}

function toMailInput(
  body: SendGridBody,
  personalization: SendGridPersonalization,
  content: CapturedContent,
): MailInput {
  const { to, cc, bcc, from = body.from, subject, substitutions = {} } = personalization;
  const { click_tracking, open_tracking } = body.tracking_settings ?? {};
  const replyTo = (body.reply_to_list ?? [body.reply_to]).flatMap((one) => one?.email ?? []);
  return {
    from,
    to,
    cc,
    bcc,
    replyTo: replyTo.join(", ") || undefined,
    content: subject === undefined ? content : { ...content, subject },
    fill: replaceLiterally(substitutions),
    headers: { ...body.headers, ...personalization.headers },
    tags: body.categories ?? [],
    metadata: { ...body.custom_args, ...personalization.custom_args },
    tracksOpens: open_tracking?.enable ?? true,
    tracksClicks: click_tracking?.enable ?? true,
    due: readTime(personalization.send_at ?? body.send_at),
  };
}

function checkUnique({ to, cc = [], bcc = [] }: MailInput, index: number): void {
  const emails = [...to, ...cc, ...bcc].map(({ email }) => email.toLowerCase());
  const message =
    "Each email address in the personalization block should be unique between to, cc, and bcc.";
  if (new Set(emails).size < emails.length)
    refuse(errorResponse(400, message, `personalizations.${index}`));
}

const Cancellation = z.object({ batch_id: z.string(), status: z.enum(["cancel", "pause"]) });

function cancelScheduled(call: SandboxCall): SandboxResponse {
  const body = parseBody(Cancellation, call.json(), (path, message) =>
    errorResponse(400, message, path),
  );
  if (body.status === "pause") return errorResponse(400, `pause ${notSupported}`, "status");
  call.cancel(body.batch_id);
  return { status: 201, body };
}

function errorResponse(status: number, message: string, field: string | null): SandboxResponse {
  return { status, body: { errors: [{ message, field, help: null }] } };
}

interface KeyPair {
  privateKey: KeyObject;
  /** base64 DER, as SendGrid's console shows it */
  publicKey: string;
}

const keyPairs = new Map<string, KeyPair>();

/**
 * The P-256 key that signs an account's events. It follows from the account, so it needs no
 * storage.
 */
function keyPair(account: SandboxAccount): KeyPair {
  const number = account.deriveBytes("sendgrid webhook", 32);
  number[0]! &= 0x7f;
  const name = number.toString("base64");
  const pair = keyPairs.get(name) ?? createKeyPair(number);
  if (keyPairs.size > 1000) keyPairs.clear();
  keyPairs.set(name, pair);
  return pair;
}

function createKeyPair(number: Buffer): KeyPair {
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(number);
  const point = curve.getPublicKey();
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), number].map((part) =>
    part.toString("base64url"),
  ) as [string, string, string];
  const spkiHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
  return {
    privateKey: createPrivateKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y, d } }),
    publicKey: Buffer.concat([spkiHead, point]).toString("base64"),
  };
}
