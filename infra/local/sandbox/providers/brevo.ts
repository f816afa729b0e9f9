// Brevo: POST /v3/smtp/email, single and with messageVersions
// (developers.brevo.com/reference/send-transac-email), and its transactional webhooks.
import { randomInt } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { endingOf } from "../../../../shared/providers/limits.ts";
import { traits } from "../../../../shared/providers/traits.ts";
import { brevoAccountRoutes } from "../account-apis/brevo.ts";
import { decodeEncodedWords } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { renderBrevoParams } from "../merge-syntax.ts";
import { timeDigits } from "../provider-ids.ts";
import {
  checkMail,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  NamedAddress,
  ok,
  parseBody,
  readTime,
  refuse,
  stringRecord,
  toAcceptedMails,
  unsupported,
} from "../request-reader.ts";
import { isTo, queryOf, searchSent } from "../search.ts";
import type {
  CapturedContent,
  Mailbox,
  SandboxCall,
  SandboxProvider,
  SandboxResponse,
  WebhookProfile,
} from "../types.ts";
import { jsonPost, querySecret } from "../webhook-format.ts";

const Address = NamedAddress.transform(
  ({ email, name }): Mailbox => (name ? { email, name: decodeEncodedWords(name) } : { email }),
);
const Addresses = z.array(Address).min(1).max(99);
/** Fields of the whole call, which each version can replace. */
const versionFields = {
  cc: Addresses.optional(),
  bcc: Addresses.optional(),
  replyTo: Address.optional(),
  subject: z.string().min(1).optional(),
  htmlContent: z.string().min(1).optional(),
  textContent: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  headers: stringRecord.optional(),
};
const BrevoVersion = z.object({ to: Addresses, ...versionFields });
const BrevoBody = z.object({
  templateId: unsupported,
  sender: Address,
  to: Addresses.optional(),
  ...versionFields,
  attachment: z.array(z.object({ name: z.string(), content: z.string() })).default([]),
  tags: z.array(z.string()).default([]),
  scheduledAt: z.string().optional(),
  batchId: z.string().optional(),
  messageVersions: z.array(BrevoVersion).min(1).max(1000).optional(),
});
type BrevoBody = z.output<typeof BrevoBody>;
type BrevoVersion = z.output<typeof BrevoVersion>;

/** Any fault refuses the whole call. */
const rules: MailRules = {
  maxRecipients: 297,
  refusedFor: "invalid or rejected",
  needsSubject: true,
  asciiHeaders: true,
  maxScheduleDays: 3,
  reservedHeaders: headerNames(
    "from to cc bcc subject reply-to content-type mime-version date message-id",
  ),
  toResponse: (fault, detail) => invalidParameter(faultMessages[fault](detail)),
};
const faultMessages: Record<MailFault, (detail: string) => string> = {
  sender: () => "valid sender email required",
  unverifiedSender: () =>
    "Sending has been rejected because the sender you used is not valid. Validate your " +
    "sender or authenticate your domain",
  recipient: () => "email is not valid in to",
  recipientCount: (detail) => detail,
  noContent: () => "htmlContent is missing",
  subject: (detail) => `subject ${detail}`,
  header: (detail) => detail,
  attachment: (name) => `attachment content of ${name} is not valid base64`,
  time: () => "scheduledAt is not a valid date within the next 72 hours",
};

