// Brevo, transactional email: https://developers.brevo.com/reference/send-transac-email
import { createHash } from "node:crypto";
import * as z from "zod";
import { encodedWords } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, everyone, exchange, headersOf, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailbox, type Mailing, type Outcome, type Pieces, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, particularBytes } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key (v3); begins with xkeysib-. If the account restricts IP addresses, allow this service's"),
});

export const brevo: Provider<typeof Credentials> = {
  key: "brevo",
  name: "Brevo",
  credentials: Credentials,
  webhookProof: "secret",
  // 20 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 14_000_000,
  tracking: { opens: false, clicks: false },
  // Half an hour by today's documentation, 15 minutes by older ones.
  idempotencySeconds: 900,
  batch: { max: 250, takes },
  async send({ mailing, credentials: { apiKey }, idempotencyKey }) {
    const unfit = mailing.attachments.find(({ filename }) => !extensions.has(extension(filename)));
    if (unfit) return everyone(mailing, { status: "refused", error: wrongType(unfit.filename) });
    return exchange(
      brevo,
      mailing,
      {
        url: "https://api.brevo.com/v3/smtp/email",
        headers: { "api-key": apiKey },
        body: body(mailing, uuid(idempotencyKey)),
        secrets: [apiKey],
      },
      {
        accepted: (answer) => accepted(answer, mailing),
        words: ({ json }) => Problem.safeParse(json).data?.message,
        verdict: ({ json }, words) => verdicts[Problem.safeParse(json).data?.code ?? ""] ?? (badSender.test(words) ? "config" : undefined),
        retryAfterSeconds,
      },
    );
  },
};

const Problem = z.object({ code: z.string(), message: z.string().default("") });
const Receipt = z.object({ messageId: z.string().optional(), messageIds: z.array(z.string()).optional() });

/**
 * Each version has its own content and headers; attachments go once. No size of a request is published: 20 MB, as for one mail.
 * A version without content of its own would get the content we give as common, which is the first recipient's.
 */
function takes(mailing: Mailing): boolean {
  const { subject, html, text, recipients } = mailing;
  const each = contentBytes({ ...mailing, attachments: [] });
  const bytes = recipients.reduce((sum, recipient) => sum + each + particularBytes(recipient), contentBytes(mailing));
  const whole = (pieces: Pieces | undefined) => !pieces || recipients.every((recipient) => filled(pieces, recipient).trim());
  return bytes <= 20_000_000 && [subject, html, text].every(whole);
}

function body(mailing: Mailing, idempotencyKey: string): object {
  const { recipients, replyTo, tags, attachments } = mailing;
  const first = recipients[0]!;
  const shared = content(mailing, first);
  const common = {
    sender: address(mailing.from),
    ...(replyTo && { replyTo: { email: replyTo } }),
    ...(tags.length > 0 && { tags }),
    ...(attachments.length > 0 && { attachment: attachments.map(({ filename, content }) => ({ name: filename, content })) }),
    ...shared,
  };
  if (recipients.length === 1)
    return { ...common, to: [address(first.to)], ...copied(mailing, first), headers: { ...headers(mailing, first), idempotencyKey } };
  const messageVersions = recipients.map((recipient) => ({
    to: [address(recipient.to)],
    ...copied(mailing, recipient),
    headers: headers(mailing, recipient),
    ...differing(content(mailing, recipient), shared),
  }));
  return { ...common, headers: { idempotencyKey }, messageVersions };
}

const address = ({ email, name }: Mailbox) => ({ email, ...(name && { name: [...name].slice(0, 70).join("") }) });

function copied(mailing: Mailing, recipient: Recipient): object {
  const email = bccOf(mailing, recipient);
  return email ? { bcc: [{ email }] } : {};
}

function headers(mailing: Mailing, { sendId, headers }: Recipient): Record<string, string> {
  const all = headersOf(mailing, { headers: { ...headers, "X-Mailin-custom": JSON.stringify({ sendId }) } });
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, /^[\x20-\x7e]*$/.test(value) ? value : encodedWords(value)]));
}

/** HTML is mandatory, so a mail of text alone gets its text as HTML too. */
function content(mailing: Mailing, recipient: Recipient): Record<string, unknown> {
  const text = filled(mailing.text ?? [], recipient);
  const html = filled(mailing.html ?? [], recipient) || asHtml(text);
  const parts = { subject: filled(mailing.subject, recipient), htmlContent: html, ...(text && { textContent: text }) };
  const harmless = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, inert(value)]));
  return { ...harmless, ...(Object.values(parts).some((value) => value !== inert(value)) && { params: literalBrace }) };
}

const asHtml = (text: string): string =>
  text
    .replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
    .split(/\r?\n/)
    .join("<br>\n");

/** Brevo evaluates `{{ }}`, `{% %}` and `{# #}` wherever they stand, but never what a parameter holds. */
const inert = (text: string): string => text.replace(/\{(?=[{%#])/g, "{{params.brace}}");
const literalBrace = { brace: "{" };

const differing = (own: Record<string, unknown>, shared: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(own).filter(([name, value]) => shared[name] !== value));

/** Only an earlier call of our own can have used the key: it was taken, and its message ids are not told again. */
function accepted({ status, json }: Answer, { recipients }: Mailing): Outcome[] | Outcome | undefined {
  if (status === 400 && repeats.has(Problem.safeParse(json).data?.code ?? "")) return { status: "accepted" };
  const receipt = Receipt.safeParse(json).data;
  if (status < 200 || status > 299 || !receipt) return undefined;
  const ids = receipt.messageIds ?? [receipt.messageId];
  return recipients.map((_, n) => ({ status: "accepted", messageId: ids.length === recipients.length ? ids[n] : undefined }));
}

const repeats = new Set(["duplicate_parameter", "duplicate_request"]);

const badSender = /sender.*not valid/i;
const verdicts: Record<string, Verdict> = {
  unauthorized: "config",
  permission_denied: "config",
  account_under_validation: "config",
  not_enough_credits: "config",
};

/** This header counts seconds; it is no point in time. */
function retryAfterSeconds({ status, headers }: Answer): number | undefined {
  const seconds = headers.get("x-sib-ratelimit-reset");
  return status === 429 && seconds && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

/** The key as Brevo wants it: the same for the same key, and of a UUID's form. */
function uuid(key: string): string {
  const hex = createHash("sha256").update(key).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

const extension = (filename: string): string => /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";

const wrongType = (filename: string): string =>
  `Brevo takes no attachment of the type of "${filename.slice(0, 100)}"; a common type such as pdf, docx, png or zip works`;

// The file name's ending decides, there is no field for a type.
const extensions = new Set(
  (
    "xlsx xls ods docx docm doc csv pdf txt gif jpg jpeg png tif tiff rtf bmp cgm css shtml html htm zip xml ppt pptx tar ez ics mobi " +
    "msg pub eps odt mp3 m4a m4v wma ogg flac wav aif aifc aiff mp4 mov avi mkv mpeg mpg wmv pkpass xlsm"
  ).split(" "),
);
