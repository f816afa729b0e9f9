// Brevo, transactional email: https://developers.brevo.com/reference/send-transac-email
import { createHash } from "node:crypto";
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { isOurs, searchMails } from "./look-up.ts";
import { encodeWords } from "./mailbox-format.ts";
import { contentBytes, templateBatchBytes } from "./merge-fields.ts";
import {
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  type Mailbox,
  type Mailing,
  type MergeText,
  type ProviderAdapter,
  type Recipient,
} from "./provider-adapter.ts";
import {
  callProvider,
  type FailureKind,
  mergeHeaders,
  type ProviderResponse,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField(
    "API key (v3); begins with xkeysib-. If the account restricts IP addresses, allow this " +
      "service's",
  ),
});

export const brevo: ProviderAdapter<typeof Credentials> = {
  key: "brevo",
  ...traits.brevo,
  credentials: Credentials,
  webhookProof: "secret",
  tracking: { opens: false, clicks: false },
  // The documentation says 30 minutes, an older version 15.
  idempotencySeconds: 900,
  batch: { max: 250, supports: supportsBatch },
  credentialRequest: ({ apiKey }) => ({
    url: "https://api.brevo.com/v3/account",
    headers: { "api-key": apiKey },
  }),
  send({ mailing, credentials: { apiKey }, idempotencyKey, repeated = false }) {
    return callProvider(brevo, mailing, {
      url: "https://api.brevo.com/v3/smtp/email",
      headers: { "api-key": apiKey },
      body: body(mailing, uuid(idempotencyKey)),
      secrets: [apiKey],
      readOutcomes: (response) => readOutcomes(response, mailing, repeated),
      errorText: ({ json }) => Problem.safeParse(json).data?.message,
      failureKind: ({ json }, errorText) =>
        failureByCode[Problem.safeParse(json).data?.code ?? ""] ??
        (badSender.test(errorText) ? "config" : undefined),
    });
  },
  // https://developers.brevo.com/reference/get-transac-emails-list, 2 requests per second. It does
  // not document after which delay it has all mails, and users can delete them from it, so only a
  // found mail counts. It shows tags, and neither headers nor our id in X-Mailin-custom.
  lookUp: {
    max: 1,
    find({ mails, since, credentials: { apiKey } }) {
      const { sendId, to } = mails[0]!;
      const query = new URLSearchParams({ email: to, sort: "desc", limit: "500", offset: "0" });
      return searchMails({
        provider: brevo,
        mails,
        request: {
          url: `https://api.brevo.com/v3/smtp/emails?${query}`,
          headers: { "api-key": apiKey },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const page = MailList.safeParse(json).data;
          if (!page) return undefined;
          const own = page.transactionalEmails.filter(
            ({ email, date, tags }) =>
              isOurs({ to: email, at: date }, { mails, since }) && hasIdTag(tags, sendId),
          );
          // If a call has two mails to one address, the answer does not tell which one it means.
          const messageId = own.length === 1 ? own[0]!.messageId : undefined;
          return {
            found: own.map(() => ({ sendId: String(sendId), messageId })),
            isComplete: page.count <= page.transactionalEmails.length,
          };
        },
      });
    },
  },
};

// Brevo leaves out the list if it is empty.
const MailList = z.object({
  count: z.number(),
  transactionalEmails: z
    .array(
      z.object({
        date: z.string(),
        email: z.string(),
        messageId: z.string(),
        tags: z.array(z.string()).catch([]),
      }),
    )
    .default([]),
});

const Problem = z.object({ code: z.string(), message: z.string().default("") });
const Receipt = z.object({
  messageId: z.string().optional(),
  messageIds: z.array(z.string()).optional(),
});

/**
 * Each version has its own content and headers; attachments are sent once. Brevo publishes no limit
 * for requests, so the limit of one mail (20 MB) is used. A version without own content would get
 * the common content, which is the first recipient's.
 */
function supportsBatch(mailing: Mailing): boolean {
  const { subject, html, text, recipients } = mailing;
  const bytesEach = contentBytes({ ...mailing, attachments: [] });
  const bytes = templateBatchBytes(mailing) + bytesEach * recipients.length;
  const isNeverEmpty = (mergeText: MergeText | undefined) =>
    !mergeText || recipients.every((recipient) => fillMergeText(mergeText, recipient).trim());
  return bytes <= 20_000_000 && [subject, html, text].every(isNeverEmpty);
}

function body(mailing: Mailing, idempotencyKey: string): object {
  const { recipients, replyTo, tags, attachments } = mailing;
  const first = recipients[0]!;
  const shared = content(mailing, first);
  const common = {
    sender: address(mailing.from),
    ...(replyTo && { replyTo: { email: replyTo[0] } }),
    tags: [...tags, ...idTags(recipients)],
    ...(attachments.length > 0 && {
      attachment: attachments.map(({ filename, content }) => ({ name: filename, content })),
    }),
    ...shared,
  };
  if (recipients.length === 1)
    return {
      ...common,
      ...addresseeFields(mailing, first),
      headers: { ...headers(mailing, first), idempotencyKey },
    };
  const messageVersions = recipients.map((recipient) => ({
    ...addresseeFields(mailing, recipient),
    headers: headers(mailing, recipient),
    ...changedFields(content(mailing, recipient), shared),
  }));
  return { ...common, headers: { idempotencyKey }, messageVersions };
}