const webhook: WebhookProfile = {
  deriveSecret: querySecret("brevo"),
  events: {
    accepted: ["request", () => ({ reason: "sent" })],
    delivered: ["delivered", () => ({ reason: "sent" })],
    deferred: [
      "deferred",
      () => ({ reason: "421-4.7.28 Our system has detected an unusual rate of unsolicited mail" }),
    ],
    bounced: [
      "hard_bounce",
      () => ({ reason: "550-5.1.1 The email account that you tried to reach does not exist." }),
    ],
    softbounced: [
      "soft_bounce",
      () => ({ reason: "452-4.2.2 The email account that you tried to reach is over quota" }),
    ],
    dropped: ["blocked", () => ({ reason: "blocked : due to unsubscribed user" })],
    opened: ["unique_opened", () => ({ link: "" })],
    clicked: ["click", ({ url }) => ({ link: url })],
    complained: ["spam"],
    unsubscribed: ["unsubscribed", () => ({ is_returnpath: true })],
  },
  toEvent: ({ mail, at }, name, fields) => ({
    id: 814119,
    email: mail.to.email,
    "message-id": mail.messageId,
    date: at.toISOString().slice(0, 19).replace("T", " "),
    tags: mail.tags,
    tag: JSON.stringify(mail.tags),
    event: name,
    subject: renderPart(mail, "subject"),
    sending_ip: "203.0.113.22",
    ts_event: clock.epochSeconds(at),
    ts: clock.epochSeconds(at),
    ts_epoch: at.getTime(),
    ...mail.metadata,
    ...fields,
  }),
  eventsPerPost: 1,
  buildPost: ([event]) => jsonPost(event, { "user-agent": "SendinBlue Webhook" }),
  shouldRetry: (status) => status === 0 || status === 429,
};

export const brevo: SandboxProvider = {
  key: "brevo",
  name: "Brevo",
  accountIdPattern: /^xkeysib-([0-9a-f]{16})[0-9a-f]{48}-\w{16}$/,
  credentials: ({ id, deriveHex }) => ({
    apiKey: `xkeysib-${id}${deriveHex("brevo key", 48)}-${deriveHex("brevo key end", 16)}`,
  }),
  readKey: ({ headers }) => headers["api-key"],
  routes: {
    "POST /v3/smtp/email": send,
    "GET /v3/smtp/emails": listMails,
    "GET /v3/smtp/emailStatus/:id": readStatus,
    "DELETE /v3/smtp/email/:id": ({ cancel, params: [id = ""] }) =>
      cancel(id) ? { status: 204 } : notFound(id),
    "GET /v3/account": ok({
      email: "you@pennymail.test",
      companyName: "Pennymail sandbox",
      plan: [{ type: "free", creditsType: "sendLimit", credits: 300 }],
    }),
    ...brevoAccountRoutes,
    "GET /v3/senders": ok({ senders: [] }),
  },
  maxBytes: 40 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(401, "unauthorized", "Key not found"),
    notFound,
    malformed: errorResponse(400, "bad_request", "Input must be a valid JSON object"),
    tooLarge: errorResponse(413, "request_entity_too_large", "Request entity too large"),
    rateLimited: () => ({
      ...errorResponse(429, "too_many_requests", "Too many requests have been sent"),
      headers: {
        "x-sib-ratelimit-limit": "1000",
        "x-sib-ratelimit-remaining": "0",
        "x-sib-ratelimit-reset": "1",
      },
    }),
    outage: errorResponse(503, "internal_server_error", "Internal server error"),
  },
  webhook,
};

function send(call: SandboxCall): SandboxResponse {
  const body = parseBody(BrevoBody, call.json(), (path, message) =>
    invalidParameter(`${path}: ${message}`),
  );
  if (!body.htmlContent)
    return errorResponse(
      400,
      "missing_parameter",
      "Either of htmlContent or templateId is required",
    );
  const versions = body.messageVersions ?? (body.to ? [{ to: body.to }] : []);
  if (!versions.length) return errorResponse(400, "missing_parameter", "to is missing");
  checkFileNames(body);
  const { idempotencyKey, "X-Sib-Sandbox": sandboxMode, ...headers } = body.headers ?? {};
  const content = contentOf(body, {});
  const mails = versions.map((version) => toMailInput({ ...body, headers }, version, content));
  for (const mail of mails) checkMail(mail, rules, call);
  const idempotencyName = `${call.account.id} ${idempotencyKey}`;
  if (idempotencyKey && wasUsed(idempotencyName))
    return errorResponse(
      400,
      "duplicate_parameter",
      "Another request with the same idempotencyKey was already processed",
    );
  const drafts = mails.map((mail) => toAcceptedMails(mail, createMessageId()));
  if (sandboxMode !== "drop") call.accept(drafts.flat(), mails[0]?.due, body.batchId);
  if (idempotencyKey) usedIdempotencyKeys.set(idempotencyName, clock.epochSeconds());
  const messageIds = drafts.map(([first]) => first!.messageId);
  return {
    status: 201,
    body: body.messageVersions ? { messageIds } : { messageId: messageIds[0] },
  };
}

