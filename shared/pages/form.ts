// A form as html: real labels, nothing that needs script, faults said where they are. The same on our page, pasted into a page of the
// customer's, and put there by the script.

import type { Design, FieldType, FormField } from "../domain/forms/design.ts";
import { contactFields } from "../domain/forms/submissions.ts";
import { isTicked, trap, type Wrong } from "../domain/forms/values.ts";
import { type Html, html } from "../http/html.ts";
import { type Language, words } from "./words.ts";

export interface Shown {
  formId: number;
  design: Design;
  language: Language;
  /** Where it is sent. */
  action: string;
  /** What is in the fields, by name. */
  values?: Record<string, unknown>;
  wrong?: Wrong[];
}

export const form = (shown: Shown): Html => html`<form method="post" action="${shown.action}" lang="${shown.language}">
${shown.design.fields.map((field) => fieldHtml(shown, field))}
<p data-trap aria-hidden="true" style="position:absolute;left:-9999px"><label>${words[shown.language].honeypot} <input name="${trap}" tabindex="-1" autocomplete="off"></label></p>
<p><button${accented(shown.design)}>${shown.design.submitLabel ?? words[shown.language].submit}</button></p>
</form>`;

/** One sentence for each fault, which names the field. */
export const faultText = (language: Language, design: Design, wrong: Wrong): string =>
  words[language].wrong(labelOf(language, design, wrong.field), faultOf(language, wrong));

const faultOf = (language: Language, { field, fault }: Wrong): string =>
  words[language].faults[(fault === "required" && unanswered[field.type]) || fault];

/** What is asked of whoever left a required field as it was. */
const unanswered: Partial<Record<FieldType, "tick" | "choice">> = { checkbox: "tick", select: "choice" };

export const idOf = (formId: number, { name }: Pick<FormField, "name">): string => `pennymail-${formId}-${name}`;

export function labelOf(language: Language, { address }: Design, { name, label }: FormField): string {
  if (label) return label;
  if (name === address) return words[language].email;
  const own = contactFields.find((one) => one === name);
  if (own) return words[language][own];
  const text = name.replace(/[_-]+/g, " ").replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return text[0]!.toUpperCase() + text.slice(1);
}

function fieldHtml(shown: Shown, field: FormField): Html {
  const value = shown.values?.[field.name] ?? field.value ?? "";
  if (field.type === "hidden")
    return html`<input type="hidden" name="${field.name}" value="${text(value)}">
`;
  const wrong = shown.wrong?.find((one) => one.field.name === field.name);
  const isFirst = wrong !== undefined && shown.wrong?.[0] === wrong;
  const id = idOf(shown.formId, field);
  const attributes = html`id="${id}" name="${field.name}"${field.required && html` required`}${completes(field)}${wrong && html` aria-invalid="true" aria-describedby="${id}-fault"`}${isFirst && html` autofocus`}`;
  const label = html`${labelOf(shown.language, shown.design, field)}${field.required && html` <small>(${words[shown.language].required})</small>`}`;
  const fault = wrong && html`<span class="bad" id="${id}-fault">${sentence(faultOf(shown.language, wrong))}</span>`;
  const control = controls[field.type](field, attributes, text(value), shown.language);
  return field.type === "checkbox"
    ? html`<p><label>${control} <span>${label}</span></label>${fault}</p>
`
    : html`<p><label for="${id}">${label}</label>${control}${fault}</p>
`;
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const text = (value: unknown): string => (typeof value === "object" ? "" : String(value));

type Control = (field: FormField, attributes: Html, value: string, language: Language) => Html;
const input =
  (type: string, max?: number): Control =>
  ({ placeholder }, attributes, value) =>
    html`<input type="${type}" ${attributes}${max !== undefined && html` maxlength="${max}"`}${placeholder !== undefined && html` placeholder="${placeholder}"`} value="${value}">`;

const controls: Record<Exclude<FieldType, "hidden">, Control> = {
  checkbox: (_, attributes, value) => html`<input type="checkbox" value="true" ${attributes}${isTicked(value) && html` checked`}>`,
  email: input("email", 254),
  text: input("text", 500),
  number: (field, attributes, value, language) => input("number")(field, html`${attributes} step="any"`, value, language),
  date: input("date"),
  textarea: ({ placeholder }, attributes, value) =>
    html`<textarea ${attributes} rows="5" maxlength="2000"${placeholder !== undefined && html` placeholder="${placeholder}"`}>
${value}</textarea>`,
  select: ({ options, placeholder }, attributes, value, language) =>
    html`<select ${attributes}><option value="">${placeholder ?? words[language].choose}</option>${options.map(
      (option) => html`<option value="${option.value}"${option.value === value && html` selected`}>${option.label}</option>`,
    )}</select>`,
};

/** What browsers fill in by themselves (html.spec.whatwg.org, autofill). */
const completions: Record<string, string> = {
  firstName: "given-name",
  lastName: "family-name",
  phone: "tel",
  company: "organization",
};
const completes = ({ name, type }: FormField): Html | false => {
  const word = type === "email" ? "email" : completions[name];
  return word !== undefined && html` autocomplete="${word}"`;
};

/** Black or white on the customer's colour, whichever reads better (w3.org/TR/WCAG22, relative luminance). */
function accented({ accent }: Design): Html | false {
  if (accent === undefined) return false;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(accent.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
  return html` style="background:${accent};color:${isLight ? "#000" : "#fff"}"`;
}
