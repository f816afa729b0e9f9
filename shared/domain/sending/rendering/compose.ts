// Turns stored content into a mailing for a provider. Deterministic: equal input gives equal bytes,
// so that a call can be repeated.

import { addHtmlBranding, renderBrandingText } from "../../../email/branding-footer.ts";
import { detectHtmlLanguage } from "../../../email/html-footer.ts";
import { type Language, supportedLanguage } from "../../../email/languages.ts";
import {
  type TrackedHtml,
  type TrackedRecipient,
  trackHtml,
} from "../../../email/link-tracking.ts";
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
import { toBrandVariable } from "../../content/mail-brand.ts";
import { noticeVariables } from "../secure-messages/secure-message-item.ts";
import type { LiquidMail, MailContent } from "./mail-content.ts";
import {
  addHtmlFooter,
  addTextFooter,
  buildFooter,
  buildUnsubscribeHeaders,
  type MailFooter,
  type MarketingLinks,
  toAddressLine,
} from "./marketing-mail.ts";
import type { MailTracking } from "./own-tracking.ts";

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
  /** The mail has links and a pixel of our own, so the provider tracks nothing. */
  isTracked: boolean;
}

export function compose(
  content: MailContent,
  { feed, brandLook, tracking, ...fields }: LiquidMail,
  attachments: Attachment[],
): ComposedMail {
  const compiled = compileFields(fields, tracking);
  const now = new Date(content.at);
  const { subject, text, tracked } = compiled;
  const html = tracked ?? compiled.html;
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
    const { marketing } = fields;
    const links = marketing?.linksOf({ ...recipient, locale: fields.locale });
    const variables = {
      ...(brandLook && { brandLook }),
      ...mergeVariables(content, recipient),
      ...(feed !== undefined && { feed }),
      ...(marketing && { [postalAddressVariable]: toAddressLine(marketing) }),
      ...(links && {
        [linkVariables.unsubscribePage]: links.unsubscribePage,
        [linkVariables.preferencePage]: links.preferencePage,
        ...(compiled.readsContactToken && { contactToken: links.contactToken() }),
        ...(compiled.readsBrowserLink && { browserUrl: links.browserPage() }),
      }),
      ...(fields.secureLinkOf && { [noticeVariables.url]: fields.secureLinkOf(sendId) }),
    };
    return {
      sendId,
      to: { email: to, name },
      values: renderValues(compiled, variables, {
        now,
        budget,
        tracked: tracking && {
          token: tracking.tokenOf(sendId),
          untrackedLinks: links ? [links.unsubscribePage, links.preferencePage] : [],
        },
      }),
      headers: links && !marketing?.isNotice ? buildUnsubscribeHeaders(links) : {},
    };
  };
  return { common, renderRecipient, isTracked: tracking !== undefined };
}

/** The variables of a template: the recipient's own override those for all recipients. */
export const mergeVariables = (
  { variables, brand }: Pick<MailContent, "variables" | "brand">,
  { to, name, variables: recipientVariables }: Pick<MailRecipient, "to" | "name" | "variables">,
) => ({
  ...(brand && { brand: toBrandVariable(brand) }),
  email: to,
  ...(name !== undefined && { name }),
  ...variables,
  ...recipientVariables,
});

interface RenderOptions {
  now: Date;
  budget: liquid.Budget;
}

interface CompiledField {
  pieces: MergeText;
  mergeFieldCount: number;
  values(variables: Record<string, unknown>, options: RenderOptions): string[];
  /** For each merge field, the variables that it shows for every recipient. */
  shownVariables: string[][];
}
interface CompiledFields {
  subject: CompiledField;
  html: CompiledField | undefined;
  /**
   * Without `values`, its merge fields get the values of the html, converted to plain text.
   */
  text: Omit<CompiledField, "values" | "shownVariables"> & Partial<CompiledField>;
  /** Tokens take time, and few templates have these. */
  readsContactToken: boolean;
  readsBrowserLink: boolean;
  /** The html with tracked links and a pixel. */
  tracked?: TrackedHtml | undefined;
}

/** The variables of marketing templates with the pages of the recipient. */
const linkVariables = { unsubscribePage: "unsubscribeUrl", preferencePage: "preferencesUrl" };

/** The variable of marketing templates with the postal address of the sender, in one line. */
const postalAddressVariable = "postalAddress";

// Content is compiled once for all mails that share it.
const compiledCache = createLruCache<CompiledFields>(16_000_000);
const bytesPerCharacter = 4;

function compileFields(fields: LiquidMail, tracking: MailTracking | undefined): CompiledFields {
  const cacheKey = JSON.stringify([fields, tracking]);
  const compiled = compiledCache.get(cacheKey) ?? compileWithTracking(fields, tracking);
  compiledCache.set(cacheKey, compiled, cacheKey.length * bytesPerCharacter);
  return compiled;
}

/** The plain text is made from the html before, so it has the links as they are. */
function compileWithTracking(
  fields: LiquidMail,
  tracking: MailTracking | undefined,
): CompiledFields {
  const compiled = compileWithFooters(fields);
  const { html } = compiled;
  return tracking && html ? { ...compiled, tracked: trackHtml(html, tracking) } : compiled;
}