function toMailInput(body: BrevoBody, version: BrevoVersion, common: CapturedContent): MailInput {
  const hasOwnContent = version.subject ?? version.htmlContent ?? version.textContent;
  const headers = titleCaseNames({ ...body.headers, ...version.headers });
  const custom = headers["X-Mailin-Custom"];
  return {
    from: body.sender,
    to: version.to,
    cc: version.cc ?? body.cc,
    bcc: version.bcc ?? body.bcc,
    replyTo: (version.replyTo ?? body.replyTo)?.email,
    content: hasOwnContent === undefined ? common : contentOf(body, version),
    fill: renderBrevoParams(version.params ?? body.params ?? {}),
    headers,
    tags: body.tags,
    metadata: custom === undefined ? {} : { "X-Mailin-custom": custom },
    due: readTime(body.scheduledAt),
  };
}

const contentOf = (body: BrevoBody, version: Partial<BrevoVersion>): CapturedContent => ({
  subject: version.subject ?? body.subject ?? "",
  html: version.htmlContent ?? body.htmlContent,
  text: version.textContent ?? body.textContent,
  attachments: body.attachment.map(({ name, content }) => ({
    filename: name,
    type: "application/octet-stream",
    content,
  })),
});

/** Brevo writes header names in title case. */
const titleCaseNames = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  );

const createMessageId = () => `<${timeDigits(12)}.${randomInt(1e10, 1e11)}@smtp-relay.mailin.fr>`;

function readStatus({ scheduled, sent, params: [id = ""] }: SandboxCall): SandboxResponse {
  const [waiting] = scheduled(id);
  if (waiting) return ok({ scheduledAt: waiting.due.toISOString(), status: "queued" });
  const [mail] = sent(id);
  return mail ? ok({ createdAt: mail.at.toISOString(), status: "processed" }) : notFound(id);
}

/** Brevo searches by address, template or message id, and shows tags but no headers. */
function listMails(call: SandboxCall): SandboxResponse {
  const email = queryOf(call).get("email");
  if (!email)
    return errorResponse(400, "missing_parameter", "email, templateId or messageId is missing");
  const found = searchSent(call, 30, isTo(email)).toReversed();
  const transactionalEmails = found.slice(0, 500).map((mail) => ({
    email: mail.to.email,
    subject: renderPart(mail, "subject"),
    messageId: mail.messageId,
    uuid: `${mail.messageId}-${mail.id}`,
    date: mail.at.toISOString(),
    from: mail.from.email,
    tags: mail.tags,
  }));
  return ok({ count: found.length, ...(found.length > 0 && { transactionalEmails }) });
}

const usedIdempotencyKeys = new Map<string, number>();

/** In the last 30 minutes. */
function wasUsed(name: string): boolean {
  if (usedIdempotencyKeys.size > 50_000) usedIdempotencyKeys.clear();
  return clock.epochSeconds() - (usedIdempotencyKeys.get(name) ?? 0) < 1800;
}

const filenameEndings = traits.brevo.limits!.filenameEndings!;

function checkFileNames({ attachment }: BrevoBody): void {
  const unknown = attachment.find(({ name }) => !filenameEndings.has(endingOf(name)));
  if (unknown) refuse(invalidParameter(`Unsupported file format: ${unknown.name}`));
}

function notFound(what: string): SandboxResponse {
  return errorResponse(404, "document_not_found", `Not found: ${what}`);
}

const invalidParameter = (message: string) => errorResponse(400, "invalid_parameter", message);

function errorResponse(status: number, code: string, message: string): SandboxResponse {
  return { status, body: { code, message } };
}
