// The pages of a form: the form itself, the responses to an entry, and the page of the confirmation
// link.
import { formPageWording } from "../email/wording/form-pages.ts";
import type { Language } from "../email/wording/subscriber-pages.ts";
import { type Html, html } from "../kernel/html.ts";
import { type FormView, fieldId, fieldLabel, renderForm } from "./form-html.ts";
import { renderPage } from "./page-layout.ts";

export function renderFormPage(view: FormView): string {
  const { design, language: lang } = view;
  return renderPage({
    lang,
    title: design.title,
    body: [errorSummary(view), paragraphs(design.description), renderForm(view)],
  });
}

const paragraphs = (text: string | undefined): Html =>
  html`${(text ?? "")
    .split(/\n+/)
    .filter(Boolean)
    .map((line) => html`<p>${line}</p>`)}`;

/** Links to the fields with errors. The error texts stand at the fields. */
function errorSummary({ formId, design, language, errors = [] }: FormView): Html {
  if (!errors.length) return html``;
  const { errorSummaryTitle } = formPageWording[language];
  const lines = errors.map(({ field }) => {
    const label = fieldLabel(language, design, field);
    return html`<li><a href="#${fieldId(formId, field)}">${label}</a></li>`;
  });
  return html`<div role="alert"><p class="bad">${errorSummaryTitle}</p><ul>${lines}</ul></div>`;
}

const renderMessagePage = (
  lang: Language,
  {
    title,
    text,
    extraHtml = html``,
  }: { title: string; text: string; extraHtml?: Html | undefined },
): string => renderPage({ lang, title, body: html`${paragraphs(text)}${extraHtml}` });

export const renderThanksPage = (language: Language, successMessage: string | undefined): string =>
  renderMessagePage(language, {
    title: formPageWording[language].thanksTitle,
    text: successMessage ?? formPageWording[language].thanks,
  });

export const renderCheckInboxPage = (language: Language): string =>
  renderMessagePage(language, {
    title: formPageWording[language].pendingTitle,
    text: formPageWording[language].pending,
  });

export const renderFormClosedPage = (language: Language): string =>
  renderMessagePage(language, {
    title: formPageWording[language].inactiveTitle,
    text: formPageWording[language].inactive,
  });

export const renderInvalidLinkPage = (language: Language): string =>
  renderMessagePage(language, {
    title: formPageWording[language].invalidTitle,
    text: formPageWording[language].invalid,
  });

interface ConfirmationRequest {
  email: string;
  siteName: string;
}

/** A button that posts to the page's own URL. Opening the page confirms nothing. */
export function renderConfirmPage(
  language: Language,
  { email, siteName }: ConfirmationRequest,
): string {
  const { confirmTitle, confirmAsk, confirm, confirmIgnore } = formPageWording[language];
  const button = html`<form method="post"><button>${confirm}</button></form>
<p class="faint">${confirmIgnore}</p>`;
  return renderMessagePage(language, {
    title: confirmTitle,
    text: confirmAsk(email, siteName),
    extraHtml: button,
  });
}

export const renderConfirmedPage = (
  language: Language,
  { email, siteName }: ConfirmationRequest,
): string =>
  renderMessagePage(language, {
    title: formPageWording[language].confirmedTitle,
    text: formPageWording[language].confirmed(email, siteName),
  });
