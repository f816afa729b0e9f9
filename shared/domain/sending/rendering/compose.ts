// Turns stored content into a mailing for a provider. Deterministic: equal input gives equal bytes,
// so that a call can be repeated.

import { addHtmlBranding, addTextBranding } from "../../../email/branding-footer.ts";
import * as liquid from "../../../email/liquid.ts";
import { htmlToText } from "../../../email/plain-text.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { escapeHtml } from "../../../kernel/html.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import type {
  Attachment,
  Mailing,
  MergeText,
  Recipient,
} from "../../../providers/provider-adapter.ts";
import { noticeVariables } from "../secure-messages/secure-message-item.ts";
import type { MailContent, MailParts } from "./mail-content.ts";
import {
  addHtmlFooter,
  addTextFooter,
  buildUnsubscribeHeaders,
  listFooterFields,
  type MarketingLinks,
} from "./marketing-mail.ts";

export interface MailRecipient {
  sendId: number;
  to: string;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  contactId?: number | undefined;
}

export interface ComposedMail {
  /** The content that all recipients share, with merge fields. */
  common: Omit<Mailing, "recipients">;
  /**
   * Fills the merge fields. Throws `invalid` when the mail cannot be rendered for this recipient,
   * or only with more than `budget`.
   */
  renderRecipient(recipient: MailRecipient, budget?: liquid.Budget): Recipient;
}

export function compose(
  content: MailContent,
  parts: MailParts,
  attachments: Attachment[],
): ComposedMail {
  const compiled = compileParts(parts);
  const now = new Date(content.at);
  const { subject, html, text } = compiled;
  const { from, replyTo, bcc, copies, headers, tags, trackOpens, trackClicks } = content;
  const common = {
    from,
    replyTo: replyTo === undefined ? undefined : [replyTo].flat(),
    bcc,
    ...(copies && { copies }),
    subject: subject.pieces,
    ...(html && { html: shiftMergeFields(html.pieces, subject.mergeFieldCount) }),
    text: shiftMergeFields(text.pieces, subject.mergeFieldCount + (html?.mergeFieldCount ?? 0)),
    headers,
    tags,
    attachments,
    trackOpens,
    trackClicks,
  };
  const renderRecipient = (recipient: MailRecipient, budget = new liquid.Budget()): Recipient => {
    const { sendId, to, name } = recipient;
    const links = parts.marketing?.linksOf(recipient);
    const variables = {
      ...mergeVariables(content, recipient),
      ...(links && {
        [linkVariables.unsubscribePage]: links.unsubscribePage,
        [linkVariables.preferencePage]: links.preferencePage,
        ...(compiled.readsContactToken && { contactToken: links.contactToken() }),
      }),
      ...(parts.secureLinkOf && { [noticeVariables.url]: parts.secureLinkOf(sendId) }),
    };
    return {
      sendId,
      to: { email: to, name },
      values: renderValues(compiled, variables, { now, budget }),
      headers: links ? buildUnsubscribeHeaders(links) : {},
    };
  };
  return { common, renderRecipient };
}

/** The variables of a template: the recipient's own override those for all recipients. */
export const mergeVariables = (
  { variables }: Pick<MailContent, "variables">,
  { to, name, variables: recipientVariables }: Pick<MailRecipient, "to" | "name" | "variables">,
) => ({
  email: to,
  ...(name !== undefined && { name }),
  ...variables,
  ...recipientVariables,
});

interface RenderOptions {
  now: Date;
  budget: liquid.Budget;
}

interface CompiledPart {
  pieces: MergeText;
  mergeFieldCount: number;
  values(variables: Record<string, unknown>, options: RenderOptions): string[];
}
interface CompiledParts {
  subject: CompiledPart;
  html: CompiledPart | undefined;
  /**
   * Without `values`, its merge fields get the values of the html part, converted to plain text.
   */
  text: Omit<CompiledPart, "values"> & Partial<CompiledPart>;
  /** Tokens take time, and few templates have this one. */
  readsContactToken: boolean;
}

/** The variables of marketing templates with the pages of the recipient. */
const linkVariables = { unsubscribePage: "unsubscribeUrl", preferencePage: "preferencesUrl" };

// Content is compiled once for all mails that share it.
const compiledCache = createLruCache<CompiledParts>(16_000_000);
const bytesPerCharacter = 4;

function compileParts(parts: MailParts): CompiledParts {
  const cacheKey = JSON.stringify(parts);
  const compiled = compiledCache.get(cacheKey) ?? compileWithFooters(parts);
  compiledCache.set(cacheKey, compiled, cacheKey.length * bytesPerCharacter);
  return compiled;
}

