// A message that came by SMTP, in the fields of POST /send: the parts of MIME, and options in
// headers X-Pennymail-*.
import PostalMime, {
  type Address,
  type Attachment,
  decodeWords,
  type Email,
  type Header,
} from "postal-mime";
import { isSetByServers } from "../../../shared/domain/sending/accept/mail-headers.ts";
import { endingOfType } from "../../../shared/domain/sending/attachment-types.ts";
import { invalid } from "../../../shared/errors.ts";
import {
  type TranslatedFields,
  toLiteral,
  wrongField,
} from "../../../shared/http/compat/translated-mail.ts";
import { toSingleLine } from "../../../shared/kernel/email-fields.ts";
import { isObject, parseJson } from "../../../shared/kernel/json.ts";
import { endOfParsedLines } from "../../../shared/providers/inbound-mail/mime-parser.ts";
import { maxHeaderBytes } from "./message-identity.ts";

/**
 * One mail to all recipients of the envelope, or one to each: see `toAddressees`. Throws 400 that
 * names the header or the part.
 */
export async function readMessage(
  bytes: Uint8Array,
  recipients: string[],
): Promise<TranslatedFields[]> {
  if (endOfParsedLines(bytes) < bytes.length) throw invalid("The message has too many lines");
  const email = await PostalMime.parse(bytes, {
    attachmentEncoding: "base64",
    maxNestingDepth: 50,
    maxHeadersSize: maxHeaderBytes,
  }).catch((cause: unknown) => {
    throw invalid("The message is not valid MIME", { cause });
  });
  // The parser leaves encoded words (RFC 2047) of further headers as they are, and the tabs with
  // which lines are folded.
  const headers = email.headers.map((header) => ({
    ...header,
    value: toSingleLine(decodeWords(header.value)),
  }));
  const shared = toSharedFields({ ...email, headers });
  return toAddressees(email, recipients).map((addressees) => ({ ...shared, ...addressees }));
}

/**
 * The recipients in To and Cc see each other, and the others get a blind copy. But each recipient
 * gets the message alone if To is empty, or To and Cc have an address that the envelope lacks: a
 * list wrote them, or the client sends the message in several transactions.
 */
function toAddressees(
  { to = [], cc = [] }: Email,
  recipients: string[],
): Pick<TranslatedFields, "to" | "cc" | "bcc">[] {
  const [shownTo, shownCc] = [to.flatMap(toMailboxes), cc.flatMap(toMailboxes)];
  const shown = new Map(
    [...shownCc, ...shownTo].map((mailbox) => [mailbox.email.toLowerCase(), mailbox]),
  );
  const envelope = new Set(recipients.map((recipient) => recipient.toLowerCase()));
  if (!shownTo.length || [...shown.keys()].some((address) => !envelope.has(address)))
    return recipients.map((email) => ({ to: { ...shown.get(email.toLowerCase()), email } }));
  const hidden = recipients.filter((recipient) => !shown.has(recipient.toLowerCase()));
  return [
    {
      to: shownTo,
      ...(shownCc.length && { cc: shownCc }),
      ...(hidden.length && { bcc: hidden }),
    },
  ];
}

const toMailboxes = ({ address, name, group }: Address): { email: string; name?: string }[] => {
  if (group) return group.flatMap(toMailboxes);
  return address ? [{ email: address, ...(name && { name: toName(name) }) }] : [];
};

const toName = (name: string): string => toSingleLine(name).slice(0, 100).toWellFormed();

function toSharedFields(email: Email): Omit<TranslatedFields, "to"> {
  const { from, replyTo, subject, html, text, attachments } = email;
  const { address: fromEmail, name: fromName } = from ?? {};
  if (!fromEmail) throw wrongField("From", "is required");
  const options = readOptions(email.headers);
  const isTemplate = options.templateId !== undefined;
  return {
    fromEmail,
    fromName: fromName ? toName(fromName) : undefined,
    ...(!isTemplate && { subject: "(no subject)", ...toParts({ html, text }) }),
    ...(subject?.trim() && { subject: toLiteral(toSingleLine(subject)) }),
    replyTo: replyTo?.length ? replyTo.flatMap(({ address }) => address ?? []) : undefined,
    headers: toHeaders(email.headers),
    attachments: attachments.map((file, i) => toAttachment(file, { i, html })),
    ...options,
  };
}

/** Providers refuse a message without a text, such as one from a scanner with a file alone. */
function toParts({ html, text }: Pick<Email, "html" | "text">) {
  const [hasHtml, hasText] = [html, text].map((part) => /\S/.test(part ?? ""));
  if (!hasHtml) return { text: hasText ? toLiteral(text!) : "(no text)" };
  return { html: toLiteral(html!), text: text ? toLiteral(text) : undefined };
}

/** Options, and headers that servers set or that say how a message came here. */
const isLeftOut = (key: string): boolean =>
  isSetByServers(key) || /^x-pennymail-/.test(key) || serverHeaders.test(key);
