// The line that says what a mail was sent with, for organizations that chose the discount for it. It is the last thing in the mail.
import { type Language, languageOfHtml, mailWords } from "../../pages/mail-words.ts";
import type { Pieces } from "../../providers/provider.ts";
import { beforeBodyEnd } from "./marketing.ts";
import { escaped } from "./simple-mailing.ts";

export const htmlFooter = (link: string, language: Language): string =>
  `<div style="max-width:600px;margin:24px auto 0;padding:8px;text-align:center;font:11px/1.6 Arial,sans-serif;color:#595959"><a href="${escaped(link)}" style="color:#595959;text-decoration:underline">${escaped(mailWords[language].sentWith)}</a></div>`;

export const textFooter = (link: string, language: Language): string => `\n\n${mailWords[language].sentWith}: ${link}\n`;

export const brandedHtml = (html: Pieces, link: string): Pieces => beforeBodyEnd(html, [htmlFooter(link, languageOf(html))]);

/** In the language of the html, where there is one. */
export const brandedText = (text: Pieces, link: string, html: Pieces = []): Pieces => [...text, textFooter(link, languageOf(html))];

const languageOf = (html: Pieces): Language => languageOfHtml(html.find((piece) => typeof piece === "string") ?? "");
