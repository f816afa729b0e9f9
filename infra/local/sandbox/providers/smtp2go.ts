// SMTP2GO: POST /v3/email/send and /v3/email/batch, and its JSON webhooks (developers.smtp2go.com).
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { smtp2goAccountRoutes } from "../account-apis/smtp2go.ts";
import { readMailbox } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { randomHex } from "../provider-ids.ts";
import {
  acceptByTime,
  checkMail,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  ok,
  parseBody,
  parseJson,
  readTime,
  toAcceptedMails,
  toRecord,
  unsupported,
} from "../request-reader.ts";
import { searchSent } from "../search.ts";
import type {
  AcceptedMail,
  SandboxCall,
  SandboxProvider,
  SandboxRequest,
  SandboxResponse,
  WebhookProfile,
} from "../types.ts";
import { formatMailbox, jsonPost, querySecret } from "../webhook-format.ts";

const Files = z
  .array(z.object({ filename: z.string(), fileblob: z.string(), mimetype: z.string().optional() }))
  .default([]);
const Addresses = z.array(z.string()).max(100);
const Smtp2goEmail = z.object({
  template_id: unsupported,
  sender: z.string(),
  to: Addresses.min(1),
  cc: Addresses.default([]),
  bcc: Addresses.default([]),
  schedule: z.union([z.string(), z.number()]).optional(),
  subject: z.string().default(""),
  html_body: z.string().optional(),
  text_body: z.string().optional(),
  custom_headers: z.array(z.object({ header: z.string(), value: z.string() })).optional(),
  attachments: Files,
  inlines: Files,
});
const Smtp2goBatch = z.object({ emails: z.array(z.unknown()).min(1).max(100) });
const invalidPayload = "NON_VALIDATING_IN_PAYLOAD";
const KeyBody = z.object({ api_key: z.string() });

/** An invalid address refuses the call; the result counts rejected recipients. */
const rules: MailRules = {
  maxRecipients: 300,
  refusedFor: "invalid",
  needsSubject: true,
  maxScheduleDays: 3,
  reservedHeaders: headerNames(
    "content-type content-transfer-encoding mime-version from to subject",
  ),
  toResponse: (fault, detail) =>
    fault === "unverifiedSender"
      ? errorResponse(
          400,
          "API_EXCEPTION",
          `The sender domain or email address has not been verified: ${detail}`,
        )
      : invalidField(...faults[fault](detail)),
};
const faults: Record<MailFault, (detail: string) => [field: string, message: string]> = {
  sender: () => ["sender", "The sender email address is not valid"],
  unverifiedSender: (email) => ["sender", email],
  recipient: (email) => ["to", `The email address is not valid: ${email}`],
  recipientCount: (detail) => ["to", detail],
  noContent: () => ["text_body", "Either text_body or html_body is required"],
  subject: (detail) => ["subject", `The subject ${detail}`],
  header: (detail) => ["custom_headers", detail],
  attachment: () => ["attachments", "The fileblob is not valid base64"],
  time: (days) => [
    "schedule",
    `The schedule must be in the future and within the next ${days} days`,
  ],
};

