// The content of a mail or of a batch. It is stored once, separately from the sends.
import { config } from "../../../config.ts";
import { type BrandLook, insertBrandLook, toBrandLook } from "../../../email/brand/look.ts";
import { markLanguage } from "../../../email/html-language.ts";
import type { Snippets } from "../../../email/liquid.ts";
import type { Addressees, Mailbox } from "../../../providers/provider-adapter.ts";
import type { PinnedBrand } from "../../content/mail-brand.ts";
import { loadSnippets, type PinnedSnippets } from "../../content/mail-snippets.ts";
import { chooseTexts, subjectsOf } from "../../content/template-translations.ts";
import * as templates from "../../content/templates.ts";
import type { StoredAttachment } from "../accept/attachments.ts";
import type { MessageFields } from "../accept/message-fields.ts";
import { createLinkBuilder } from "../secure-messages/secure-message-item.ts";
import { loadFeed } from "./feeds.ts";
import {
  createMarketingLinks,
  type MarketingLinks,
  type MarketingSender,
} from "./marketing-mail.ts";
import type { MailTracking } from "./own-tracking.ts";
import { decorateHtml, type HtmlAdditions } from "./utm.ts";

/** How long content is kept, for mail that is not handed over yet and for late events. */
export const contentTtlSeconds = 60 * 24 * 3600;

export interface MailContent {
  from: Mailbox;
  /** One address, or a list. */
  replyTo?: string | string[] | undefined;
  /** Gets a blind copy of each mail. */
  bcc?: string | undefined;
  /** Further addressees of a single mail. */
  copies?: Addressees | undefined;
  headers: Record<string, string>;
  tags: string[];
  /** Our own links and pixel track the mail. Absent: the provider tracks it, or nobody does. */
  tracking?: "own" | undefined;
  /** The site and its tracking domain, if our own links have the domain as host name. */
  trackingSite?: { id: number; domain: string } | undefined;
  /** Undefined: by default, which is yes for our own tracking. */
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
  /** The version at acceptance. */
  template?: { id: number; version: number } | undefined;
  /** The language that the recipient of a single mail reads, if the template has translations. */
  locale?: string | undefined;
  /** Replaces the subject of the template, if there is one. */
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  /** The versions of the snippets that it uses, at acceptance. */
  snippets?: PinnedSnippets | undefined;
  /** The brand at acceptance, if the mail can read it. */
  brand?: PinnedBrand | undefined;
  /** Resolved, with the defaults. */
  utm?: HtmlAdditions["utm"];
  previewText?: string | undefined;
  variables: Record<string, unknown>;
  /** The S3 key of the JSON that the mail shows as `feed`. */
  feed?: string | undefined;
  attachments: StoredAttachment[];
  /** Set on marketing mail, which has a footer with an unsubscribe link. */
  marketing?: MarketingSender | undefined;
  /** The mail ends with a branding line. */
  branded?: true | undefined;
  /** The mail is the notice of a secure message and links to it. */
  secure?: true | undefined;
  /**
   * When it was accepted. Liquid uses this as the current time, so that rendering is deterministic.
   */
  at: string;
}

export interface LiquidSources {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** By name. */
  snippets?: Snippets | undefined;
  /** The language of these sources. Absent: it is not known. */
  locale?: string | undefined;
}

/** Input of `compose`, in addition to the content. */
export interface LiquidMail extends LiquidSources {
  marketing?: MarketingLinks | undefined;
  /** Where the branding footer links to. */
  brandingUrl?: string | undefined;
  /** The value of `feed`. */
  feed?: unknown;
  /** The value of `brandLook`. */
  brandLook?: BrandLook | undefined;
  /** Links to secure messages, by the ids of their sends. */
  secureLinkOf?: ((sendId: number) => string) | undefined;
  /** Set only for the mail that is handed over: previews have the links as they are. */
  tracking?: MailTracking | undefined;
}

/** The content of single sends and batches. */
const defaultUtm = { source: "email", medium: "email" };

