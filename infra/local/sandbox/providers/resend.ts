// Resend: POST /emails and /emails/batch with idempotency keys (resend.com/docs/api-reference), and
// its webhooks, signed by Svix.
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { resendAccountRoutes } from "../account-apis/resend.ts";
import { readMailbox } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import {
  bearerToken,
  checkMail,
  copyKind,
  headerNames,
  type MailFault,
  type MailRules,
  ok,
  parseBody,
  readTime,
  refuse,
  shownIn,
  stringRecord,
  toAcceptedMails,
  unsupported,
} from "../request-reader.ts";
import { queryOf, searchSent } from "../search.ts";
import {
  type AcceptedMail,
  type SandboxCall,
  type SandboxProvider,
  SandboxRefusal,
  type SandboxResponse,
  type SimulatedEvent,
  type WebhookProfile,
} from "../types.ts";
import { formatMailbox, jsonPost } from "../webhook-format.ts";

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1)]);
const Addresses = oneOrMore.pipe(z.array(z.string().transform(readMailbox)).max(50));
const tagText = z
  .string()
  .regex(
    /^[\w-]{1,256}$/,
    "Tags should only contain ASCII letters, numbers, underscores, or dashes.",
  );
const ResendEmail = z.object({
  template: unsupported,
  from: z.string().transform(readMailbox),
  to: Addresses,
  cc: Addresses.optional(),
  bcc: Addresses.optional(),
  scheduled_at: z.string().optional(),
  reply_to: oneOrMore.optional(),
  subject: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
  headers: stringRecord.default({}),
  attachments: z
    .array(
      z.object({
        filename: z.string(),
        content: z.string(),
        content_type: z.string().optional(),
        content_id: z.string().max(127).optional(),
      }),
    )
    .default([]),
  tags: z.array(z.object({ name: tagText, value: tagText })).default([]),
});
/** A batch takes neither attachments nor schedules. */
const BatchEmail = ResendEmail.extend({
  attachments: z.undefined().optional(),
  scheduled_at: z.undefined().optional(),
});
const Reschedule = z.object({ scheduled_at: z.string() });

const rules: MailRules = {
  maxRecipients: 150,
  refusedFor: "invalid or rejected",
  needsSubject: true,
  reservedHeaders: headerNames(
    "from to cc bcc subject reply-to date message-id content-type mime-version",
  ),
  toResponse: (fault, detail) => errorResponse(...faults[fault](detail)),
};
type ResendError = [status: number, name: string, message: string];
const addressFormat =
  "The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.";
const faults: Record<MailFault, (detail: string) => ResendError> = {
  sender: () => [422, "invalid_from_address", `Invalid \`from\` field. ${addressFormat}`],
  unverifiedSender: (email) => [
    403,
    "validation_error",
    `The ${email.split("@")[1]} domain is not verified. Please, add and verify your domain ` +
      "on https://resend.com/domains",
  ],
  recipient: () => [422, "validation_error", `Invalid \`to\` field. ${addressFormat}`],
  recipientCount: (detail) => [422, "validation_error", detail],
  noContent: () => [422, "missing_required_field", "Missing `html` or `text` field."],
  subject: (detail) => [422, "validation_error", `The \`subject\` field ${detail}.`],
  header: (detail) => [422, "invalid_parameter", detail],
  attachment: () => [422, "invalid_attachment", "The attachment content must be base64."],
  time: () => [422, "validation_error", "Invalid `scheduled_at` field."],
};

const webhook: WebhookProfile = {
  deriveSecret: (account) =>
    `whsec_${account.deriveBytes("resend webhook", 24).toString("base64")}`,
  events: {
    accepted: ["email.sent"],
    delivered: ["email.delivered"],
    deferred: ["email.delivery_delayed"],
    bounced: bounce(
      "Permanent",
      "NoEmail",
      "The recipient's email address does not exist.",
      "smtp; 550 5.1.1 user unknown",
    ),
    softbounced: bounce(
      "Transient",
      "MailboxFull",
      "The recipient's inbox was full.",
      "smtp; 552 5.2.2 mailbox full",
    ),
    dropped: [
      "email.suppressed",
      () => ({
        suppressed: {
          type: "OnAccountSuppressionList",
          reason: "previous_bounce",
          message: "The address is on the account suppression list.",
          diagnosticCode: [],
        },
      }),
    ],
    opened: ["email.opened"],
    clicked: [
      "email.clicked",
      ({ at, url }) => ({
        click: {
          ipAddress: "203.0.113.9",
          link: url,
          timestamp: at.toISOString(),
          userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
        },
      }),
    ],
    complained: ["email.complained"],
  },
  toEvent: ({ mail, at }, type, fields) => ({
    type,
    created_at: at.toISOString(),
    data: {
      email_id: mail.messageId,
      message_id: `<${mail.messageId}@pennymail.test>`,
      created_at: mail.at.toISOString(),
      from: formatMailbox(mail.from),
      to: [mail.to.email],
      subject: renderPart(mail, "subject"),
      ...(Object.keys(mail.metadata).length && { tags: mail.metadata }),
      ...(Object.keys(mail.headers).length && {
        headers: Object.entries(mail.headers).map(([name, value]) => ({ name, value })),
      }),
      ...fields,
    },
  }),
  eventsPerPost: 1,
  /** All attempts share the id; each has its own time and signature. */
  buildPost([event], _target, account) {
    const body = JSON.stringify(event);
    const id = `msg_${randomBytes(20).toString("base64url")}`;
    const key = Buffer.from(webhook.deriveSecret(account).slice("whsec_".length), "base64");
    return jsonPost(body, () => {
      const timestamp = String(clock.epochSeconds());
      const signature = createHmac("sha256", key)
        .update(`${id}.${timestamp}.${body}`)
        .digest("base64");
      return {
        "user-agent": "Svix-Webhooks/1.62.0",
        "svix-id": id,
        "svix-timestamp": timestamp,
        "svix-signature": `v1,${signature}`,
      };
    });
  },
};