const webhook: WebhookProfile = {
  deriveSecret: querySecret("smtp2go"),
  events: {
    accepted: ["processed", ({ mail }) => ({ recipients: [mail.to.email] })],
    delivered: [
      "delivered",
      () => ({
        ...remoteHost,
        context: "Unavailable",
        message: "250 2.0.0 Ok: queued as 4f7f4b3tWbzKy",
      }),
    ],
    bounced: [
      "bounce",
      ({ mail }) => ({
        ...remoteHost,
        bounce: "hard",
        context: `RCPT TO:<${mail.to.email}>`,
        message: "550 5.1.1 User unknown",
      }),
    ],
    softbounced: [
      "bounce",
      () => ({ ...remoteHost, bounce: "soft", context: "DATA", message: "452 4.2.2 Mailbox full" }),
    ],
    dropped: ["reject", () => ({ context: "Recipient is on the suppression list", message: "" })],
    opened: ["open", () => ({ ...clientFields, "read-secs": 4, client: "Gmail" })],
    clicked: ["click", ({ url }) => ({ ...clientFields, url })],
    complained: ["spam"],
    unsubscribed: ["unsubscribe", () => clientFields],
  },
  toEvent({ kind, mail, at, id }, name, fields) {
    // The webhook is set up to echo this header.
    const sendId = Object.entries(mail.headers).find(
      ([header]) => header.toLowerCase() === "x-send-id",
    )?.[1];
    const subject = renderPart(mail, "subject");
    const messageId = `<${mail.messageId}@pennymail.test>`;
    return {
      event: name,
      time: at.toISOString().replace(/\.\d+/, ""),
      sendtime: mail.at.toISOString().replace("Z", "000+00:00"),
      email_id: mail.messageId,
      id: createHash("md5").update(id).digest("hex"),
      sender: mail.from.email,
      from: formatMailbox(mail.from),
      from_address: mail.from.email,
      from_name: mail.from.name ?? "",
      auth: "api-sandbox",
      srchost: "203.0.113.22",
      "message-id": messageId,
      "Message-Id": messageId,
      subject,
      Subject: subject,
      ...(sendId !== undefined && { "X-Send-Id": sendId }),
      ...(kind !== "accepted" && { rcpt: mail.to.email }),
      ...fields,
    };
  },
  eventsPerPost: 1,
  buildPost: ([event]) => jsonPost(event, { "user-agent": "SMTP2GO-Webhook" }),
};

const remoteHost = { host: "mx.pennymail.test [198.51.100.25]" };
const clientFields = {
  srchost: "203.0.113.9",
  "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
};

export const smtp2go: SandboxProvider = {
  key: "smtp2go",
  name: "SMTP2GO",
  accountIdPattern: /^api-([0-9A-F]{16})[0-9A-F]{16}$/,
  credentials: (account) => ({
    apiKey: `api-${(account.id + account.deriveHex("smtp2go key", 16)).toUpperCase()}`,
  }),
  readKey: (request) => request.headers["x-smtp2go-api-key"] ?? readKeyFromBody(request),
  routes: {
    "POST /v3/email/send": sendOne,
    "POST /v3/email/batch": sendBatch,
    "POST /v3/activity/search": searchActivity,
    ...smtp2goAccountRoutes((data) => okWithId(data)),
    "POST /v3/api_keys/permissions": () =>
      okWithId(["/email/send", "/email/batch", "/activity/search"]),
  },
  maxBytes: 50 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(
      401,
      "AUTHENTICATION_FAILED",
      "The API key you provided is not valid",
    ),
    notFound: (what) =>
      errorResponse(404, "NOT_FOUND", `The requested endpoint does not exist: ${what}`),
    malformed: errorResponse(400, invalidPayload, "The request body is not valid JSON"),
    tooLarge: errorResponse(413, invalidPayload, "The request body is too large"),
    rateLimited: () =>
      errorResponse(429, "RATE_LIMIT_EXCEEDED", "You have exceeded the rate limit"),
    outage: errorResponse(503, "INTERNAL_ERROR", "Internal error"),
  },
  webhook,
};

function readKeyFromBody(request: SandboxRequest): string | undefined {
  if (!request.body.length) return undefined;
  return KeyBody.safeParse(parseJson(request, smtp2go.errors.malformed)).data?.api_key;
}

const ActivitySearch = z.object({
  search_recipient: z.string(),
  start_date: z.iso.datetime(),
  end_date: z.iso.datetime(),
  custom_headers: z.array(z.string()).default([]),
  only_latest: z.literal(true),
  limit: z.int().min(1).max(1000).default(100),
});

