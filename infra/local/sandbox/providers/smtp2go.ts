// SMTP2GO: POST /v3/email/send and /v3/email/batch (developers.smtp2go.com).
import { randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";
import { mailbox } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Answer, type Call, type Draft, type Mailbox, type MailProvider, Refused, type Request } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { parsed } from "../desk.ts";
import { webhook } from "../events/smtp2go.ts";
import { named, read } from "../shapes.ts";

const Email = z.object({
  sender: z.string(),
  to: z.array(z.string()).min(1).max(100),
  bcc: z.array(z.string()).max(100).optional(),
  subject: z.string().optional(),
  html_body: z.string().optional(),
  text_body: z.string().optional(),
  custom_headers: z.array(z.object({ header: z.string(), value: z.string() })).optional(),
  attachments: z.array(z.object({ filename: z.string(), fileblob: z.string(), mimetype: z.string().optional() })).optional(),
});
const Batch = z.object({ emails: z.array(z.unknown()).min(1).max(100) });
const Keyed = z.object({ api_key: z.string() });
type Email = z.output<typeof Email>;

const errors: MailProvider["errors"] = {
  notFound: fault(404, "NOT_FOUND", "The requested endpoint does not exist"),
  malformed: fault(400, "NON_VALIDATING_IN_PAYLOAD", "The request body is not valid JSON"),
  tooLarge: fault(413, "NON_VALIDATING_IN_PAYLOAD", "The request body is too large"),
  busy: (status) =>
    status === 429 ? fault(429, "RATE_LIMIT_EXCEEDED", "You have exceeded the rate limit") : fault(500, "INTERNAL_ERROR", "Internal error"),
};

export const smtp2go: MailProvider = {
  key: "smtp2go",
  name: "SMTP2GO",
  keyPattern: /^api-([0-9A-F]{16})[0-9A-F]{16}$/,
  credentials: (account) => ({ apiKey: `api-${(account.id + account.hex("smtp2go key", 16)).toUpperCase()}` }),
  authenticate(request, owner) {
    const account = owner(request.headers["x-smtp2go-api-key"] ?? keyIn(request));
    if (!account) throw new Refused(fault(401, "AUTHENTICATION_FAILED", "The API key you provided is not valid"));
    return account;
  },
  routes: [
    [/^POST \/v3\/email\/send$/, single],
    [/^POST \/v3\/email\/batch$/, batch],
    [
      /^POST \/v3\/api_keys\/permissions$/,
      () => ({ status: 200, body: { request_id: randomUUID(), data: ["/email/send", "/email/batch"] } }),
    ],
  ],
  maxBytes: 50 * 1024 * 1024,
  errors,
  webhook,
};

function keyIn(request: Request): string | undefined {
  if (!request.body.length) return undefined;
  const { success, data } = Keyed.safeParse(parsed(request, { errors }));
  return success ? data.api_key : undefined;
}

function single(call: Call): Answer {
  const { drafts, refused, emailId } = letters(read(Email, call.json(), invalid), call);
  call.submit(drafts);
  return { status: 200, body: { request_id: randomUUID(), data: result(drafts, refused, emailId) } };
}

function batch(call: Call): Answer {
  const { emails } = read(Batch, call.json(), invalid);
  const all = emails.map((email, index) =>
    letters(
      read(Email, email, (path, message) => invalid(`emails.${index}.${path}`, message)),
      call,
    ),
  );
  call.submit(all.flatMap(({ drafts }) => drafts));
  const data = all.map(({ drafts, refused, emailId }) => (refused.length ? result(drafts, refused, emailId) : { email_id: emailId }));
  return { status: 200, body: { request_id: randomUUID(), data } };
}

/** Counts by recipient; a mail nobody gets has no id. */
const result = (drafts: Draft[], refused: string[], emailId: string) => ({
  succeeded: drafts.length,
  failed: refused.length,
  failures: refused.map((address) => `Unable to send to ${address}: the recipient was rejected`),
  ...(drafts.length && { email_id: emailId }),
});

function letters(email: Email, call: Call): { drafts: Draft[]; refused: string[]; emailId: string } {
  const from = mailbox(email.sender);
  if (!from) throw new Refused(invalid("sender", "The sender email address is not valid"));
  const [to, bcc] = [email.to, email.bcc ?? []].map((list) => list.map((address) => mailbox(address))) as [
    (Mailbox | undefined)[],
    (Mailbox | undefined)[],
  ];
  const headers = named(
    email.custom_headers,
    ({ header }) => header,
    ({ value }) => value,
  );
  const attachments = (email.attachments ?? []).map(({ filename, mimetype = "application/octet-stream", fileblob }) => ({
    filename,
    type: mimetype,
    content: fileblob,
  }));
  check(email, from.email, headers, attachments, call);
  const bad = to.indexOf(undefined);
  if (bcc.includes(undefined)) throw new Refused(invalid("bcc", `The email address is not valid: ${email.bcc}`));
  if (bad >= 0) throw new Refused(invalid("to", `The email address is not valid: ${email.to[bad]}`));
  const emailId = `1${randomBytes(4).toString("hex").slice(0, 5)}-${randomBytes(6).toString("hex").slice(0, 11)}-${randomBytes(2).toString("hex").toUpperCase()}`;
  const { "Reply-To": replyTo, ...rest } = headers;
  const content = { subject: email.subject ?? "", html: email.html_body, text: email.text_body, attachments };
  const [recipients, copies] = [to, bcc].map((list) => list.filter((one) => one !== undefined)) as [Mailbox[], Mailbox[]];
  const drafts = recipients.map((one) => ({
    messageId: emailId,
    from,
    to: one,
    replyTo,
    content,
    headers: rest,
    tags: [],
    metadata: {},
    tracksOpens: true,
    tracksClicks: true,
  }));
  const all = withCopies(drafts, copies);
  const refused = all.map(({ to }) => to.email).filter(call.rejects);
  return { drafts: all.filter(({ to }) => !call.rejects(to.email)), refused, emailId };
}

function check(
  email: Email,
  from: string,
  headers: Record<string, string>,
  attachments: Draft["content"]["attachments"],
  call: Call,
): void {
  const refuse = (field: string, message: string) => {
    throw new Refused(invalid(field, message));
  };
  if (!call.mayUse(from))
    throw new Refused(fault(400, "API_EXCEPTION", `The sender domain or email address has not been verified: ${from}`));
  if (!email.subject) refuse("subject", "The subject is required");
  if (broken(email.subject ?? "")) refuse("subject", "The subject contains a line break");
  if (!email.html_body && !email.text_body) refuse("text_body", "Either text_body or html_body is required");
  const wrong = headersFault(headers, reserved);
  if (wrong) refuse("custom_headers", wrong);
  if (badAttachment(attachments)) refuse("attachments", "The fileblob is not valid base64");
}

const reserved = new Set("content-type content-transfer-encoding mime-version from to subject".split(" "));

function fault(status: number, code: string, error: string, field?: { fieldname: string; message: string }): Answer {
  const data = { error, error_code: `E_ApiResponseCodes.${code}`, ...(field && { field_validation_errors: field }) };
  return { status, body: { request_id: randomUUID(), data } };
}
const invalid = (fieldname: string, message: string) =>
  fault(400, "NON_VALIDATING_IN_PAYLOAD", "An error occurred while validating the payload", { fieldname, message });