function compileWithFooters({
  subject,
  html: htmlSource,
  text: textSource,
  marketing,
  brandingUrl,
}: MailParts): CompiledParts {
  const html = htmlSource === undefined ? undefined : compilePart(htmlSource, "html", true);
  const text =
    textSource || !html ? compilePart(textSource ?? "", "text", false) : toTextPart(html);
  const compiled = {
    readsContactToken: [subject, htmlSource, textSource].some(readsContactToken),
    subject: toSingleLinePart(compilePart(subject, "subject", false)),
    html,
    text,
  };
  const withMarketing = marketing ? addMarketingFooter(compiled, marketing) : compiled;
  return brandingUrl ? addBrandingFooter(withMarketing, brandingUrl) : withMarketing;
}

/** A path in brackets can name any variable. */
const readsContactToken = (source = ""): boolean => /contactToken|\[/.test(source);

function addBrandingFooter(parts: CompiledParts, link: string): CompiledParts {
  const { html, text } = parts;
  const ending = { ...text, pieces: addTextBranding(text.pieces, link, html?.pieces) };
  return {
    ...parts,
    html: html && { ...html, pieces: addHtmlBranding(html.pieces, link) },
    text: ending,
  };
}

/**
 * Adds merge fields for the links to each part. A text part without values of its own takes the
 * links from the values of the html part.
 */
function addMarketingFooter(parts: CompiledParts, marketing: MarketingLinks): CompiledParts {
  const { html, text } = parts;
  const fields = listFooterFields(marketing);
  const linksOf = (variables: Record<string, unknown>) =>
    fields.map((field) => String(variables[linkVariables[field]]));
  const { values } = text;
  return {
    ...parts,
    html: html && {
      pieces: addHtmlFooter(html.pieces, html.mergeFieldCount, marketing),
      mergeFieldCount: html.mergeFieldCount + fields.length,
      values: (variables, options) => [
        ...html.values(variables, options),
        ...linksOf(variables).map(escapeHtml),
      ],
    },
    text: {
      pieces: addTextFooter(text.pieces, text.mergeFieldCount, {
        sender: marketing,
        html: html?.pieces,
      }),
      mergeFieldCount: text.mergeFieldCount + fields.length,
      ...(values && {
        values: (variables: Record<string, unknown>, options: RenderOptions) => [
          ...values(variables, options),
          ...linksOf(variables),
        ],
      }),
    },
  };
}

function compilePart(source: string, field: string, escaped: boolean): CompiledPart {
  const { pieces, values } = liquid.toSubstitutions(
    liquid.compile(source, { escape: escaped, field }),
  );
  const mergeFieldCount = 1 + Math.max(-1, ...pieces.filter((piece) => typeof piece === "number"));
  return { pieces, mergeFieldCount, values };
}

function renderValues(
  { subject, html, text }: CompiledParts,
  variables: Record<string, unknown>,
  options: RenderOptions,
): string[] {
  const htmlValues = html?.values(variables, options) ?? [];
  const textValues =
    text.values?.(variables, options) ??
    htmlValues.map((value) => plainValue(value, options.budget));
  return [...subject.values(variables, options), ...htmlValues, ...textValues];
}

// The work of the html parser grows with the number of tags.
const unitsPerTag = 1000;

function plainValue(value: string, budget: liquid.Budget): string {
  if (!/[<&]/.test(value)) return value;
  budget.use(5 * value.length + unitsPerTag * (value.split("<").length - 1));
  return htmlToText(value);
}

/**
 * Removes line breaks from the subject and its values, so that nothing in it can become a header.
 */
const toSingleLinePart = ({ pieces, mergeFieldCount, values }: CompiledPart): CompiledPart => ({
  pieces: pieces.map((piece) => (typeof piece === "string" ? toSingleLine(piece) : piece)),
  mergeFieldCount,
  values: (variables, options) => values(variables, options).map(toSingleLine),
});

/** Makes the plain-text part from the html part. */
function toTextPart({ pieces, mergeFieldCount }: CompiledPart): CompiledParts["text"] {
  const marked = pieces
    .map((piece) => (typeof piece === "string" ? piece : toMergeFieldMark(piece)))
    .join("");
  const split = htmlToText(marked).split(/\uE000(\d+)\uE001/);
  return { pieces: split.map((piece, i) => (i % 2 ? Number(piece) : piece)), mergeFieldCount };
}

// Characters of the private use area do not occur in mail, and html-to-text keeps them.
const toMergeFieldMark = (mergeField: number): string => `\uE000${mergeField}\uE001`;

const shiftMergeFields = (pieces: MergeText, by: number): MergeText =>
  pieces.map((piece) => (typeof piece === "number" ? piece + by : piece));
