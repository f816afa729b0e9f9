// Brevo: POST /v3/smtp/email, single and with messageVersions (developers.brevo.com/reference/send-transac-email).
import { randomInt } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { valid } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Account, type Answer, type Call, type Content, type Draft, type MailProvider, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/brevo.ts";
import { read, strings } from "../shapes.ts";
import { byParams } from "../templates.ts";

const Mailbox = z.object({ email: z.string(), name: z.string().max(70).optional() });
const Params = z.record(z.string(), z.unknown());
const Version = z.object({
  to: z.array(Mailbox).min(1).max(99),
  bcc: z.array(Mailbox).max(99).optional(),
  replyTo: Mailbox.optional(),
  subject: z.string().optional(),
  htmlContent: z.string().optional(),
  textContent: z.string().optional(),
  params: Params.optional(),
  headers: strings.optional(),
});
const Body = z.object({
  sender: Mailbox,
  to: z.array(Mailbox).min(1).max(99).optional(),
  bcc: z.array(Mailbox).max(99).optional(),
  replyTo: Mailbox.optional(),
  subject: z.string().min(1).optional(),
  htmlContent: z.string().min(1).optional(),
  textContent: z.string().optional(),
  headers: strings.optional(),
  params: Params.optional(),
  attachment: z.array(z.object({ name: z.string(), content: z.string() })).optional(),
  tags: z.array(z.string()).optional(),
  messageVersions: z.array(Version).min(1).max(1000).optional(),
});
type Body = z.output<typeof Body>;
type Version = z.output<typeof Version>;

export const brevo: MailProvider = {
  key: "brevo",
  name: "Brevo",
  keyPattern: /^xkeysib-([0-9a-f]{16})[0-9a-f]{48}-\w{16}$/,
  credentials: (account) => ({ apiKey: `xkeysib-${account.id}${account.hex("brevo key", 48)}-${account.hex("brevo key end", 16)}` }),
  authenticate(request, owner) {
    const account = owner(request.headers["api-key"]);
    if (!account) throw new Refused(fault(401, "unauthorized", "Key not found"));
    return account;
  },
  routes: [
    [/^POST \/v3\/smtp\/email$/, send],
    [
      /^GET \/v3\/account$/,
      () => ({
        status: 200,
        body: {
          email: "you@pennymail.test",
          companyName: "Pennymail sandbox",
          plan: [{ type: "free", creditsType: "sendLimit", credits: 300 }],
        },
      }),
    ],
    [/^GET \/v3\/senders$/, () => ({ status: 200, body: { senders: [] } })],
  ],
  maxBytes: 40 * 1024 * 1024,
  errors: {
    notFound: fault(404, "document_not_found", "Route not found"),
    malformed: fault(400, "bad_request", "Input must be a valid JSON object"),
    tooLarge: fault(413, "request_entity_too_large", "Request entity too large"),
    busy: (status) => (status === 429 ? tooMany : fault(500, "internal_server_error", "Internal server error")),
  },
  webhook,
};

function send(call: Call): Answer {
  const body = read(Body, call.json(), (path, message) => fault(400, "invalid_parameter", `${path}: ${message}`));
  const { idempotencyKey, "X-Sib-Sandbox": sandbox, ...headers } = body.headers ?? {};
  const versions = body.messageVersions ?? (body.to ? [{ to: body.to, bcc: body.bcc, params: body.params }] : []);
  check(body, headers, versions, call);
  const content = contentOf(body, {});
  const drafts = versions.map((version) => letters(body, headers, version, content));
  const used = idempotencyKey ? usedKey(call.account, idempotencyKey) : undefined;
  if (used?.()) throw new Refused(fault(400, "duplicate_parameter", "Another request with the same idempotencyKey was already processed"));
  if (sandbox !== "drop") call.submit(drafts.flat());
  if (used) used(true);
  const messageIds = drafts.map(([first]) => first!.messageId);
  return { status: 201, body: body.messageVersions ? { messageIds } : { messageId: messageIds[0] } };
}

