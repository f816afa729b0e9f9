// Types of contact fields, and their values, in the words of the console.
import type { ContactField } from "pennymail";

export type ContactFieldType = ContactField["type"];
export type ContactFieldValue = string | number | boolean | null;

export const fieldTypeLabels: Record<ContactFieldType, string> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
};

export const fieldTypeOptions = Object.entries(fieldTypeLabels).map(([value, label]) => ({
  value,
  label,
}));

export const yesOrNo = [
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

export function describeValue(value: ContactFieldValue | undefined): string | null {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return value === null || value === undefined ? null : String(value);
}

/** How a template names a custom field. A name with other signs needs quotes. */
export const variableOf = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) ? `{{ ${name} }}` : `{{ customFields["${name}"] }}`;
