// The page of a link `browserUrl`: the email itself, or why there is none.
import type { BrowserView } from "../domain/sending/sent-content.ts";
import type { Brand } from "../email/brand/brand.ts";
import { scanHtml } from "../email/html-scanner.ts";
import type { Language } from "../email/languages.ts";
import { browserViewWording, invalidLinkWording } from "../email/wording/by-topic.ts";
import { escapeHtml, type Html, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/**
 * The email can have any HTML. The sandbox gives the page an origin of its own, without scripts,
 * forms and frames, so that it can neither read nor do anything as the service. Links work, and
 * the pages that they open have no sandbox.
 */
export const emailPageHeaders = {
  "content-security-policy":
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src " +
    "'unsafe-inline' https:; img-src data: https: http:; font-src data: https:; media-src " +
    "https:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-frame-options": "DENY",
  "x-dns-prefetch-control": "off",
  "x-robots-tag": "noindex",
};

/** Search engines may list the page of an archive. */
const { "x-robots-tag": _, ...publicHeaders } = emailPageHeaders;
export const publicEmailPageHeaders = publicHeaders;

interface EmailPageOptions {
  /** Search engines may list it. */
  isPublic?: boolean;
}

export function renderEmailPage(
  lang: Language,
  { subject, ...email }: BrowserView,
  { isPublic = false }: EmailPageOptions = {},
): string {
  if (email.html !== null) return addToHead(email.html, subject, { isPublic });
  const body = html`<div class="text">${linkAddresses(email.text)}</div>`;
  return renderPage({ lang, title: subject, body, wide: true, isPublic });
}

/** Adds the title, and what keeps search engines away unless the page is public. */
function addToHead(source: string, subject: string, { isPublic }: EmailPageOptions): string {
  const { tags, doctypeEnd } = scanHtml(source, ["head", "html", "title"]);
  const opening = (name: string) => tags.find((tag) => tag.name === name && !tag.isClosing);
  const at = opening("head")?.end ?? opening("html")?.end ?? doctypeEnd;
  const title = opening("title") ? "" : `<title>${escapeHtml(subject)}</title>`;
  const doctype = doctypeEnd ? "" : "<!doctype html>";
  const robots = isPublic ? "" : '<meta name="robots" content="noindex">';
  const added = `${robots}${title}`;
  return doctype + source.slice(0, at) + added + source.slice(at);
}

const linkAddresses = (text: string): Html[] =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : html`${part}`));

/** Why there is no email to show. */
export function renderNoEmailPage(
  lang: Language,
  { reason, brand }: { reason: "gone" | "invalid" | "preview"; brand: Brand | null },
): string {
  const words = { ...invalidLinkWording[lang], ...browserViewWording[lang] };
  const title = words[`${reason}Title`];
  return renderPage({ lang, brand, title, body: html`<p>${words[reason]}</p>` });
}
