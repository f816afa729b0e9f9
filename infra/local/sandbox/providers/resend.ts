// Resend: POST /emails and /emails/batch with idempotency keys (resend.com/docs/api-reference).
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { mailbox } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Answer, type Call, type Draft, type Mailbox, type MailProvider, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/resend.ts";
import { read, strings } from "../shapes.ts";

const Addresses = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1).max(50)]);
const Email = z.object({
  from: z.string(),
  to: Addresses,
  bcc: Addresses.optional(),
  reply_to: z.union([z.string(), z.array(z.string())]).optional(),
  subject: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
  headers: strings.optional(),
  attachments: z.array(z.object({ filename: z.string(), content: z.string(), content_type: z.string().optional() })).optional(),
  tags: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
});
/** A batch takes no attachments. */
const InBatch = Email.extend({ attachments: z.undefined().optional() });
type Email = z.output<typeof Email>;

export const resend: MailProvider = {
  key: "resend",
  name: "Resend",
  keyPattern: /^re_([0-9a-f]{8})_([0-9a-f]{8})[0-9a-f]{16}$/,
  credentials: (account) => ({ apiKey: `re_${account.id.slice(0, 8)}_${account.id.slice(8)}${account.hex("resend key", 16)}` }),
  authenticate(request, owner) {
    if (!request.headers["user-agent"]) throw new Refused({ status: 403, body: "error code: 1010" });
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (!key) throw new Refused(fault(401, "missing_api_key", "Missing API Key"));
    const account = owner(key);
    if (!account) throw new Refused(fault(403, "invalid_api_key", "API key is invalid"));
    return account;
  },
  routes: [
    [/^POST \/emails$/, (call) => once(call, single)],
    [/^POST \/emails\/batch$/, (call) => once(call, batch)],
    [/^GET \/domains$/, () => ({ status: 200, body: { object: "list", has_more: false, data: [domain] } })],
  ],
  maxBytes: 60 * 1024 * 1024,
  errors: {
    notFound: fault(404, "not_found", "The requested endpoint does not exist"),
    malformed: fault(400, "validation_error", "The request body must be valid JSON"),
    tooLarge: fault(413, "validation_error", "Request body is too large"),
    busy: (status) => (status === 429 ? tooMany : fault(500, "internal_server_error", "Something went wrong")),
  },
  webhook,
};

/** The same key and the same body within a day get the first answer again; another body is refused. */
function once(call: Call, send: (call: Call) => Answer): Answer {
  const key = call.request.headers["idempotency-key"];
  if (key === undefined) return send(call);
  if (!key || key.length > 256)
    throw new Refused(fault(400, "invalid_idempotency_key", "The idempotency key must be between 1 and 256 characters"));
  const name = `${call.account.hex("resend keys", 32)} ${call.request.path} ${key}`;
  const body = createHash("sha256").update(call.request.body).digest("base64");
  const earlier = answers.get(name);
  if (earlier && earlier.until > clock.epochSeconds()) {
    if (earlier.body !== body)
      throw new Refused(fault(409, "invalid_idempotent_request", "Same idempotency key used with a different request payload"));
    return earlier.answer;
  }
  const answer = send(call);
  if (answers.size > 50_000) answers.clear();
  answers.set(name, { body, answer, until: clock.epochSeconds() + 86_400 });
  return answer;
}

const answers = new Map<string, { body: string; answer: Answer; until: number }>();

function single(call: Call): Answer {
  const drafts = letters(read(Email, call.json(), invalid), call);
  call.submit(drafts);
  return { status: 200, body: { id: drafts[0]!.messageId } };
}

/** Strict: one fault refuses all. Permissive: the others are sent. */
function batch(call: Call): Answer {
  const list = call.json();
  if (!Array.isArray(list)) throw new Refused(fault(422, "validation_error", "The request body must be an array"));
  if (!list.length || list.length > 100) throw new Refused(fault(422, "validation_error", "The batch must hold 1 to 100 emails"));
  const permissive = call.request.headers["x-batch-validation"] === "permissive";
  const errors: { index: number; message: string }[] = [];
  const all = list.map((value, index) => {
    try {
      return letters(read(InBatch, value, invalid), call);
    } catch (error) {
      if (!(error instanceof Refused) || !permissive) throw error;
      errors.push({ index, message: (error.answer.body as { message: string }).message });
      return [];
    }
  });
  call.submit(all.flat());
  const data = all.filter((drafts) => drafts.length).map((drafts) => ({ id: drafts[0]!.messageId }));
  return { status: 200, body: permissive ? { data, errors } : { data } };
}

