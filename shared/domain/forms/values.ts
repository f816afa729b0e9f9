// What somebody entered into a form, checked against its fields.
import { asOneLine, EmailAddress } from "../../email.ts";
import { isStorable } from "../contacts/contact.ts";
import { type Design, type FieldType, type FormField, isFree } from "./design.ts";
import { contactFields } from "./submissions.ts";

export type Value = string | number | boolean;
export type Fault = "required" | "email" | "number" | "date" | "choice" | "long";
export interface Wrong {
  field: FormField;
  fault: Fault;
}

export interface Entered {
  email: string;
  /** Of the form's fields, by name; what is left empty is not there. */
  fields: Record<string, Value>;
  /** Sent along without being asked for: kept with the submission, and goes nowhere else. */
  extra: Record<string, string>;
}

/** The name of a field that people never see: whatever fills it is a program. */
export const trap = "_website";

const [maxText, maxLongText] = [500, 2000];
const maxContactText = 200;

/** What is wrong, field by field in the form's order; nothing: it is good. */
export function entered(design: Design, given: Record<string, unknown>): { wrong: Wrong[]; entry: Entered } {
  const wrong: Wrong[] = [];
  const fields: Record<string, Value> = {};
  for (const field of design.fields) {
    const told = readField(field, given[field.name] ?? (field.name === design.address ? given.email : undefined));
    if ("fault" in told) wrong.push({ field, fault: told.fault });
    else if (told.value !== undefined) fields[field.name] = told.value;
  }
  const { [design.address]: email = "", ...rest } = fields;
  return { wrong, entry: { email: String(email), fields: { ...ofContact(design, given), ...rest }, extra: extraOf(design, given) } };
}

/** What an entry means in a box to tick. */
export const isTicked = (text: string): boolean => !["", "false", "0", "off", "no"].includes(text.toLowerCase());

type Told = { value: Value | undefined } | { fault: Fault };

function readField(field: FormField, given: unknown): Told {
  const raw = given ?? (field.type === "hidden" ? field.value : undefined);
  if (raw !== undefined && typeof raw === "object") return { fault: faults[field.type] };
  const text = typeof raw === "string" ? raw.trim() : raw === undefined ? "" : String(raw);
  const told = text === "" ? { value: undefined } : readers[field.type](text, field);
  const empty = "value" in told && (told.value === undefined || told.value === false);
  return empty && field.required ? { fault: "required" } : told;
}

const faults: Record<FieldType, Fault> = {
  email: "email",
  text: "long",
  textarea: "long",
  number: "number",
  select: "choice",
  checkbox: "choice",
  date: "date",
  hidden: "long",
};

const upTo = (max: number) => (text: string) => (text.length <= max ? { value: asOneLine(text) } : { fault: "long" as const });
const readers: Record<FieldType, (text: string, field: FormField) => Told> = {
  email: (text) => (EmailAddress.safeParse(text).success ? { value: text } : { fault: "email" }),
  text: upTo(maxText),
  hidden: upTo(maxText),
  textarea: (text) => (text.length <= maxLongText ? { value: text.replace(/\r\n?/g, "\n") } : { fault: "long" }),
  number: (text) => (text.length <= 30 && isStorable(Number(text)) ? { value: Number(text) } : { fault: "number" }),
  select: (text, { options }) => (options.some(({ value }) => value === text) ? { value: text } : { fault: "choice" }),
  checkbox: (text) => ({ value: isTicked(text) }),
  date: (text) => (isDate(text) ? { value: text } : { fault: "date" }),
};

function isDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function ofContact({ fields }: Design, given: Record<string, unknown>): Record<string, string> {
  const others = contactFields.filter((name) => !fields.some((field) => field.name === name));
  const texts = others.map((name) => [name, asOneLine(textOf(given[name])).trim().slice(0, maxContactText)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text));
}

const textOf = (value: unknown): string => (value === undefined || value === null || typeof value === "object" ? "" : String(value));

const [maxExtra, maxExtraName] = [20, 100];

/** Bounded, as anybody may send anything: past 20, and of each past 500 characters, it is dropped. */
function extraOf(design: Design, given: Record<string, unknown>): Record<string, string> {
  const known = new Set<string>([...design.fields.map(({ name }) => name), ...contactFields, "email", trap]);
  const others = Object.entries(given).filter(
    ([name, value]) => !known.has(name) && isFree(name) && name.length <= maxExtraName && textOf(value) !== "",
  );
  return Object.fromEntries(others.slice(0, maxExtra).map(([name, value]) => [name, textOf(value).slice(0, maxText)]));
}