/** Any one fault refuses the whole call. */
function check(body: Body, headers: Record<string, string>, versions: Version[], call: Call): void {
  const refuse = (message: string, code = "invalid_parameter") => {
    throw new Refused(fault(400, code, message));
  };
  if (!valid(body.sender.email)) refuse("valid sender email required");
  if (!call.mayUse(body.sender.email))
    refuse("Sending has been rejected because the sender you used is not valid. Validate your sender or authenticate your domain");
  if (!versions.length) refuse("to is missing", "missing_parameter");
  if (!body.subject && versions.some(({ subject }) => !subject)) refuse("subject is missing", "missing_parameter");
  if (!body.htmlContent) refuse("Either of htmlContent or templateId is required", "missing_parameter");
  if (versions.reduce((sum, { to, bcc = [] }) => sum + to.length + bcc.length, 0) > 2000)
    refuse("messageVersions has more than 2000 recipients", "out_of_range");
  if (versions.reduce((sum, { params }) => sum + (params ? JSON.stringify(params).length : 0), 0) > 1_000_000)
    refuse("params exceed 1000KB", "out_of_range");
  const bad = badAttachment((body.attachment ?? []).map(({ name, content }) => ({ filename: name, type: "", content })));
  if (bad) refuse(`attachment content of ${bad.filename} is not valid base64`);
  const unknown = (body.attachment ?? []).find(({ name }) => !extensions.has(name.split(".").at(-1)?.toLowerCase() ?? ""));
  if (unknown) refuse(`Unsupported file format: ${unknown.name}`);
  for (const { to, bcc = [], subject, headers: own } of versions) {
    if ([...to, ...bcc].some(({ email }) => !valid(email) || call.rejects(email))) refuse("email is not valid in to");
    if (broken(subject ?? body.subject ?? "")) refuse("subject is not valid");
    const all = { ...headers, ...own };
    const wrong =
      headersFault(all, reserved) ??
      (Object.values(all).every((value) => /^[\x20-\x7e]*$/.test(value)) ? undefined : "headers must be ASCII");
    if (wrong) refuse(wrong);
  }
}

function letters(body: Body, headers: Record<string, string>, version: Version, common: Content): Draft[] {
  const own = version.subject ?? version.htmlContent ?? version.textContent;
  const messageId = `<${clock.now().toISOString().replace(/\D/g, "").slice(0, 12)}.${randomInt(1e10, 1e11)}@smtp-relay.mailin.fr>`;
  const content = own === undefined ? common : contentOf(body, version);
  const all = titled({ ...headers, ...version.headers });
  const custom = all["X-Mailin-Custom"];
  const drafts = version.to.map((to) => ({
    messageId,
    from: body.sender,
    to,
    replyTo: (version.replyTo ?? body.replyTo)?.email,
    content,
    fill: byParams(version.params ?? body.params ?? {}),
    headers: all,
    tags: body.tags ?? [],
    metadata: custom === undefined ? {} : { "X-Mailin-custom": custom },
    tracksOpens: true,
    tracksClicks: true,
  }));
  return withCopies(drafts, version.bcc ?? []);
}

const contentOf = (body: Body, { subject, htmlContent, textContent }: Partial<Version>): Content => ({
  subject: subject ?? body.subject ?? "",
  html: htmlContent ?? body.htmlContent,
  text: textContent ?? body.textContent,
  attachments: (body.attachment ?? []).map(({ name, content }) => ({ filename: name, type: "application/octet-stream", content })),
});

/** Brevo writes header names in title case. */
const titled = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()), value]),
  );

const keys = new Map<string, number>();

/** Whether an idempotency key was used in the last 30 minutes; called with true, it is from now on. */
function usedKey(account: Account, key: string): (now?: true) => boolean {
  const name = `${account.hex("brevo keys", 32)} ${key}`;
  return (now) => {
    if (keys.size > 50_000) keys.clear();
    if (now) keys.set(name, clock.epochSeconds());
    return clock.epochSeconds() - (keys.get(name) ?? 0) < 1800;
  };
}

const extensions = new Set(
  "xlsx xls ods docx docm doc csv pdf txt gif jpg jpeg png tif tiff rtf bmp cgm css shtml html htm zip xml ppt pptx tar ez ics mobi msg pub eps odt mp3 m4a m4v wma ogg flac wav aif aifc aiff mp4 mov avi mkv mpeg mpg wmv pkpass xlsm".split(
    " ",
  ),
);
const reserved = new Set("from to cc bcc subject reply-to content-type mime-version date message-id".split(" "));
const tooMany: Answer = {
  ...fault(429, "too_many_requests", "Too many requests have been sent"),
  headers: { "x-sib-ratelimit-limit": "1000", "x-sib-ratelimit-remaining": "0", "x-sib-ratelimit-reset": "1" },
};

function fault(status: number, code: string, message: string): Answer {
  return { status, body: { code, message } };
}