/** Finds mails whose recipient contains a text, with their latest event. */
function searchActivity(call: SandboxCall): SandboxResponse {
  const search = parseBody(ActivitySearch, call.json(), invalidField);
  const [from, until] = [new Date(search.start_date), new Date(search.end_date)];
  const text = search.search_recipient.toLowerCase();
  const found = searchSent(
    call,
    60,
    ({ to, at }) => to.email.toLowerCase().includes(text) && at >= from && at < until,
  );
  const events = found.slice(0, search.limit).map((mail) => ({
    from: mail.from.email,
    sender: mail.from.email,
    recipient: mail.to.email,
    email_id: mail.messageId,
    date: mail.at.toISOString(),
    event: "processed",
    subject: renderPart(mail, "subject"),
    custom_headers: Object.fromEntries(
      Object.entries(mail.headers).filter(([name]) => search.custom_headers.includes(name)),
    ),
  }));
  const isComplete = events.length === found.length;
  const token = isComplete ? null : "next";
  return okWithId({ events, total_events: found.length, continue_token: token });
}

interface EmailResult {
  id: string;
  due: Date | undefined;
  drafts: AcceptedMail[];
  rejected: string[];
}

function sendOne(call: SandboxCall): SandboxResponse {
  const result = processEmail(call.json(), "", call);
  acceptByTime([result], call);
  return okWithId(toApiResult(result));
}

function sendBatch(call: SandboxCall): SandboxResponse {
  const { emails } = parseBody(Smtp2goBatch, call.json(), invalidField);
  const results = emails.map((email, index) => processEmail(email, `emails.${index}.`, call));
  acceptByTime(results, call);
  return okWithId(
    results.map((result) => (result.rejected.length ? toApiResult(result) : idOf(result))),
  );
}

/** `place` is the path of the email in a batch. */
function processEmail(value: unknown, place: string, call: SandboxCall): EmailResult {
  const email = parseBody(Smtp2goEmail, value, (path, message) =>
    invalidField(place + path, message),
  );
  const headers = toRecord(email.custom_headers, "header", "value");
  const mail: MailInput = {
    from: readMailbox(email.sender),
    to: email.to.map(readMailbox),
    cc: email.cc.map(readMailbox),
    bcc: email.bcc.map(readMailbox),
    content: {
      subject: email.subject,
      html: email.html_body,
      text: email.text_body,
      attachments: [
        ...email.attachments.map(toAttachment),
        ...email.inlines.map((image) => ({ ...toAttachment(image), contentId: image.filename })),
      ],
    },
    headers,
    due: readTime(email.schedule),
  };
  checkMail(mail, rules, call);
  const { "Reply-To": replyTo, ...otherHeaders } = headers;
  const id = createEmailId();
  const all = toAcceptedMails({ ...mail, replyTo, headers: otherHeaders }, id);
  return {
    id,
    due: mail.due,
    drafts: all.filter(({ to }) => !call.isRejected(to.email)),
    rejected: all.map(({ to }) => to.email).filter(call.isRejected),
  };
}

const createEmailId = () => `1${randomHex(5)}-${randomHex(11)}-${randomHex(4).toUpperCase()}`;

const idOf = ({ id, due }: EmailResult) =>
  due && due > clock.now() ? { schedule_id: id } : { email_id: id };

/** Counts recipients. A mail without an accepted recipient has no id. */
const toApiResult = (result: EmailResult) => ({
  succeeded: result.drafts.length,
  failed: result.rejected.length,
  failures: result.rejected.map(
    (address) => `Unable to send to ${address}: the recipient was rejected`,
  ),
  ...(result.drafts.length && idOf(result)),
});

const okWithId = (data: unknown) => ok({ request_id: randomUUID(), data });

function errorResponse(
  status: number,
  code: string,
  error: string,
  field?: { fieldname: string; message: string },
): SandboxResponse {
  const data = {
    error,
    error_code: `E_ApiResponseCodes.${code}`,
    ...(field && { field_validation_errors: field }),
  };
  return { status, body: { request_id: randomUUID(), data } };
}

const invalidField = (fieldname: string, message: string) =>
  errorResponse(400, invalidPayload, "An error occurred while validating the payload", {
    fieldname,
    message,
  });

const toAttachment = ({
  filename,
  mimetype = "application/octet-stream",
  fileblob,
}: z.output<typeof Files>[number]) => ({ filename, type: mimetype, content: fileblob });
