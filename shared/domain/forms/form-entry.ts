// Checks the values of a submitted form against its fields.
import type { SiteRef } from "../../caller.ts";
import { EmailAddress, toSingleLine } from "../../kernel/email-fields.ts";
import { isStorableNumber } from "../../kernel/stored-json.ts";
import * as declaredFields from "../audience/contacts/declared-fields.ts";
import type { CustomFieldType } from "../audience/contacts/parse-field-value.ts";
import { captchaFields } from "./captcha-providers.ts";
import { type FieldType, type FormDesign, type FormField, isSafeFieldName } from "./form-design.ts";
import { contactFields } from "./submissions.ts";

export type FormValue = string | number | boolean;
export type FormErrorCode = "required" | "email" | "number" | "date" | "url" | "choice" | "long";
export interface FormFieldError {
  field: FormField;
  code: FormErrorCode;
}

export interface FormEntry {
  email: string;
  /** Values of the form's fields by name, without empty ones. */
  fields: Record<string, FormValue>;
  /** Values that are not fields of the form. Only the submission keeps them. */
  extra: Record<string, string>;
}

/** Name of a hidden field that people never see. A request that fills it comes from a bot. */
export const honeypotField = "_website";

/** Longest text of a field of one line. */
export const maxText = 500;
const maxLongText = 2000;
const maxContactText = 200;

/** `errors` is in the order of the fields, and empty when the entry is valid. */
export function readEntry(
  design: FormDesign,
  input: Record<string, unknown>,
): { errors: FormFieldError[]; entry: FormEntry } {
  const errors: FormFieldError[] = [];
  const fields: Record<string, FormValue> = {};
  for (const field of design.fields) {
    const result = readField(
      field,
      input[field.name] ?? (field.name === design.emailFieldName ? input.email : undefined),
    );
    if ("code" in result) errors.push({ field, code: result.code });
    else if (result.value !== undefined) fields[field.name] = result.value;
  }
  const { [design.emailFieldName]: email = "", ...rest } = fields;
  return {
    errors,
    entry: {
      email: String(email),
      fields: { ...contactFieldsOf(design, input), ...rest },
      extra: extraFieldsOf(design, input),
    },
  };
}

/** The error for a value that the declared type of a custom field does not allow. */
const errorCodeByDeclaredType: Record<CustomFieldType, FormErrorCode> = {
  text: "long",
  number: "number",
  boolean: "choice",
  date: "date",
  datetime: "date",
  list: "long",
  url: "url",
};
/** Visitors cannot correct the values of other inputs. */
const typedInputs: FieldType[] = ["text", "textarea", "number", "select", "date"];

/**
 * The inputs whose values do not fit the declared types of the custom fields, in the order of the
 * fields.
 */
export async function findTypeErrors(
  site: SiteRef,
  { fields, emailFieldName }: FormDesign,
  entry: FormEntry,
): Promise<FormFieldError[]> {
  const others = new Set<string>([...contactFields, emailFieldName]);
  const inputs = fields.filter(
    ({ name, type }) =>
      typedInputs.includes(type) && !others.has(name) && entry.fields[name] !== undefined,
  );
  const values = Object.fromEntries(inputs.map(({ name }) => [name, entry.fields[name]!]));
  const faults = await declaredFields.findFaults(site, values);
  return inputs.flatMap((field) => {
    const type = faults.get(field.name);
    return type ? [{ field, code: errorCodeByDeclaredType[type] }] : [];
  });
}

/** Whether a submitted text means a ticked checkbox. */
export const isTicked = (text: string): boolean =>
  !["", "false", "0", "off", "no"].includes(text.toLowerCase());

type FieldReadResult = { value: FormValue | undefined } | { code: FormErrorCode };

function readField(field: FormField, input: unknown): FieldReadResult {
  const raw = input ?? (field.type === "hidden" ? field.value : undefined) ?? "";
  if (typeof raw === "object") return { code: errorCodeByType[field.type] };
  const text = typeof raw === "string" ? raw.trim() : String(raw);
  const result = text === "" ? { value: undefined } : readersByType[field.type](text, field);
  const isEmpty = "value" in result && (result.value === undefined || result.value === false);
  return isEmpty && field.required ? { code: "required" } : result;
}

const errorCodeByType: Record<FieldType, FormErrorCode> = {
  email: "email",
  text: "long",
  textarea: "long",
  number: "number",
  select: "choice",
  checkbox: "choice",
  date: "date",
  hidden: "long",
};

const textReader = (max: number) => (text: string) =>
  text.length <= max ? { value: toSingleLine(text) } : { code: "long" as const };
const readersByType: Record<FieldType, (text: string, field: FormField) => FieldReadResult> = {
  email: (text) => {
    const { success, data } = EmailAddress.safeParse(text);
    return success ? { value: data } : { code: "email" };
  },
  text: textReader(maxText),
  hidden: textReader(maxText),
  textarea: (text) =>
    text.length <= maxLongText ? { value: text.replace(/\r\n?/g, "\n") } : { code: "long" },
  number: (text) =>
    text.length <= 30 && isStorableNumber(Number(text))
      ? { value: Number(text) }
      : { code: "number" },
  select: (text, { options }) =>
    options.some(({ value }) => value === text) ? { value: text } : { code: "choice" },
  checkbox: (text) => ({ value: isTicked(text) }),
  date: (text) => (isDate(text) ? { value: text } : { code: "date" }),
};

function isDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function contactFieldsOf(
  { fields }: FormDesign,
  input: Record<string, unknown>,
): Record<string, string> {
  const others = contactFields.filter((name) => !fields.some((field) => field.name === name));
  const texts = others.map(
    (name) => [name, toSingleLine(textOf(input[name])).trim().slice(0, maxContactText)] as const,
  );
  return Object.fromEntries(texts.filter(([, text]) => text));
}

const textOf = (value: unknown): string =>
  value === undefined || value === null || typeof value === "object" ? "" : String(value);

const maxExtra = 20;
const maxExtraName = 100;

/** Anyone can send any values, so only 20 are kept, and 500 characters of each. */
function extraFieldsOf(design: FormDesign, input: Record<string, unknown>): Record<string, string> {
  const knownNames = new Set<string>([
    ...design.fields.map(({ name }) => name),
    ...contactFields,
    "email",
    honeypotField,
    ...captchaFields,
  ]);
  const others = Object.entries(input).filter(
    ([name, value]) =>
      !knownNames.has(name) &&
      isSafeFieldName(name) &&
      name.length <= maxExtraName &&
      textOf(value) !== "",
  );
  return Object.fromEntries(
    others.slice(0, maxExtra).map(([name, value]) => [name, textOf(value).slice(0, maxText)]),
  );
}