function bounce(
  ...[type, subType, message, diagnostic]: [string, string, string, string]
): [name: string, fields: (event: SimulatedEvent) => object] {
  const fields = { bounce: { type, subType, message, diagnosticCode: [diagnostic] } };
  return ["email.bounced", () => fields];
}

export const resend: SandboxProvider = {
  key: "resend",
  name: "Resend",
  accountIdPattern: /^re_([0-9a-f]{8})_([0-9a-f]{8})[0-9a-f]{16}$/,
  credentials: ({ id, deriveHex }) => ({
    apiKey: `re_${id.slice(0, 8)}_${id.slice(8)}${deriveHex("resend key", 16)}`,
  }),
  readKey(request) {
    if (!request.headers["user-agent"]) refuse({ status: 403, body: "error code: 1010" });
    return bearerToken(request) ?? refuse(errorResponse(401, "missing_api_key", "Missing API Key"));
  },
  routes: {
    "POST /emails": (call) => withIdempotencyKey(call, sendOne),
    "POST /emails/batch": (call) => withIdempotencyKey(call, sendBatch),
    "GET /emails": listEmails,
    "GET /emails/:id": readEmail,
    "PATCH /emails/:id": reschedule,
    "POST /emails/:id/cancel": ({ cancel, params: [id = ""] }) =>
      cancel(id) ? ok({ object: "email", id }) : notFound(`scheduled email ${id}`),
    ...resendAccountRoutes((account) => webhook.deriveSecret(account)),
  },
  maxBytes: 60 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(403, "invalid_api_key", "API key is invalid"),
    notFound,
    malformed: errorResponse(400, "validation_error", "The request body must be valid JSON"),
    tooLarge: errorResponse(413, "validation_error", "Request body is too large"),
    rateLimited: () => ({
      ...errorResponse(
        429,
        "rate_limit_exceeded",
        "Too many requests. You can only make 5 requests per second.",
      ),
      headers: {
        "retry-after": "1",
        "ratelimit-limit": "5",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "1",
      },
    }),
    outage: errorResponse(503, "internal_server_error", "Something went wrong"),
  },
  webhook,
};

const storedResponses = new Map<
  string,
  { bodyHash: string; response: SandboxResponse; expiresAt: number }
>();

/**
 * For a day, the same key and body return the first response. The same key with another body is
 * refused.
 */
function withIdempotencyKey(
  call: SandboxCall,
  send: (call: SandboxCall) => SandboxResponse,
): SandboxResponse {
  const key = call.request.headers["idempotency-key"];
  if (key === undefined) return send(call);
  if (!key || key.length > 256)
    return errorResponse(
      400,
      "invalid_idempotency_key",
      "The idempotency key must be between 1 and 256 characters",
    );
  const name = `${call.account.id} ${call.request.path} ${key}`;
  const bodyHash = createHash("sha256").update(call.request.body).digest("base64");
  const stored = storedResponses.get(name);
  if (stored && stored.expiresAt > clock.epochSeconds())
    return stored.bodyHash === bodyHash
      ? stored.response
      : errorResponse(
          409,
          "invalid_idempotent_request",
          "Same idempotency key used with a different request payload",
        );
  const response = send(call);
  if (storedResponses.size > 50_000) storedResponses.clear();
  storedResponses.set(name, { bodyHash, response, expiresAt: clock.epochSeconds() + 86_400 });
  return response;
}

function sendOne(call: SandboxCall): SandboxResponse {
  const email = parseBody(ResendEmail, call.json(), invalidField);
  const drafts = toDrafts(email, call);
  const due = email.scheduled_at === undefined ? undefined : parseScheduledAt(email.scheduled_at);
  call.accept(drafts, due);
  return ok({ id: drafts[0]!.messageId });
}

