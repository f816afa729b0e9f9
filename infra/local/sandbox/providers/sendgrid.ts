// SendGrid Mail Send v3 (twilio.com/docs/sendgrid, mail-send).
import { randomBytes } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { valid } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Answer, type Call, type Draft, type MailProvider, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/sendgrid.ts";
import { read, strings } from "../shapes.ts";
import { literally } from "../templates.ts";

const Mailbox = z.object({ email: z.string(), name: z.string().optional() });
const Personalization = z.strictObject({
  to: z.array(Mailbox).min(1).max(1000),
  bcc: z.array(Mailbox).min(1).max(1000).optional(),
  from: Mailbox.optional(),
  subject: z.string().optional(),
  headers: strings.optional(),
  custom_args: strings.optional(),
  substitutions: strings.optional(),
});
const Body = z.strictObject({
  from: Mailbox,
  reply_to: Mailbox.optional(),
  subject: z.string().optional(),
  personalizations: z.array(Personalization).min(1).max(1000),
  content: z.array(z.object({ type: z.string(), value: z.string().min(1) })).min(1),
  headers: strings.optional(),
  custom_args: strings.optional(),
  categories: z.array(z.string().max(255)).max(10).optional(),
  attachments: z
    .array(
      z.object({
        content: z.string(),
        filename: z.string(),
        type: z.string().optional(),
        disposition: z.string().optional(),
        content_id: z.string().optional(),
      }),
    )
    .optional(),
  tracking_settings: z
    .object({ click_tracking: z.object({ enable: z.boolean().optional() }), open_tracking: z.object({ enable: z.boolean().optional() }) })
    .partial()
    .loose()
    .optional(),
  mail_settings: z
    .object({ sandbox_mode: z.object({ enable: z.boolean().optional() }) })
    .partial()
    .optional(),
});
type Body = z.output<typeof Body>;
type Personalization = z.output<typeof Personalization>;

export const sendgrid: MailProvider = {
  key: "sendgrid",
  name: "SendGrid",
  keyPattern: /^SG\.([0-9a-f]{16})/,
  credentials: (account) => ({
    apiKey: `SG.${account.id}${account.hex("sendgrid key", 6)}.${account.bytes("sendgrid key secret", 32).toString("base64url")}`,
  }),
  authenticate(request, owner) {
    const account = owner(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1]);
    if (!account) throw new Refused(fault(401, "The provided authorization grant is invalid, expired, or revoked", null));
    return account;
  },
  routes: [
    [/^POST \/v3\/mail\/send$/, send],
    [/^GET \/v3\/scopes$/, () => ({ status: 200, body: { scopes: ["mail.send", "sender_verification_eligible"] } })],
  ],
  maxBytes: 30 * 1024 * 1024,
  errors: {
    notFound: fault(404, "not found", null),
    malformed: fault(400, "Bad Request", null),
    tooLarge: {
      status: 413,
      headers: { "content-type": "text/html" },
      body: "<html><body><h1>413 Request Entity Too Large</h1></body></html>",
    },
    busy: (status) => (status === 429 ? tooManyRequests() : fault(500, "Internal Server Error", null)),
  },
  webhook,
};

function send(call: Call): Answer {
  const body = read(Body, call.json(), (path, message) => fault(400, message, path));
  check(body, call);
  const messageId = randomBytes(16).toString("base64url");
  const headers = { "x-message-id": messageId };
  if (body.mail_settings?.sandbox_mode?.enable) return { status: 200, headers };
  call.submit(body.personalizations.flatMap((each) => drafts(body, each, messageId)));
  return { status: 202, headers };
}

const reserved = new Set(
  "x-sg-id x-sg-eid received dkim-signature content-type content-transfer-encoding to from subject reply-to cc bcc".split(" "),
);