export const toMailContent = (
  message: MessageFields,
  {
    from,
    template,
    attachments,
    at,
  }: {
    from: Mailbox;
    template: MailContent["template"];
    attachments: StoredAttachment[];
    at: Date;
  },
): MailContent => ({
  from,
  replyTo: message.replyTo,
  headers: message.headers,
  tags: message.tags,
  trackOpens: message.trackOpens,
  trackClicks: message.trackClicks,
  template,
  locale: message.locale,
  subject: message.subject,
  ...(!template && { html: message.html, text: message.text }),
  // The notice of a secure message has no links but ours.
  ...(!message.secure && {
    utm: message.utm && { ...defaultUtm, ...message.utm },
    previewText: message.previewText,
  }),
  variables: message.variables,
  attachments,
  at: at.toISOString(),
});

/** Loads everything that `compose` needs, so that composing is synchronous. */
export async function loadLiquidMail(orgId: number, content: MailContent): Promise<LiquidMail> {
  const brandLook = content.brand && toBrandLook(content.brand);
  const [fields, marketing, secureLinkOf, feed] = await Promise.all([
    loadLiquidSources(orgId, content, brandLook),
    content.marketing && createMarketingLinks(content.marketing),
    content.secure && createLinkBuilder(orgId),
    content.feed === undefined ? undefined : loadFeed(content.feed),
  ]);
  return {
    ...fields,
    ...(marketing && { marketing }),
    ...(content.branded && { brandingUrl: config.brandingUrl }),
    ...(secureLinkOf && { secureLinkOf }),
    ...(feed !== undefined && { feed }),
    ...(brandLook && { brandLook }),
  };
}

type SourceFields = Pick<
  MailContent,
  "template" | "locale" | "subject" | "html" | "text" | "snippets" | "utm" | "previewText"
>;

/** The Liquid sources of a mail, from its template if it has one. */
export async function loadLiquidSources(
  orgId: number,
  { template, locale, subject = "", html, text, snippets: pinned, ...additions }: SourceFields,
  brandLook?: BrandLook,
): Promise<LiquidSources> {
  const [body, loaded] = await Promise.all([
    template && templates.readBody(orgId, template.id, template.version),
    pinned && loadSnippets(orgId, pinned),
  ]);
  const finish = (source: string, added: HtmlAdditions = additions) =>
    decorateHtml(brandLook ? insertBrandLook(source, brandLook) : source, added);
  const { utm } = additions;
  const snippets = loaded && { snippets: mapSnippetHtml(loaded, (one) => finish(one, { utm })) };
  if (!body) return { subject, html: html && finish(html), text, ...snippets };
  const chosen = chooseTexts(body, locale);
  const previewText = additions.previewText ?? chosen.previewText ?? undefined;
  return inLanguage(chosen.locale, {
    subject: subject || chosen.subject,
    html: chosen.html ? finish(chosen.html, { ...additions, previewText }) : undefined,
    text: chosen.text ?? undefined,
    ...snippets,
  });
}

function inLanguage(locale: string | null, sources: LiquidSources): LiquidSources {
  if (locale === null) return sources;
  const { html, snippets = {} } = sources;
  const marked = html === undefined ? { snippets } : markLanguage({ html, snippets }, locale);
  return { ...sources, ...marked, locale };
}

/** The Liquid sources of a mail in each language of its template. */
export async function loadSourcesOfLanguages(
  orgId: number,
  content: Omit<SourceFields, "locale">,
): Promise<LiquidSources[]> {
  const { template } = content;
  const body = template && (await templates.readBody(orgId, template.id, template.version));
  const locales = Object.keys((body && subjectsOf(body)) ?? {});
  return Promise.all(
    [undefined, ...locales].map((locale) => loadLiquidSources(orgId, { ...content, locale })),
  );
}

const mapSnippetHtml = (snippets: Snippets, change: (html: string) => string): Snippets =>
  Object.fromEntries(
    Object.entries(snippets).map(([name, { html, text }]) => [
      name,
      { html: html && change(html), text },
    ]),
  );
