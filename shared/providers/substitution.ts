// Holes in a provider's own template syntax, for providers that take one content and each recipient's values apart.
// What goes in must come out as `filled` would have it: `takes` of each such provider asks here whether it can.
import { headersOf } from "./exchange.ts";
import type { Mailing, Pieces, Recipient } from "./provider.ts";

/** The content with each hole written as the provider's placeholder. */
export const template = (pieces: Pieces, placeholder: (hole: number) => string): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : placeholder(piece))).join("");

/** Every hole of the content, once. */
export const holes = (mailing: Mailing): number[] => [...new Set(contents(mailing).filter((piece) => typeof piece === "number"))];

/** What everybody gets alike: each unbroken run of the content, and whatever else a template engine may look into. */
export const literals = (mailing: Mailing): string[] => [
  ...[mailing.subject, mailing.html ?? [], mailing.text ?? []].flatMap(runs),
  ...Object.values(mailing.headers),
  ...mailing.tags,
  mailing.from.name ?? "",
  mailing.replyTo ?? "",
];

/** What only one recipient gets: the values, and the values of the recipient's own headers. */
export const particulars = ({ values, headers }: Recipient): string[] => [...values, ...Object.values(headers)];

/** Nobody is addressed twice, in whatever case: some providers know a recipient by the address alone. */
export const distinct = ({ recipients }: Mailing): boolean =>
  new Set(recipients.map(({ to }) => to.email.toLowerCase())).size === recipients.length;

/** All recipients have headers of the same names, so that one template of headers serves them all. */
export const alike = ({ recipients }: Mailing): boolean =>
  new Set(recipients.map(({ headers }) => Object.keys(headers).join("\n"))).size === 1;

/** The headers of everybody, with the n-th of the recipients' own as a placeholder. */
export function headerTemplate(mailing: Mailing, placeholder: (n: number) => string): Record<string, string> {
  const own = Object.keys(mailing.recipients[0]?.headers ?? {}).map((name, n) => [name, placeholder(n)] as const);
  return headersOf(mailing, { headers: Object.fromEntries(own) });
}

/** A word that stands nowhere in the mailing, so that a placeholder made of it is found only where we put it. */
export function absentWord(mailing: Mailing): string {
  const texts = [...literals(mailing), ...mailing.recipients.flatMap(particulars)];
  let salt = 0;
  while (texts.some((text) => text.includes(`pm${salt}`))) salt++;
  return `pm${salt}`;
}

/** Bytes that the mailing's content takes when it is said once, without the values. */
export const contentBytes = (mailing: Mailing): number =>
  literals(mailing).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
  mailing.attachments.reduce((sum, { content }) => sum + content.length, 0);

/** Bytes that one recipient's values take. */
export const particularBytes = (recipient: Recipient): number =>
  particulars(recipient).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Strings side by side are one run: two braces may come from two of them. */
function runs(pieces: Pieces): string[] {
  const found = [""];
  for (const piece of pieces) {
    if (typeof piece === "number") found.push("");
    else found.push(found.pop() + piece);
  }
  return found;
}

const contents = ({ subject, html, text }: Mailing): Pieces => [...subject, ...(html ?? []), ...(text ?? [])];