const maxIdTags = 10;

/**
 * Tags with the send ids of a call, such as pennymail-7 or pennymail-7-256, because versions have
 * no tags of their own. The mails of a call with many gaps between its ids cannot be looked up.
 */
function idTags(recipients: Recipient[]): string[] {
  const ranges: { first: number; last: number }[] = [];
  for (const sendId of recipients.map((recipient) => recipient.sendId).toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && sendId <= range.last + 1) range.last = sendId;
    else ranges.push({ first: sendId, last: sendId });
  }
  const tags = ranges.map(({ first, last }) =>
    first === last ? `pennymail-${first}` : `pennymail-${first}-${last}`,
  );
  return tags.length <= maxIdTags ? tags : [];
}

const hasIdTag = (tags: string[], sendId: number): boolean =>
  tags.some((tag) => {
    const [, first, last = first] = /^pennymail-(\d+)(?:-(\d+))?$/.exec(tag) ?? [];
    return Number(first) <= sendId && sendId <= Number(last);
  });

const address = ({ email, name }: Mailbox) => ({ email, ...(name && { name: nameOf(name) }) });

const maxNameCharacters = 70;
const punctuation = /[()<>[\]:;@\\,."]/;

/**
 * Brevo drops a name with non-ASCII letters and punctuation unless it is an encoded word. A name
 * that is too long for that loses its punctuation.
 */
function nameOf(name: string): string {
  if (punctuation.test(name) && !/^[\x20-\x7e]*$/.test(name)) {
    const encoded = encodeWords(name);
    if (encoded.length <= maxNameCharacters) return encoded;
    return truncate(name.replace(new RegExp(punctuation, "g"), " ").replace(/ +/g, " ").trim());
  }
  return truncate(name);
}

const truncate = (name: string): string => [...name].slice(0, maxNameCharacters).join("");

function addresseeFields(mailing: Mailing, recipient: Recipient): object {
  const { to, cc, bcc } = addresseesOf(mailing, recipient);
  return {
    to: to.map(address),
    ...(cc.length && { cc: cc.map(address) }),
    ...(bcc.length && { bcc: bcc.map(address) }),
  };
}

function headers(mailing: Mailing, { sendId, headers }: Recipient): Record<string, string> {
  return mergeHeaders(mailing, {
    headers: { ...headers, "X-Mailin-custom": JSON.stringify({ sendId }) },
  });
}

/** HTML is required, so a text-only mail gets its text as HTML too. */
function content(mailing: Mailing, recipient: Recipient): Record<string, unknown> {
  const text = fillMergeText(mailing.text ?? [], recipient);
  const html = fillMergeText(mailing.html ?? [], recipient) || asHtml(text);
  const parts = {
    subject: fillMergeText(mailing.subject, recipient),
    htmlContent: html,
    ...(text && { textContent: text }),
  };
  const escaped = Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, escapeTemplateSyntax(value)]),
  );
  return {
    ...escaped,
    ...(Object.values(parts).some((value) => value !== escapeTemplateSyntax(value)) && {
      params: literalBrace,
    }),
  };
}

const asHtml = (text: string): string =>
  text
    .replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
    .split(/\r?\n/)
    .join("<br>\n");

/** Brevo evaluates `{{ }}`, `{% %}` and `{# #}` anywhere, except in parameter values. */
const escapeTemplateSyntax = (text: string): string =>
  text.replace(/\{(?=[{%#])/g, "{{params.brace}}");
const literalBrace = { brace: "{" };

const changedFields = (own: Record<string, unknown>, shared: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(own).filter(([name, value]) => shared[name] !== value));

/**
 * If Brevo reports the idempotency key of a repeated attempt as used, an earlier attempt was
 * accepted;
 * Brevo does not repeat its message ids. On a first attempt the response is a refusal.
 */
function readOutcomes(
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  repeated: boolean,
): HandOverOutcome[] | HandOverOutcome | undefined {
  if (repeated && status === 400 && duplicates.has(Problem.safeParse(json).data?.code ?? ""))
    return { status: "accepted" };
  const receipt = Receipt.safeParse(json).data;
  const ids = receipt?.messageIds ?? (receipt?.messageId ? [receipt.messageId] : undefined);
  if (status < 200 || status > 299 || !ids) return undefined;
  return recipients.map((_, n) => ({
    status: "accepted",
    messageId: ids.length === recipients.length ? ids[n] : undefined,
  }));
}

const duplicates = new Set(["duplicate_parameter", "duplicate_request"]);

const badSender = /sender.{0,200}not valid/i;
const failureByCode: Record<string, FailureKind> = {
  unauthorized: "config",
  permission_denied: "config",
  account_under_validation: "config",
  not_enough_credits: "config",
};

/** Brevo requires keys in the form of a UUID. Derives one from the key. */
function uuid(key: string): string {
  const hex = createHash("sha256").update(key).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
