// Renders a form as HTML with labels and field errors, without script. The form page, the HTML
// snippet and the embed script use it.

import type { FormCaptcha } from "../domain/forms/captcha.ts";
import { captchaProviders } from "../domain/forms/captcha-providers.ts";
import type { FieldType, FormDesign, FormField } from "../domain/forms/form-design.ts";
import { type FormFieldError, honeypotField, isTicked } from "../domain/forms/form-entry.ts";
import { contactFields } from "../domain/forms/submissions.ts";
import type { Brand } from "../email/brand/brand.ts";
import { textOn } from "../email/brand/colors.ts";
import { directionOf, type Language } from "../email/languages.ts";
import { fieldInputWording, formPageWording } from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";

export interface FormView {
  formId: number;
  design: FormDesign;
  language: Language;
  /** The URL that the form posts to. */
  action: string;
  /** The brand of the site. Its accent is that of a design without one. */
  brand?: Brand | null;
  /** The entered values, by field name. */
  values?: Record<string, unknown>;
  errors?: FormFieldError[];
  captcha: FormCaptcha | null;
  /** Why the entry was refused, if it is not because of a field. */
  notice?: string;
}

export function renderForm(view: FormView): Html {
  const { action, design, language } = view;
  const wording = formPageWording[language];
  const trap = html`<input name="${honeypotField}" tabindex="-1" autocomplete="off">`;
  const direction = directionOf(language);
  const submitLabel = design.submitLabel ?? wording.submit;
  const button = html`<button${accentStyle(view)}>${submitLabel}</button>`;
  return html`<form method="post" action="${action}" lang="${language}" dir="${direction}">
${design.fields.map((field) => renderField(view, field))}
<p data-trap aria-hidden="true" style="position:absolute;top:-9999px">
<label>${wording.honeypot} ${trap}</label></p>
${captchaWidget(view)}<p>${button}</p>
</form>`;
}

/** The colour of buttons on our own pages in light mode, which the preview of a form shows. */
const pageAccent = "#8f431d";

/**
 * The form with its heading and text, for the pages of others. Its button has the colour of the
 * preview; fonts and fields are those of the page.
 */
export const renderEmbeddedForm = (view: FormView): Html => {
  const { title, description, accent } = view.design;
  const design = { ...view.design, accent: accent ?? view.brand?.colors.accent ?? pageAccent };
  const form = renderForm({ ...view, design });
  return html`${[title && html`<h2>${title}</h2>`, paragraphs(description), form]}`;
};

export const paragraphs = (text: string | undefined): Html =>
  html`${(text ?? "")
    .split(/\n+/)
    .filter(Boolean)
    .map((line) => html`<p>${line}</p>`)}`;

/** The element that the script of the provider turns into a CAPTCHA. */
function captchaWidget({ captcha, language }: FormView): Html | false {
  if (!captcha) return false;
  const { className } = captchaProviders[captcha.provider];
  const locale = html`data-language="${language}" data-hl="${language}"`;
  return html`<div class="${className}" data-sitekey="${captcha.siteKey}" ${locale}></div>
`;
}

/** Loads the script of the CAPTCHA, for pages without the embed script. */
export const captchaScript = ({ captcha }: FormView): Html | false =>
  captcha !== null &&
  html`<script src="${captchaProviders[captcha.provider].scriptUrl}" async defer></script>
`;

/** A sentence that names the field and its error. */
export const fieldErrorText = (
  language: Language,
  design: FormDesign,
  wrong: FormFieldError,
): string =>
  formPageWording[language].fieldError(
    fieldLabel(language, design, wrong.field),
    fieldErrorPhrase(language, wrong),
  );

const fieldErrorPhrase = (language: Language, { field, code }: FormFieldError): string =>
  fieldInputWording[language].fieldErrors[
    (code === "required" && requiredPhrase[field.type]) || code
  ];

/** Phrases for empty required fields whose error is not "fill it in". */
const requiredPhrase: Partial<Record<FieldType, "tick" | "choice">> = {
  checkbox: "tick",
  select: "choice",
};

export const fieldId = (formId: number, { name }: Pick<FormField, "name">): string =>
  `pennymail-${formId}-${name}`;