/** Any one fault refuses the whole call. */
function check(body: Body, call: Call): void {
  const { personalizations, content, attachments = [], categories = [] } = body;
  const refuse = (message: string, field: string) => {
    throw new Refused(fault(400, message, field));
  };
  if (!valid(body.from.email)) refuse("The from email does not contain a valid address.", "from.email");
  if (body.reply_to && !valid(body.reply_to.email)) refuse("The reply_to email does not contain a valid address.", "reply_to.email");
  if (!call.mayUse(body.from.email)) throw new Refused(fault(403, unverified, "from"));
  const types = content.map(({ type }) => type).join(" ");
  if (!/^(text\/plain|text\/html|text\/plain text\/html)$/.test(types))
    refuse("The content types must be text/plain, then text/html.", "content");
  if (new Set(categories).size < categories.length) refuse("Categories must be unique.", "categories");
  const bad = badAttachment(attachments.map(({ filename, content, type = "" }) => ({ filename, content, type })));
  if (bad)
    refuse(
      "The attachment content must be base64 encoded.",
      `attachments.${attachments.findIndex((one) => one.content === bad.content)}.content`,
    );
  if (personalizations.reduce((sum, { to, bcc = [] }) => sum + to.length + bcc.length, 0) > 1000)
    refuse("There are more than 1000 recipients.", "personalizations");
  checkHeaders(body.headers, "headers", refuse);
  for (const [index, each] of personalizations.entries()) checkEach(each, `personalizations.${index}`, body, call, refuse);
}

function checkEach(each: Personalization, at: string, body: Body, call: Call, refuse: (message: string, field: string) => void): void {
  const emails = [...each.to, ...(each.bcc ?? [])].map(({ email }) => email.toLowerCase());
  const bad = emails.findIndex((email) => !valid(email) || call.rejects(email));
  if (bad >= 0) refuse("Does not contain a valid address.", `${at}.to.${bad}.email`);
  if (new Set(emails).size < emails.length)
    refuse("Each email address in the personalization block should be unique between to, cc, and bcc.", at);
  if (each.to.some(({ name = "" }) => broken(name))) refuse("The name contains invalid characters.", `${at}.to.name`);
  const subject = each.subject ?? body.subject ?? "";
  if (!subject)
    refuse("The subject is required. You can get around this requirement if you use a template with a subject defined.", "subject");
  if (broken(subject)) refuse("The subject contains invalid characters.", "subject");
  checkHeaders(each.headers, `${at}.headers`, refuse);
  if (JSON.stringify({ ...body.custom_args, ...each.custom_args }).length > 10_000)
    refuse("The custom_args exceed 10000 bytes.", `${at}.custom_args`);
  if (Buffer.byteLength(JSON.stringify(each.substitutions ?? {})) > 10_000)
    refuse("The substitutions exceed 10000 bytes.", `${at}.substitutions`);
}

function checkHeaders(headers: Record<string, string> | undefined, field: string, refuse: (message: string, field: string) => void): void {
  const wrong = headersFault(headers ?? {}, reserved);
  if (wrong) refuse(wrong, field);
}

/** One envelope per personalization; every address in its `to` gets the mail. */
function drafts(body: Body, each: Personalization, messageId: string): Draft[] {
  const content = each.subject === undefined ? contentOf(body) : { ...contentOf(body), subject: each.subject };
  const { click_tracking, open_tracking } = body.tracking_settings ?? {};
  const fill = literally(each.substitutions ?? {});
  const letters = each.to.map((to) => ({
    messageId,
    from: each.from ?? body.from,
    to,
    replyTo: body.reply_to?.email,
    content,
    fill,
    headers: { ...body.headers, ...each.headers },
    tags: body.categories ?? [],
    metadata: { ...body.custom_args, ...each.custom_args },
    tracksOpens: open_tracking?.enable ?? true,
    tracksClicks: click_tracking?.enable ?? true,
  }));
  return withCopies(letters, each.bcc ?? []);
}

const contents = new WeakMap<Body, Draft["content"]>();
function contentOf(body: Body): Draft["content"] {
  const part = (type: string) => body.content.find((one) => one.type === type)?.value;
  const content = contents.get(body) ?? {
    subject: body.subject ?? "",
    html: part("text/html"),
    text: part("text/plain"),
    attachments: (body.attachments ?? []).map(({ filename, type = "application/octet-stream", content }) => ({ filename, type, content })),
  };
  contents.set(body, content);
  return content;
}

const unverified =
  "The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements";

function fault(status: number, message: string, field: string | null): Answer {
  return { status, body: { errors: [{ message, field, help: null }] } };
}

const tooManyRequests = (): Answer => ({
  ...fault(429, "too many requests", null),
  headers: { "x-ratelimit-limit": "600", "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(clock.epochSeconds() + 1) },
});