function letters(email: Email, call: Call): Draft[] {
  const from = mailbox(email.from);
  if (!from)
    throw new Refused(
      fault(
        422,
        "invalid_from_address",
        "Invalid `from` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.",
      ),
    );
  const [to, bcc] = [email.to, email.bcc ?? []].map((list) => list.map((address) => mailbox(address))) as [Mailbox[], Mailbox[]];
  if (![...to, ...bcc].every((one: Mailbox | undefined) => one !== undefined && !call.rejects(one.email))) throw new Refused(invalidTo);
  const files = (email.attachments ?? []).map(({ filename, content_type = "application/octet-stream", content }) => ({
    filename,
    type: content_type,
    content,
  }));
  check(email, from.email, files, call);
  const messageId = randomUUID();
  const content = { subject: email.subject, html: email.html, text: email.text, attachments: files };
  const drafts = to.map((one) => ({
    messageId,
    from,
    to: one,
    replyTo: email.reply_to?.toString(),
    content,
    headers: email.headers ?? {},
    tags: (email.tags ?? []).map(({ name, value }) => `${name}=${value}`),
    metadata: Object.fromEntries((email.tags ?? []).map(({ name, value }) => [name, value])),
    tracksOpens: true,
    tracksClicks: true,
  }));
  // Its events do not say whose they are.
  return withCopies(drafts, bcc, { silent: true });
}

function check(email: Email, from: string, files: Draft["content"]["attachments"], call: Call): void {
  const refuse = (message: string, name = "validation_error", status = 422) => {
    throw new Refused(fault(status, name, message));
  };
  if (!call.mayUse(from))
    refuse(
      `The ${from.split("@")[1]} domain is not verified. Please, add and verify your domain on https://resend.com/domains`,
      "validation_error",
      403,
    );
  if (!email.html && !email.text) refuse("Missing `html` or `text` field.", "missing_required_field");
  if (!email.subject) refuse("Missing `subject` field.", "missing_required_field");
  if (broken(email.subject)) refuse("The `\\n` is not allowed in the `subject` field.");
  if (typeof email.reply_to === "string" && !mailbox(email.reply_to)) refuse("Invalid `reply_to` field.");
  const wrong = headersFault(email.headers ?? {}, reserved);
  if (wrong) refuse(wrong, "invalid_parameter");
  const word = /^[\w-]{1,256}$/;
  if (email.tags?.some(({ name, value }) => !word.test(name) || !word.test(value)))
    refuse("Tags should only contain ASCII letters, numbers, underscores, or dashes.");
  if (badAttachment(files)) refuse("The attachment content must be base64.", "invalid_attachment");
  if (files.reduce((sum, { content }) => sum + content.length, 0) > 40 * 1024 * 1024)
    refuse("The email exceeds 40MB.", "invalid_attachment");
}

const reserved = new Set("from to cc bcc subject reply-to date message-id content-type mime-version".split(" "));
const domain = {
  id: "d91cd9bd-1176-453e-8fc1-35364d380206",
  name: "pennymail.test",
  status: "verified",
  region: "us-east-1",
  open_tracking: true,
  click_tracking: true,
};

function fault(status: number, name: string, message: string): Answer {
  return { status, body: { statusCode: status, name, message } };
}
const invalid = (path: string, message: string) =>
  message.includes("received undefined")
    ? fault(422, "missing_required_field", `Missing \`${path}\` field.`)
    : fault(422, "validation_error", `Invalid \`${path}\` field. ${message}`);
const invalidTo = fault(
  422,
  "validation_error",
  "Invalid `to` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.",
);
const tooMany: Answer = {
  ...fault(429, "rate_limit_exceeded", "Too many requests. You can only make 5 requests per second."),
  headers: { "retry-after": "1", "ratelimit-limit": "5", "ratelimit-remaining": "0", "ratelimit-reset": "1" },
};