/** In strict mode one fault refuses all emails. In permissive mode the others are sent. */
function sendBatch(call: SandboxCall): SandboxResponse {
  const list = call.json();
  if (!Array.isArray(list) || !list.length || list.length > 100)
    return errorResponse(422, "validation_error", "The batch must be an array of 1 to 100 emails");
  const permissive = call.request.headers["x-batch-validation"] === "permissive";
  const errors: { index: number; message: string }[] = [];
  const accepted = list.flatMap((value, index) => {
    try {
      const email = parseBody(BatchEmail, value, invalidField);
      return [toDrafts({ ...email, attachments: [], scheduled_at: undefined }, call)];
    } catch (error) {
      if (!(error instanceof SandboxRefusal) || !permissive) throw error;
      errors.push({ index, message: (error.response.body as { message: string }).message });
      return [];
    }
  });
  call.accept(accepted.flat());
  const data = accepted.map(([first]) => ({ id: first!.messageId }));
  return ok(permissive ? { data, errors } : { data });
}

function toDrafts(email: z.output<typeof ResendEmail>, call: SandboxCall): AcceptedMail[] {
  const { from, to, cc, bcc, subject, html, text, headers, tags } = email;
  const attachments = email.attachments.map(
    ({ filename, content_type = "application/octet-stream", content, content_id }) => ({
      filename,
      type: content_type,
      content,
      ...(content_id !== undefined && { contentId: content_id }),
    }),
  );
  const mail = {
    from,
    to,
    cc,
    bcc,
    replyTo: email.reply_to?.join(","),
    content: { subject, html, text, attachments },
    headers,
    tags: tags.map(({ name, value }) => `${name}=${value}`),
    metadata: Object.fromEntries(tags.map(({ name, value }) => [name, value])),
  };
  checkMail(mail, rules, call);
  // The events of a copy do not name its recipient.
  return toAcceptedMails(mail, randomUUID()).map((draft) => ({
    ...draft,
    withoutEvents: copyKind(draft) !== undefined,
  }));
}

const unitSeconds: Record<string, number> = { min: 60, hour: 3600, day: 86_400 };

/** ISO 8601, or words such as "in 5 minutes". */
function parseScheduledAt(text: string): Date {
  const [, count, unit = ""] = /^in (\d+) (min|hour|day)\w*$/.exec(text) ?? [];
  const due = count ? clock.addSeconds(Number(count) * unitSeconds[unit]!) : readTime(text);
  if (due && due <= clock.addSeconds(30 * 86_400)) return due;
  return refuse(errorResponse(...faults.time("")));
}

/** Lists the mails of the account, newest first, without their tags. */
function listEmails(call: SandboxCall): SandboxResponse {
  const query = queryOf(call);
  const all = searchSent(call, 5, (mail) => copyKind(mail) === undefined).toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : all.findIndex(({ messageId }) => messageId === after) + 1;
  const end = start + Math.min(Number(query.get("limit") ?? 20), 100);
  const data = all.slice(start, end).map((mail) => ({
    id: mail.messageId,
    from: formatMailbox(mail.from),
    to: shownIn(mail).to.map(formatMailbox),
    subject: mail.content.subject,
    created_at: mail.at.toISOString(),
    last_event: "delivered",
  }));
  return ok({ object: "list", has_more: end < all.length, data });
}

function readEmail({ sent, scheduled, params: [id = ""] }: SandboxCall): SandboxResponse {
  const [waiting] = scheduled(id);
  const mails = waiting?.drafts ?? sent(id);
  const [mail] = mails;
  if (!mail) return notFound(`email ${id}`);
  const shown = shownIn(mail);
  const copies = mails.filter((one) => copyKind(one) === "bcc");
  return ok({
    object: "email",
    id,
    from: formatMailbox(mail.from),
    to: shown.to.map(formatMailbox),
    cc: shown.cc.map(formatMailbox),
    bcc: copies.map(({ to }) => formatMailbox(to)),
    reply_to: mail.replyTo ? [mail.replyTo] : [],
    subject: mail.content.subject,
    html: mail.content.html ?? null,
    text: mail.content.text ?? null,
    created_at: ("at" in mail ? (mail.at as Date) : clock.now()).toISOString(),
    scheduled_at: waiting?.due.toISOString() ?? null,
    last_event: waiting ? "scheduled" : "delivered",
    tags: Object.entries(mail.metadata).map(([name, value]) => ({ name, value })),
  });
}

function reschedule(call: SandboxCall): SandboxResponse {
  const [id = ""] = call.params;
  const { scheduled_at } = parseBody(Reschedule, call.json(), invalidField);
  const due = parseScheduledAt(scheduled_at);
  const drafts = call.scheduled(id).flatMap((one) => one.drafts);
  if (!call.cancel(id)) return notFound(`scheduled email ${id}`);
  call.accept(drafts, due);
  return ok({ object: "email", id });
}

function notFound(what: string): SandboxResponse {
  return errorResponse(404, "not_found", `Not found: ${what}`);
}

function errorResponse(...[status, name, message]: ResendError): SandboxResponse {
  return { status, body: { statusCode: status, name, message } };
}

const invalidField = (path: string, message: string) =>
  message.includes("received undefined")
    ? errorResponse(422, "missing_required_field", `Missing \`${path}\` field.`)
    : errorResponse(422, "validation_error", `Invalid \`${path}\` field. ${message}`);
