// Types of contact fields, and their values, in the words of the console.

import type { ContactField } from "pennymail";
import { t } from "../language/translate.ts";

export type ContactFieldType = ContactField["type"];
export type ContactFieldValue = string | number | boolean | string[] | null;

/** The standard fields with a text that people can edit. */
export const standardFieldLabels = {
  email: t("Email"),
  firstName: t("First name"),
  lastName: t("Last name"),
  phone: t("Phone"),
  company: t("Company"),
  timezone: t("Time zone"),
  locale: t("Language"),
  source: t("Source"),
  externalId: t("External id"),
} as const;

export const fieldTypeLabels: Record<ContactFieldType, string> = {
  text: t("Text"),
  number: t("Number"),
  boolean: t("Yes or no"),
  date: t("Date"),
  datetime: t("Date and time"),
  list: t("List"),
  url: t("Web address"),
};

export const fieldTypeOptions = Object.entries(fieldTypeLabels).map(([value, label]) => ({
  value,
  label,
}));

export const yesOrNo = [
  { value: "true", label: t("Yes") },
  { value: "false", label: t("No") },
];

export function describeValue(value: ContactFieldValue | undefined): string | null {
  if (typeof value === "boolean") return value ? t("Yes") : t("No");
  if (Array.isArray(value)) return value.join(", ");
  return value === null || value === undefined ? null : String(value);
}

/** How a template names a custom field. A name with other signs needs quotes. */
export const variableOf = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) ? `{{ ${name} }}` : `{{ customFields["${name}"] }}`;