const serverHeaders =
  /^x-(received$|originating-ip$|spam-|google-|gm-|ms-exchange-|microsoft-antispam|forefront-)/;

/** The first of several headers with one name. */
const toHeaders = (headers: Header[]): Record<string, string> =>
  Object.fromEntries(
    headers
      .filter(({ key }) => !isLeftOut(key))
      .toReversed()
      .map(({ key, originalKey, value }) => [
        originalKey,
        key === "references" ? shortenReferences(value) : value,
      ]),
  );

const maxHeaderLength = 998;

/** The first message of a long thread, and the last ones that the header has room for. */
function shortenReferences(value: string): string {
  if (value.length <= maxHeaderLength) return value;
  const [first = "", ...others] = value.trim().split(/\s+/);
  let kept = "";
  for (const id of others.toReversed()) {
    if (first.length + kept.length + id.length + 2 > maxHeaderLength) break;
    kept = ` ${id}${kept}`;
  }
  return `${first}${kept}`.slice(0, maxHeaderLength);
}

const maxFilenameLength = 200;

function toAttachment(file: Attachment, { i, html = "" }: { i: number; html: string | undefined }) {
  const { filename, mimeType, contentId, content } = file;
  const cid = contentId?.replace(/^<|>$/g, "");
  const isShown = cid !== undefined && /^image\//i.test(mimeType) && html.includes(`cid:${cid}`);
  const ending = endingOfType(mimeType);
  const name = filename || `attachment-${i + 1}${ending && `.${ending}`}`;
  return {
    filename: toSingleLine(name).replace(/[\\/]/g, "-").slice(-maxFilenameLength).toWellFormed(),
    type: mimeType,
    content: String(content),
    ...(isCalendar(mimeType) && toInvitation(file)),
    ...(isShown && { contentId: cid }),
  };
}

const isCalendar = (type: string): boolean => /^(text\/calendar|application\/ics)$/i.test(type);

/**
 * Mail programs offer to accept an invitation if its type says what it is for (RFC 6047). The
 * parser has made its text UTF-8, with line feeds only.
 */
function toInvitation({ method = "", content }: Attachment) {
  const text = Buffer.from(String(content), "base64").toString().replace(/\r?\n/g, "\r\n");
  return {
    content: Buffer.from(text).toString("base64"),
    ...(/^[A-Z]{1,20}$/.test(method) && {
      type: `text/calendar; charset=utf-8; method=${method}`,
    }),
  };
}

const prefix = "x-pennymail-";

type OptionReader = (value: string, header: string) => Partial<TranslatedFields>;

/** By the rest of the header's name. */
const optionReaders: Record<string, OptionReader> = {
  template: (value, header) => ({ templateId: readId(value, header) }),
  variables: (value, header) => ({ variables: readObject(value, header) }),
  metadata: (value, header) => ({
    metadata: readObject(value, header) as TranslatedFields["metadata"],
  }),
  tags: (value) => ({
    tags: value
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  }),
  site: (value, header) => ({ siteId: readId(value, header) }),
  "scheduled-at": (value) => ({ scheduledAt: value }),
  "track-opens": (value, header) => ({ trackOpens: readSwitch(value, header) }),
  "track-clicks": (value, header) => ({ trackClicks: readSwitch(value, header) }),
};

function readOptions(headers: Header[]): Partial<TranslatedFields> {
  const given = headers.filter(({ key }) => key.startsWith(prefix));
  return Object.assign(
    {},
    ...given.map(({ key, originalKey, value }) => {
      const name = key.slice(prefix.length);
      if (!Object.hasOwn(optionReaders, name)) throw wrongField(originalKey, "is not supported");
      return optionReaders[name]!(value, originalKey);
    }),
  );
}

function readId(value: string, header: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw wrongField(header, "must be an id such as 12");
  return Number(value);
}

function readObject(value: string, header: string): Record<string, unknown> {
  const parsed = parseJson(value);
  if (!isObject(parsed)) throw wrongField(header, "must be a JSON object");
  return parsed;
}

function readSwitch(value: string, header: string): boolean {
  if (value !== "true" && value !== "false") throw wrongField(header, "must be true or false");
  return value === "true";
}

/** Our names of fields to the headers and parts that they come from. */
export const headerNames = {
  fromEmail: "From",
  fromName: "From",
  to: "RCPT TO",
  cc: "RCPT TO",
  bcc: "RCPT TO",
  subject: "Subject",
  replyTo: "Reply-To",
  html: "HTML",
  text: "Text",
  attachments: "Attachments",
  templateId: "X-Pennymail-Template",
  variables: "X-Pennymail-Variables",
  metadata: "X-Pennymail-Metadata",
  tags: "X-Pennymail-Tags",
  siteId: "X-Pennymail-Site",
  scheduledAt: "X-Pennymail-Scheduled-At",
};
