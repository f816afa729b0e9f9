// "Sent with Pennymail": the last line of mails of organizations that get a discount for it.
import { escapeHtml } from "../kernel/html.ts";
import type { MergeText } from "../providers/provider-adapter.ts";
import { insertBeforeBodyEnd } from "./html-footer.ts";
import type { Language } from "./languages.ts";
import { emailFooterWording } from "./wording/by-topic.ts";

const boxStyle =
  "max-width:600px;margin:24px auto 0;padding:8px;text-align:center;" +
  "font:11px/1.6 Arial,sans-serif;color:#595959";
const linkStyle = "color:#595959;text-decoration:underline";

export function renderBrandingHtml(link: string, language: Language): string {
  const text = escapeHtml(emailFooterWording[language].sentWith);
  const anchor = `<a href="${escapeHtml(link)}" style="${linkStyle}">${text}</a>`;
  return `<div style="${boxStyle}">${anchor}</div>`;
}

export const renderBrandingText = (link: string, language: Language): string =>
  `\n\n${emailFooterWording[language].sentWith}: ${link}\n`;

export const addHtmlBranding = (html: MergeText, link: string, language: Language): MergeText =>
  insertBeforeBodyEnd(html, [renderBrandingHtml(link, language)]);
