// Renders a form as HTML with labels and field errors, without script. The form page, the HTML
// snippet and the embed script use it.

import type { FieldType, FormDesign, FormField } from "../domain/forms/form-design.ts";
import { type FormFieldError, honeypotField, isTicked } from "../domain/forms/form-entry.ts";
import { contactFields } from "../domain/forms/submissions.ts";
import { formPageWording } from "../email/wording/form-pages.ts";
import type { Language } from "../email/wording/subscriber-pages.ts";
import { type Html, html } from "../kernel/html.ts";

export interface FormView {
  formId: number;
  design: FormDesign;
  language: Language;
  /** The URL that the form posts to. */
  action: string;
  /** The entered values, by field name. */
  values?: Record<string, unknown>;
  errors?: FormFieldError[];
}

export function renderForm(view: FormView): Html {
  const { action, design, language } = view;
  const wording = formPageWording[language];
  const trap = html`<input name="${honeypotField}" tabindex="-1" autocomplete="off">`;
  return html`<form method="post" action="${action}" lang="${language}">
${design.fields.map((field) => renderField(view, field))}
<p data-trap aria-hidden="true" style="position:absolute;left:-9999px">
<label>${wording.honeypot} ${trap}</label></p>
<p><button${accentStyle(design)}>${design.submitLabel ?? wording.submit}</button></p>
</form>`;
}

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
  formPageWording[language].fieldErrors[
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
  if (contactField) return formPageWording[language][contactField];
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
    const prompt = placeholder ?? formPageWording[language].choose;
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

/**
 * The accent colour with black or white text, whichever has more contrast (w3.org/TR/WCAG22,
 * relative luminance).
 */
function accentStyle({ accent }: FormDesign): Html | false {
  if (accent === undefined) return false;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(accent.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
  return html` style="background:${accent};color:${isLight ? "#000" : "#fff"}"`;
}
