// The content of a mail or of a batch. It is stored once, separately from the sends.
import { config } from "../../../config.ts";
import type { Addressees, Mailbox } from "../../../providers/provider-adapter.ts";
import * as templates from "../../content/templates.ts";
import type { StoredAttachment } from "../intake/attachments.ts";
import type { MessageFields } from "../intake/message.ts";
import { createLinkBuilder } from "../secure-messages/secure-message-item.ts";
import {
  createMarketingLinks,
  type MarketingLinks,
  type MarketingSender,
} from "./marketing-mail.ts";
import { decorateHtml, type HtmlAdditions } from "./utm.ts";

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
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
  /** The version at acceptance. */
  template?: { id: number; version: number } | undefined;
  /** Replaces the subject of the template, if there is one. */
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  /** Resolved, with the defaults. */
  utm?: HtmlAdditions["utm"];
  previewText?: string | undefined;
  variables: Record<string, unknown>;
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
}

/** Input of `compose`, in addition to the content. */
export interface MailParts extends LiquidSources {
  marketing?: MarketingLinks | undefined;
  /** Where the branding footer links to. */
  brandingUrl?: string | undefined;
  /** Links to secure messages, by the ids of their sends. */
  secureLinkOf?: ((sendId: number) => string) | undefined;
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
export async function loadMailParts(orgId: number, content: MailContent): Promise<MailParts> {
  const [parts, marketing, secureLinkOf] = await Promise.all([
    loadLiquidParts(orgId, content),
    content.marketing && createMarketingLinks(content.marketing),
    content.secure && createLinkBuilder(orgId),
  ]);
  return {
    ...parts,
    ...(marketing && { marketing }),
    ...(content.branded && { brandingUrl: config.brandingUrl }),
    ...(secureLinkOf && { secureLinkOf }),
  };
}

/** The Liquid sources of a mail, from its template if it has one. */
export async function loadLiquidParts(
  orgId: number,
  {
    template,
    subject = "",
    html,
    text,
    ...additions
  }: Pick<MailContent, "template" | "subject" | "html" | "text" | "utm" | "previewText">,
): Promise<LiquidSources> {
  if (!template) return { subject, html: html && decorateHtml(html, additions), text };
  const body = await templates.readBody(orgId, template.id, template.version);
  return {
    subject: subject || body.subject,
    html: body.html ? decorateHtml(body.html, additions) : undefined,
    text: body.text ?? undefined,
  };
}
