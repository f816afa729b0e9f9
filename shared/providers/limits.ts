// Finds what a provider would refuse in a mail: before the mail is accepted, and again after it is
// rendered.
import { encodedValue, formatMailbox } from "./mailbox-format.ts";
import type { Attachment, Mailing, Recipient } from "./provider-adapter.ts";
import type { Traits } from "./traits.ts";

export interface Flaw {
  /** Path of the field in the API request. */
  path: string;
  message: string;
}

/** The fields that all mails of a mailing share. */
export interface Commons {
  from: Mailing["from"];
  replyTo?: string[] | undefined;
  headers: Record<string, string>;
  attachments: (Pick<Attachment, "filename" | "contentId"> & { size: number })[];
}

/** Finds the first flaw that is the same for all recipients. */
export function commonFlaw(
  provider: Traits,
  { from, replyTo, headers, attachments }: Commons,
): Flaw | undefined {
  return (
    fromFlaw(provider, from) ??
    replyToFlaw(provider, replyTo) ??
    headersFlaw(provider, headers) ??
    attachmentsFlaw(provider, attachments)
  );
}

/** Finds the first flaw of a recipient's rendered mail. */
export function recipientFlaw(
  provider: Traits,
  mailing: Omit<Mailing, "recipients" | "attachments">,
  recipient: Recipient,
) {
  const { subject, html = [], text = [], headers } = mailing;
  const isBlank = (mergeText: Mailing["subject"]): boolean =>
    !mergeText.some((part) => /\S/.test(fillPart(part, recipient)));
  if (isBlank(subject)) return "The subject renders empty";
  if (isBlank(html) && isBlank(text)) return "The body renders empty";
  const flaw = subjectFlaw(provider, subject.map((part) => fillPart(part, recipient)).join(""));
  return (flaw ?? headersFlaw(provider, { ...headers, ...recipient.headers }))?.message;
}

const fillPart = (part: string | number, { values }: Recipient): string =>
  typeof part === "string" ? part : (values[part] ?? "");

export function subjectFlaw(
  { name, limits: { subjectCharacters: max } = {} }: Traits,
  subject: string,
): Flaw | undefined {
  if (max === undefined || [...subject].length <= max) return undefined;
  return { path: "subject", message: `${name} takes at most ${max} characters of subject` };
}

function fromFlaw(
  { name, limits: { fromCharacters: max } = {} }: Traits,
  from: Mailing["from"],
): Flaw | undefined {
  if (max === undefined || formatMailbox(from).length <= max) return undefined;
  const path = from.name ? "fromName" : "fromEmail";
  return {
    path,
    message: `${name} takes at most ${max} characters of the sender's name and address together`,
  };
}

function replyToFlaw(
  { name, limits: { replyTos: max } = {} }: Traits,
  replyTo: string[] = [],
): Flaw | undefined {
  if (max === undefined || replyTo.length <= max) return undefined;
  return { path: "replyTo", message: `${name} takes only one address for replies` };
}

function headersFlaw(
  { name: provider, limits = {} }: Traits,
  headers: Record<string, string>,
): Flaw | undefined {
  const all = Object.entries(headers);
  const {
    headers: maxHeaders = all.length,
    headerCharacters,
    headerBytes,
    asciiHeaders,
    forbiddenHeaders,
  } = limits;
  if (all.length > maxHeaders)
    return { path: "headers", message: `${provider} takes at most ${maxHeaders} headers` };
  for (const [name, value] of all) {
    const path = `headers.${name}`;
    if (forbiddenHeaders?.has(name.toLowerCase()))
      return { path, message: `${provider} does not take the header ${name}` };
    if (asciiHeaders && !isAscii(value))
      return { path, message: `${provider} takes only ASCII in header values` };
    if (headerCharacters !== undefined && encodedValue(value).length > headerCharacters)
      return {
        path,
        message: `${provider} takes at most ${headerCharacters} characters in a header value`,
      };
  }
  const bytes = all.reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0);
  if (headerBytes === undefined || bytes <= headerBytes) return undefined;
  return {
    path: "headers",
    message: `${provider} takes at most ${headerBytes.toLocaleString("en-US")} bytes of headers`,
  };
}

/** Finds the first flaw of the attachments of a mail. */
export function attachmentsFlaw(
  { name, limits = {}, maxAttachmentBytes }: Traits,
  files: Commons["attachments"],
): Flaw | undefined {
  const { filenameBytes = Number.POSITIVE_INFINITY, filenameEndings, noInlineImages } = limits;
  const shown = (filename: string) => JSON.stringify(filename.slice(0, 100));
  for (const [i, { filename, contentId }] of files.entries()) {
    const path = `attachments.${i}.filename`;
    if (noInlineImages && contentId !== undefined)
      return {
        path: `attachments.${i}.contentId`,
        message: `${name} cannot show attachments inside the HTML`,
      };
    if (Buffer.byteLength(filename) > filenameBytes)
      return { path, message: `${name} takes file names of at most ${filenameBytes} bytes` };
    if (filenameEndings && !filenameEndings.has(endingOf(filename)))
      return {
        path,
        message:
          `${name} takes no attachment of the type of ${shown(filename)}; a common type such ` +
          "as pdf, docx, png or zip works",
      };
  }
  if (files.reduce((sum, { size }) => sum + size, 0) <= maxAttachmentBytes) return undefined;
  return {
    path: "attachments",
    message:
      `${name} accepts at most ${maxAttachmentBytes.toLocaleString("en-US")} bytes of ` +
      "attachments per mail",
  };
}

/** The file extension in lower case, or an empty text. */
export const endingOf = (filename: string): string =>
  /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
