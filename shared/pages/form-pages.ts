// The pages of a form: the form itself, the responses to an entry, and the page of the confirmation
// link.
import type { Brand } from "../email/brand/brand.ts";
import type { Language } from "../email/languages.ts";
import {
  confirmationEmailWording,
  formPageWording,
  invalidLinkWording,
} from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";
import {
  captchaScript,
  type FormView,
  fieldId,
  fieldLabel,
  paragraphs,
  renderForm,
} from "./form-html.ts";
import { renderPage } from "./page-layout.ts";

export function renderFormPage(view: FormView): string {
  const { design, brand, language: lang } = view;
  return renderPage({
    lang,
    brand,
    title: design.title,
    body: [
      errorSummary(view),
      ...(view.notice ? [html`<p class="bad" role="alert">${view.notice}</p>`] : []),
      paragraphs(design.description),
      renderForm(view),
      html`${captchaScript(view)}`,
    ],
  });
}

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
    brand,
    extraHtml = html``,
  }: { title: string; text: string; extraHtml?: Html | undefined; brand?: PageBrand },
): string => renderPage({ lang, brand, title, body: html`${paragraphs(text)}${extraHtml}` });

type PageBrand = Brand | null | undefined;

export const renderThanksPage = ({ language, design, brand }: FormView): string =>
  renderMessagePage(language, {
    brand,
    title: formPageWording[language].thanksTitle,
    text: design.successMessage ?? formPageWording[language].thanks,
  });

export const renderCheckInboxPage = (language: Language, brand?: PageBrand): string =>
  renderMessagePage(language, {
    brand,
    title: formPageWording[language].pendingTitle,
    text: formPageWording[language].pending,
  });

export const renderFormClosedPage = ({ language, brand }: FormView): string =>
  renderMessagePage(language, {
    brand,
    title: formPageWording[language].inactiveTitle,
    text: formPageWording[language].inactive,
  });

export const renderInvalidLinkPage = (language: Language): string =>
  renderMessagePage(language, {
    title: invalidLinkWording[language].invalidTitle,
    text: invalidLinkWording[language].invalid,
  });

interface ConfirmationRequest {
  email: string;
  siteName: string;
  brand: Brand | null;
}

/** A button that posts to the page's own URL. Opening the page confirms nothing. */
export function renderConfirmPage(
  language: Language,
  { email, siteName, brand }: ConfirmationRequest,
): string {
  const { confirmTitle, confirmAsk, confirmIgnore } = formPageWording[language];
  const { confirm } = confirmationEmailWording[language];
  const button = html`<form method="post"><button>${confirm}</button></form>
<p class="faint">${confirmIgnore}</p>`;
  return renderMessagePage(language, {
    brand,
    title: confirmTitle,
    text: confirmAsk(email, siteName),
    extraHtml: button,
  });
}

/** A button that asks for a new email, because the link is too old. */
export function renderExpiredPage(
  language: Language,
  { email, siteName, brand }: ConfirmationRequest,
): string {
  const { expiredTitle, expired, sendAgain } = formPageWording[language];
  const button = html`<form method="post">
<button name="action" value="renew">${sendAgain}</button></form>`;
  return renderMessagePage(language, {
    brand,
    title: expiredTitle,
    text: expired(email, siteName),
    extraHtml: button,
  });
}

export const renderConfirmedPage = (
  language: Language,
  { email, siteName, brand }: ConfirmationRequest,
): string =>
  renderMessagePage(language, {
    brand,
    title: formPageWording[language].confirmedTitle,
    text: formPageWording[language].confirmed(email, siteName),
  });
