// The forms of the preference page: fields of the contact, a pause, and the reason for leaving.
import { leaveReasons, snoozeDays } from "../domain/audience/contacts/preference-choices.ts";
import type {
  PreferenceField,
  PreferenceFieldType,
} from "../domain/audience/contacts/preference-fields.ts";
import type { UnsubscribeStatus } from "../domain/delivery-events/unsubscribes.ts";
import type { Language } from "../email/languages.ts";
import { fieldInputWording, unsubscribePageWording } from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";
import { invalidIf } from "./page-layout.ts";

export interface FieldRefusal {
  /** Key of the field whose value was refused. */
  key: string;
  /** Values as they were entered, by key. */
  entered: Record<string, unknown>;
}

export function fieldForm(
  lang: Language,
  fields: UnsubscribeStatus["fields"],
  refusal: FieldRefusal | undefined,
): Html {
  const wording = unsubscribePageWording[lang];
  return html`<fieldset>
<legend>${wording.details}</legend>
${fields.map((field, i) => renderField(lang, field, { id: `field-${i}`, refusal }))}
</fieldset>
<button class="quiet" name="action" value="change_fields">${wording.saveDetails}</button>`;
}

type StandardLabel = "firstName" | "lastName" | "phone" | "company";

function renderField(
  lang: Language,
  field: PreferenceField,
  { id, refusal }: { id: string; refusal: FieldRefusal | undefined },
): Html {
  const { key, type } = field;
  const label = field.label ?? fieldInputWording[lang][key as StandardLabel];
  const isRefused = refusal?.key === key;
  const value = String(refusal?.entered[key] ?? field.value ?? "");
  const describedBy = isRefused && html` aria-describedby="${id}-error" autofocus`;
  const attributes = html`id="${id}" name="field.${key}"${invalidIf(isRefused)}${describedBy}`;
  const errorText = fieldInputWording[lang].fieldErrors[errorByType[type]];
  const error = isRefused && html`<p class="bad" id="${id}-error">${errorText}</p>`;
  const control =
    type === "boolean"
      ? renderChoice(lang, attributes, value)
      : html`<input type="${inputTypes[type]}"${type === "number" && html` step="any"`}
 maxlength="2000" ${attributes} value="${value}">`;
  return html`<label for="${id}">${label}</label>${control}${error}
`;
}

const inputTypes: Record<Exclude<PreferenceFieldType, "boolean">, string> = {
  text: "text",
  number: "number",
  date: "date",
  list: "text",
  url: "url",
};

const errorByType = {
  text: "long",
  number: "number",
  boolean: "choice",
  date: "date",
  list: "long",
  url: "url",
} as const satisfies Record<PreferenceFieldType, string>;

function renderChoice(lang: Language, attributes: Html, value: string): Html {
  const { yes, no } = unsubscribePageWording[lang];
  const options = [
    ["", fieldInputWording[lang].choose],
    ["true", yes],
    ["false", no],
  ].map(
    ([option, label]) =>
      html`<option value="${option!}"${option === value && html` selected`}>${label!}</option>`,
  );
  return html`<select ${attributes}>${options}</select>`;
}

export function snoozeForm(lang: Language, siteName: string): Html {
  const wording = unsubscribePageWording[lang];
  const options = snoozeDays.map(
    (days) => html`<option value="${days}">${wording.days(days)}</option>`,
  );
  return html`<h2>${wording.snoozeTitle}</h2>
<p>${wording.snoozeHint(siteName)}</p>
<label for="days">${wording.snoozeFor}</label><select id="days" name="days">${options}</select>
<button class="quiet" name="action" value="snooze">${wording.snooze}</button>`;
}

export function reasonForm(lang: Language): Html {
  const wording = unsubscribePageWording[lang];
  const choices = leaveReasons.map(
    (reason) => html`
<label><input type="radio" name="reason" value="${reason}" required>
${wording.reasons[reason]}</label>`,
  );
  return html`<fieldset>
<legend>${wording.reasonTitle}</legend>${choices}
</fieldset>
<label for="comment">${wording.comment}</label>
<textarea id="comment" name="comment" maxlength="500"></textarea>
<button class="quiet" name="action" value="give_reason">${wording.sendReason}</button>`;
}
