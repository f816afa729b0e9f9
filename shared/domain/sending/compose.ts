// From what was accepted to what a provider is told. Pure: the same input makes the same bytes, so a call can be asked again.
import { boundedCache } from "../../cache.ts";
import { asOneLine } from "../../email.ts";
import * as liquid from "../../liquid.ts";
import { plainText } from "../../plain-text.ts";
import type { Attachment, Mailing, Pieces, Recipient } from "../../providers/provider.ts";
import { variables as secureVariables } from "../secure-messages/item.ts";
import { brandedHtml, brandedText } from "./branding.ts";
import type { Content, Wording } from "./content.ts";
import { headersOf, htmlWithFooter, type Prepared, textWithFooter } from "./marketing.ts";
import { escaped } from "./simple-mailing.ts";

export interface Addressee {
  sendId: number;
  to: string;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  contactId?: number | undefined;
}

export interface Composed {
  /** What is the same for all, said once. */
  common: Omit<Mailing, "recipients">;
  /** The rest stands in each recipient's `values`. Throws `invalid` when the wording cannot be rendered for this one. */
  recipient(addressee: Addressee): Recipient;
}

/** One content for one or many. */
export function compose(content: Content, wording: Wording, attachments: Attachment[]): Composed {
  const parts = partsOf(wording);
  const now = new Date(content.at);
  const { subject, html, text } = parts;
  const { from, replyTo, bcc, headers, tags, trackOpens, trackClicks } = content;
  const common = {
    from,
    replyTo,
    bcc,
    subject: subject.pieces,
    ...(html && { html: shifted(html.pieces, subject.holes) }),
    text: shifted(text.pieces, subject.holes + (html?.holes ?? 0)),
    headers,
    tags,
    attachments,
    trackOpens,
    trackClicks,
  };
  const recipient = (addressee: Addressee): Recipient => {
    const links = wording.marketing?.linksOf(addressee);
    const own = {
      ...(links && { [linkVariable]: links.page, contactToken: links.contactToken }),
      ...(wording.secureLinkOf && { [secureVariables.url]: wording.secureLinkOf(addressee.sendId) }),
    };
    const variables = { ...variablesFor(content, addressee), ...own };
    const to = { email: addressee.to, name: addressee.name };
    return { sendId: addressee.sendId, to, values: valuesOf(parts, variables, now), headers: links ? headersOf(links) : {} };
  };
  return { common, recipient };
}

/** What a template may speak of: what the caller gave for everyone, then for this one, and the address. */
export const variablesFor = (
  { variables }: Pick<Content, "variables">,
  { to, name, variables: own }: Pick<Addressee, "to" | "name" | "variables">,
) => ({
  email: to,
  ...(name !== undefined && { name }),
  ...variables,
  ...own,
});

interface Part {
  pieces: Pieces;
  holes: number;
  values(variables: Record<string, unknown>, now: Date): string[];
}
interface Parts {
  subject: Part;
  html: Part | undefined;
  /** Without values of its own it is filled with those of the html, made plain. */
  text: Omit<Part, "values"> & Partial<Part>;
}

/** What templates of marketing mail call the page where their reader unsubscribes. */
const linkVariable = "unsubscribeUrl";

// A template is compiled once for all the mails that say the same.
const known = boundedCache<Parts>(16_000_000);
const bytesPerCharacter = 4;

function partsOf(wording: Wording): Parts {
  const name = JSON.stringify(wording);
  const parts = known.get(name) ?? made(wording);
  known.set(name, parts, name.length * bytesPerCharacter);
  return parts;
}

function made(wording: Wording): Parts {
  const html = wording.html === undefined ? undefined : part(wording.html, "html", true);
  const text = wording.text || !html ? part(wording.text ?? "", "text", false) : textOf(html);
  const parts = { subject: lineOf(part(wording.subject, "subject", false)), html, text };
  const whole = wording.marketing ? withFooter(parts, wording.marketing) : parts;
  return wording.branding ? branded(whole, wording.branding) : whole;
}

function branded({ subject, html, text }: Parts, link: string): Parts {
  const ending = { ...text, pieces: brandedText(text.pieces, link, html?.pieces) };
  return { subject, html: html && { ...html, pieces: brandedHtml(html.pieces, link) }, text: ending };
}

/** Each part has one hole more: the link. A text that has no values of its own finds it where the html has it. */
function withFooter({ subject, html, text }: Parts, marketing: Prepared): Parts {
  const linkOf = (variables: Record<string, unknown>) => String(variables[linkVariable]);
  const { values } = text;
  return {
    subject,
    html: html && {
      pieces: htmlWithFooter(html.pieces, html.holes, marketing),
      holes: html.holes + 1,
      values: (variables, now) => [...html.values(variables, now), escaped(linkOf(variables))],
    },
    text: {
      pieces: textWithFooter(text.pieces, text.holes, marketing, html?.pieces),
      holes: text.holes + 1,
      ...(values && { values: (variables: Record<string, unknown>, now: Date) => [...values(variables, now), linkOf(variables)] }),
    },
  };
}

function part(source: string, field: string, escaped: boolean): Part {
  const { pieces, values } = liquid.split(liquid.compile(source, { escape: escaped, field }));
  const holes = 1 + Math.max(-1, ...pieces.filter((piece) => typeof piece === "number"));
  return { pieces, holes, values: (variables, now) => values(variables, { now }) };
}

function valuesOf({ subject, html, text }: Parts, variables: Record<string, unknown>, now: Date): string[] {
  const htmlValues = html?.values(variables, now) ?? [];
  const textValues = text.values?.(variables, now) ?? htmlValues.map((value) => (/[<&]/.test(value) ? plainText(value) : value));
  return [...subject.values(variables, now), ...htmlValues, ...textValues];
}

/** A subject is one line, whatever the variables hold: nothing of it may become a header. */
const lineOf = ({ pieces, holes, values }: Part): Part => ({
  pieces: pieces.map((piece) => (typeof piece === "string" ? asOneLine(piece) : piece)),
  holes,
  values: (variables, now) => values(variables, now).map(asOneLine),
});

/** A plain-text part made from the html, once for all who share it. */
function textOf({ pieces, holes }: Part): Parts["text"] {
  const marked = pieces.map((piece) => (typeof piece === "string" ? piece : mark(piece))).join("");
  const split = plainText(marked).split(/\uE000(\d+)\uE001/);
  return { pieces: split.map((piece, i) => (i % 2 ? Number(piece) : piece)), holes };
}

// From the private use area: no mail has them by accident, and html-to-text leaves them alone.
const mark = (hole: number): string => `\uE000${hole}\uE001`;

const shifted = (pieces: Pieces, by: number): Pieces => pieces.map((piece) => (typeof piece === "number" ? piece + by : piece));