function compileWithFooters({
  subject,
  html: htmlSource,
  text: textSource,
  snippets = {},
  marketing,
  brandingUrl,
  locale,
}: LiquidMail): CompiledFields {
  const html =
    htmlSource === undefined ? undefined : compileField(htmlSource, { field: "html", snippets });
  const text =
    textSource || !html
      ? compileField(textSource ?? "", { field: "text", snippets })
      : toTextField(html);
  const inSnippets = Object.values(snippets).flatMap((one) => [one.html ?? "", one.text ?? ""]);
  // A path in brackets can name any variable.
  const sources = [subject, htmlSource, textSource, ...inSnippets];
  const compiled = {
    readsContactToken: sources.some((source = "") => /contactToken|\[/.test(source)),
    readsBrowserLink: sources.some((source = "") => /browserUrl|\[/.test(source)),
    subject: toSingleLineField(compileField(subject, { field: "subject" })),
    html,
    text,
  };
  const language = supportedLanguage(locale ?? "") ?? detectLanguage(html?.pieces);
  const withMarketing = marketing ? addMarketingFooter(compiled, marketing, language) : compiled;
  return brandingUrl ? addBrandingFooter(withMarketing, brandingUrl, language) : withMarketing;
}

/** The language in the html, for a mail whose template names none. */
const detectLanguage = (pieces: MergeText | undefined): Language =>
  detectHtmlLanguage(pieces?.find((piece) => typeof piece === "string") ?? "");

function addBrandingFooter(
  fields: CompiledFields,
  link: string,
  language: Language,
): CompiledFields {
  const { html, text } = fields;
  return {
    ...fields,
    html: html && { ...html, pieces: addHtmlBranding(html.pieces, link, language) },
    text: { ...text, pieces: [...text.pieces, renderBrandingText(link, language)] },
  };
}

/**
 * Adds what the mail does not show itself, with merge fields for the links. A text without values
 * of its own takes the links from the values of the html.
 */
function addMarketingFooter(
  fields: CompiledFields,
  marketing: MarketingLinks,
  language: Language,
): CompiledFields {
  const { html, text } = fields;
  const { values } = text;
  const toFooter = (shown: Set<string>) => ({ ...footerOf(marketing, shown), language });
  const ofHtml = html && toFooter(listShownInHtml(html));
  const ofText = (values ? undefined : ofHtml) ?? toFooter(listShownInText(text));
  const linksOf = ({ links }: MailFooter, variables: Record<string, unknown>) =>
    links.map((link) => String(variables[linkVariables[link]]));
  return {
    ...fields,
    html: html &&
      ofHtml && {
        ...html,
        pieces: addHtmlFooter(html.pieces, html.mergeFieldCount, ofHtml),
        mergeFieldCount: html.mergeFieldCount + ofHtml.links.length,
        values: (variables, options) => [
          ...html.values(variables, options),
          ...linksOf(ofHtml, variables).map(escapeHtml),
        ],
      },
    text: {
      ...text,
      pieces: addTextFooter(text.pieces, text.mergeFieldCount, ofText),
      mergeFieldCount: text.mergeFieldCount + ofText.links.length,
      ...(values && {
        values: (variables: Record<string, unknown>, options: RenderOptions) => [
          ...values(variables, options),
          ...linksOf(ofText, variables),
        ],
      }),
    },
  };
}

/** Leaves out the parts whose variables the mail shows. */
const footerOf = (marketing: MarketingLinks, shown: Set<string>) =>
  buildFooter(marketing, {
    hasAddress: shown.has(postalAddressVariable),
    hasUnsubscribeLink: shown.has(linkVariables.unsubscribePage),
  });

/** The variables that readers of the html see: not those in comments, styles or hidden elements. */
function listShownInHtml(html: CompiledField): Set<string> {
  const names = new Set(html.shownVariables.flat());
  const isNeeded = names.has(postalAddressVariable) || names.has(linkVariables.unsubscribePage);
  return isNeeded ? listShownInText({ ...html, ...toTextField(html) }) : new Set();
}

const listShownInText = ({
  pieces,
  shownVariables = [],
}: Pick<CompiledFields["text"], "pieces" | "shownVariables">): Set<string> =>
  new Set(pieces.flatMap((piece) => (typeof piece === "number" ? shownVariables[piece]! : [])));

function compileField(
  source: string,
  { field, snippets }: { field: keyof liquid.SnippetParts | "subject"; snippets?: liquid.Snippets },
): CompiledField {
  const template = liquid.compile(source, { escape: field === "html", field, snippets });
  const { pieces, values } = liquid.toSubstitutions(template);
  const mergeFieldCount = 1 + Math.max(-1, ...pieces.filter((piece) => typeof piece === "number"));
  return { pieces, mergeFieldCount, values, shownVariables: liquid.shownVariables(template) };
}

function renderValues(
  { subject, html, text, tracked }: CompiledFields,
  variables: Record<string, unknown>,
  { tracked: recipient, ...options }: RenderOptions & { tracked: TrackedRecipient | undefined },
): string[] {
  const htmlValues = html?.values(variables, options) ?? [];
  const textValues =
    text.values?.(variables, options) ??
    htmlValues.map((value) => plainValue(value, options.budget));
  const shownValues =
    tracked && recipient ? tracked.toValues(htmlValues, recipient, options.budget) : htmlValues;
  return [...subject.values(variables, options), ...shownValues, ...textValues];
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
const toSingleLineField = ({
  pieces,
  mergeFieldCount,
  values,
  shownVariables,
}: CompiledField): CompiledField => ({
  shownVariables,
  pieces: pieces.map((piece) => (typeof piece === "string" ? toSingleLine(piece) : piece)),
  mergeFieldCount,
  values: (variables, options) => values(variables, options).map(toSingleLine),
});

/** Makes the plain text from the html. */
function toTextField({ pieces, mergeFieldCount }: CompiledField): CompiledFields["text"] {
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
