// Merge fields in the template syntax of a provider that takes one content and the values of each
// recipient. The provider's result must equal `fillMergeText`; `supports` of these adapters checks
// it.

import type { Mailing, MergeText, Recipient } from "./provider-adapter.ts";
import { mergeHeaders } from "./provider-http.ts";

/** Replaces merge fields by the provider's placeholders. */
export const toProviderTemplate = (
  mergeText: MergeText,
  placeholder: (field: number) => string,
): string =>
  mergeText.map((piece) => (typeof piece === "string" ? piece : placeholder(piece))).join("");

/** The distinct merge fields of the content. */
export const mergeFieldsOf = (mailing: Mailing): number[] => [
  ...new Set(allPieces(mailing).filter((piece) => typeof piece === "number")),
];

/** Texts that are the same for all recipients and that a template engine may evaluate. */
export const commonTexts = (mailing: Mailing): string[] => [
  ...[mailing.subject, mailing.html ?? [], mailing.text ?? []].flatMap(listLiterals),
  ...Object.values(mailing.headers),
  ...mailing.tags,
  mailing.from.name ?? "",
  ...(mailing.replyTo ?? []),
];

/** Texts of one recipient: its values and the values of its headers. */
export const recipientTexts = ({ values, headers }: Recipient): string[] => [
  ...values,
  ...Object.values(headers),
];

/**
 * Whether all addresses differ, ignoring case. Some providers identify a recipient by its address.
 */
export const hasDistinctAddresses = ({ recipients }: Mailing): boolean =>
  new Set(recipients.map(({ to }) => to.email.toLowerCase())).size === recipients.length;

/** Whether all recipients have the same header names, so that one template of headers is enough. */
export const hasSameHeaderNames = ({ recipients }: Mailing): boolean =>
  new Set(recipients.map(({ headers }) => Object.keys(headers).join("\n"))).size === 1;

/** The headers of the mailing, with a placeholder for each header of the recipients. */
export function headerTemplate(
  mailing: Mailing,
  placeholder: (n: number) => string,
): Record<string, string> {
  const own = Object.keys(mailing.recipients[0]?.headers ?? {}).map(
    (name, n) => [name, placeholder(n)] as const,
  );
  return mergeHeaders(mailing, { headers: Object.fromEntries(own) });
}

/** Returns a token that does not occur in the mailing, to build placeholders from. */
export function unusedToken(mailing: Mailing): string {
  const texts = [...commonTexts(mailing), ...mailing.recipients.flatMap(recipientTexts)];
  let n = 0;
  while (texts.some((text) => text.includes(`pm${n}`))) n++;
  return `pm${n}`;
}

/** Size of the content and the attachments, without values. */
export const contentBytes = (mailing: Mailing): number =>
  commonTexts(mailing).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
  mailing.attachments.reduce((sum, { content }) => sum + content.length, 0);

/** Size of the values of one recipient. */
export const recipientBytes = (recipient: Recipient): number =>
  recipientTexts(recipient).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const valueBytes = ({ recipients }: Mailing): number =>
  recipients.reduce((sum, recipient) => sum + recipientBytes(recipient), 0);

/** Size of a batch that has the content once, and the values of all recipients. */
export const templateBatchBytes = (mailing: Mailing): number =>
  contentBytes(mailing) + valueBytes(mailing);

/** Size of a batch that has the whole content for each recipient. */
export const fullBatchBytes = (mailing: Mailing): number =>
  contentBytes(mailing) * mailing.recipients.length + valueBytes(mailing);

/** Joins adjacent strings: two braces in a row may come from two of them. */
function listLiterals(mergeText: MergeText): string[] {
  const literals = [""];
  for (const piece of mergeText) {
    if (typeof piece === "number") literals.push("");
    else literals.push(literals.pop() + piece);
  }
  return literals;
}

const allPieces = ({ subject, html, text }: Mailing): MergeText => [
  ...subject,
  ...(html ?? []),
  ...(text ?? []),
];
