// What a mail or a batch of mails says: stored once, apart from the sends.
import { config } from "../../config.ts";
import type { Mailbox } from "../../providers/provider.ts";
import * as secureLinks from "../secure-messages/links.ts";
import * as templates from "../templates.ts";
import type { StoredAttachment } from "./attachments.ts";
import { type Marketing, type Prepared, prepared } from "./marketing.ts";
import type { Message } from "./message.ts";

export interface Content {
  from: Mailbox;
  replyTo?: string | undefined;
  /** Gets a blind copy of each. */
  bcc?: string | undefined;
  headers: Record<string, string>;
  tags: string[];
  trackOpens?: boolean | undefined;
  trackClicks?: boolean | undefined;
  /** The version that was there when the mail was accepted. */
  template?: { id: number; version: number } | undefined;
  /** With a template: instead of the template's. */
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  variables: Record<string, unknown>;
  attachments: StoredAttachment[];
  /** Marketing mail carries a footer and a way out. */
  marketing?: Marketing | undefined;
  /** It ends with a line that says what it was sent with. */
  branded?: true | undefined;
  /** It is the notice of a secure message, and links to it. */
  secure?: true | undefined;
  /** When it was accepted: what Liquid calls now, so that a mail made again is the same to the byte. */
  at: string;
}

/** The three parts, as Liquid sources. */
export interface Wording {
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  marketing?: Prepared | undefined;
  /** Where the branding footer links to. */
  branding?: string | undefined;
  /** Links to secure messages, by the ids of their sends. */
  secureLinkOf?: ((sendId: number) => string) | undefined;
}

export const contentOf = (
  message: Message,
  from: Mailbox,
  template: Content["template"],
  attachments: StoredAttachment[],
  at: Date,
): Content => ({
  from,
  replyTo: message.replyTo,
  headers: message.headers,
  tags: message.tags,
  trackOpens: message.trackOpens,
  trackClicks: message.trackClicks,
  template,
  subject: message.subject,
  ...(!template && { html: message.html, text: message.text }),
  variables: message.variables,
  attachments,
  at: at.toISOString(),
});

/** All that is needed to compose at once. */
export async function wording(orgId: number, content: Content): Promise<Wording> {
  const [said, marketing, secureLinkOf] = await Promise.all([
    saidBy(orgId, content),
    content.marketing && prepared(content.marketing),
    content.secure && secureLinks.links(orgId),
  ]);
  return {
    ...said,
    ...(marketing && { marketing }),
    ...(content.branded && { branding: config.brandingUrl }),
    ...(secureLinkOf && { secureLinkOf }),
  };
}

async function saidBy(orgId: number, { template, subject = "", html, text }: Content): Promise<Wording> {
  if (!template) return { subject, html, text };
  const body = await templates.body(orgId, template.id, template.version);
  return { subject: subject || body.subject, html: body.html ?? undefined, text: body.text ?? undefined };
}