export function fieldLabel(
  language: Language,
  { emailFieldName }: FormDesign,
  { name, label }: FormField,
): string {
  if (label) return label;
  if (name === emailFieldName) return formPageWording[language].email;
  const contactField = contactFields.find((one) => one === name);
  if (contactField) return fieldInputWording[language][contactField];
  const text = name
    .replace(/[_-]+/g, " ")
    .replace(
      /([a-z\d])([A-Z])/g,
      (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
    );
  return text[0]!.toUpperCase() + text.slice(1);
}

function renderField(view: FormView, field: FormField): Html {
  const value = view.values?.[field.name] ?? field.value ?? "";
  if (field.type === "hidden")
    return html`<input type="hidden" name="${field.name}" value="${fieldText(value)}">
`;
  const wrong = view.errors?.find((one) => one.field.name === field.name);
  const isFirst = wrong !== undefined && view.errors?.[0] === wrong;
  const id = fieldId(view.formId, field);
  const attributes = [
    html`id="${id}" name="${field.name}"`,
    field.required && html` required`,
    autocompleteAttribute(field),
    wrong && html` aria-invalid="true" aria-describedby="${id}-fault"`,
    isFirst && html` autofocus`,
  ];
  const { required } = formPageWording[view.language];
  const label = [
    fieldLabel(view.language, view.design, field),
    field.required && html` <small>(${required})</small>`,
  ];
  const faultText = wrong && capitalize(fieldErrorPhrase(view.language, wrong));
  const fault = wrong && html`<span class="bad" id="${id}-fault">${faultText}</span>`;
  const control = controls[field.type](field, {
    attributes: html`${attributes}`,
    value: fieldText(value),
    language: view.language,
  });
  return field.type === "checkbox"
    ? html`<p><label>${control} <span>${label}</span></label>${fault}</p>
`
    : html`<p><label for="${id}">${label}</label>${control}${fault}</p>
`;
}

const capitalize = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const fieldText = (value: unknown): string => (typeof value === "object" ? "" : String(value));

interface ControlInput {
  attributes: Html;
  value: string;
  language: Language;
}
type Control = (field: FormField, input: ControlInput) => Html;

const input =
  (type: string, max?: number): Control =>
  ({ placeholder }, { attributes, value }) =>
    html`<input type="${type}" ${attributes}${[
      max !== undefined && html` maxlength="${max}"`,
      placeholderAttribute(placeholder),
    ]} value="${value}">`;

const placeholderAttribute = (placeholder: string | undefined): Html | false =>
  placeholder !== undefined && html` placeholder="${placeholder}"`;

const controls: Record<Exclude<FieldType, "hidden">, Control> = {
  checkbox: (_, { attributes, value }) =>
    html`<input type="checkbox" value="true" ${attributes}${isTicked(value) && html` checked`}>`,
  email: input("email", 254),
  text: input("text", 500),
  number: (field, { attributes, ...rest }) =>
    input("number")(field, { attributes: html`${attributes} step="any"`, ...rest }),
  date: input("date"),
  textarea: ({ placeholder }, { attributes, value }) =>
    html`<textarea ${attributes} rows="5" maxlength="2000"${placeholderAttribute(placeholder)}>
${value}</textarea>`,
  select: ({ options, placeholder }, { attributes, value, language }) => {
    const choices = options.map((option) => {
      const selected = option.value === value && html` selected`;
      return html`<option value="${option.value}"${selected}>${option.label}</option>`;
    });
    const prompt = placeholder ?? fieldInputWording[language].choose;
    return html`<select ${attributes}><option value="">${prompt}</option>${choices}</select>`;
  },
};

/** Autofill tokens (html.spec.whatwg.org, autofill). */
const autocompleteTokens: Record<string, string> = {
  firstName: "given-name",
  lastName: "family-name",
  phone: "tel",
  company: "organization",
};
const autocompleteAttribute = ({ name, type }: FormField): Html | false => {
  const token = type === "email" ? "email" : autocompleteTokens[name];
  return token !== undefined && html` autocomplete="${token}"`;
};

/** The accent colour, with text that can be read on it. */
function accentStyle({ design, brand }: FormView): Html | false {
  const accent = design.accent ?? brand?.colors.accent;
  return accent !== undefined && html` style="background:${accent};color:${textOn(accent)}"`;
}
