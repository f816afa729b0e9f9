// Our own page of a form, what it answers, and the page behind the link that asks to confirm.
import { type Html, html } from "../http/html.ts";
import { form, idOf, labelOf, type Shown } from "./form.ts";
import { page } from "./page.ts";
import { type Language, words } from "./words.ts";

export function formPage(shown: Shown): string {
  const { design, language: lang } = shown;
  return page({ lang, title: design.title, body: [faults(shown), description(design.description), form(shown)] });
}

const description = (text: string | undefined): Html =>
  html`${(text ?? "")
    .split(/\n+/)
    .filter(Boolean)
    .map((line) => html`<p>${line}</p>`)}`;

/** Which fields; what is wrong with them stands there. */
function faults({ formId, design, language, wrong = [] }: Shown): Html {
  if (!wrong.length) return html``;
  const lines = wrong.map((one) => html`<li><a href="#${idOf(formId, one.field)}">${labelOf(language, design, one.field)}</a></li>`);
  return html`<div role="alert"><p class="bad">${words[language].checkTitle}</p><ul>${lines}</ul></div>`;
}

const told = (lang: Language, title: string, text: string, more: Html = html``): string =>
  page({ lang, title, body: html`${description(text)}${more}` });

export const thanks = (language: Language, successMessage: string | undefined): string =>
  told(language, words[language].thanksTitle, successMessage ?? words[language].thanks);

export const pending = (language: Language): string => told(language, words[language].pendingTitle, words[language].pending);

export const closed = (language: Language): string => told(language, words[language].inactiveTitle, words[language].inactive);

export const unknown = (language: Language): string => told(language, words[language].invalidTitle, words[language].invalid);

interface Asked {
  email: string;
  siteName: string;
}

/** One button, to the page's own address: opening it confirms nothing. */
export function confirming(language: Language, { email, siteName }: Asked): string {
  const { confirmTitle, confirmAsk, confirm, confirmIgnore } = words[language];
  const button = html`<form method="post"><button>${confirm}</button></form><p class="faint">${confirmIgnore}</p>`;
  return told(language, confirmTitle, confirmAsk(email, siteName), button);
}

export const confirmed = (language: Language, { email, siteName }: Asked): string =>
  told(language, words[language].confirmedTitle, words[language].confirmed(email, siteName));
