// The design of a form while it is edited: texts are never absent, and every field has an id.

import type { Form, FormDesign } from "pennymail";
import { t } from "../../language/translate.ts";

type Field = NonNullable<NonNullable<FormDesign["fields"]>[number]>;
export type InputType = NonNullable<Field["type"]>;

export interface FieldDraft {
  id: number;
  name: string;
  label: string;
  type: InputType;
  required: boolean;
  placeholder: string;
  /** Value of a hidden field. */
  value: string;
  /** Choices, one per line. */
  options: string;
  /** The field as it was read, with what the console does not know. */
  origin: Partial<Field>;
}

export interface DesignDraft {
  title: string;
  description: string;
  submitLabel: string;
  successMessage: string;
  /** Empty: that of the visitor's browser. */
  language: NonNullable<FormDesign["language"]> | "";
  /** Empty: the colour of the page. */
  accent: string;
  fields: FieldDraft[];
  origin: FormDesign;
}

/** Fields of a contact; every other name is a custom field. */
export const contactFields: Record<string, string> = {
  email: t("Email"),
  firstName: t("First name"),
  lastName: t("Last name"),
  phone: t("Phone"),
  company: t("Company"),
};

let lastId = 0;

const toFieldDraft = (origin: Partial<Field>): FieldDraft => ({
  id: ++lastId,
  name: origin.name ?? "",
  label: origin.label ?? "",
  type: origin.type ?? "text",
  required: origin.required ?? false,
  placeholder: origin.placeholder ?? "",
  value: origin.value ?? "",
  options: (origin.options ?? [])
    .map((option) => (typeof option === "string" ? option : option.value))
    .join("\n"),
  origin,
});

/** A field of the contact, or a custom field with a name that is still free. */
export function createField(name: string | undefined, others: FieldDraft[]): FieldDraft {
  const taken = others.map((field) => field.name);
  let number = 1;
  while (taken.includes(`field${number}`)) number++;
  return toFieldDraft({
    name: name ?? `field${number}`,
    label: name ? contactFields[name]! : t("Field {number}", { number }),
  });
}

const defaultFields: Partial<Field>[] = [
  { name: "email", label: t("Email"), type: "email", required: true },
  { name: "firstName", label: t("First name") },
];

export function toDesignDraft({ designJson }: Pick<Form, "designJson">): DesignDraft {
  const origin = designJson ?? {};
  return {
    title: origin.title ?? "",
    description: origin.description ?? "",
    submitLabel: origin.submitLabel ?? "",
    successMessage: origin.successMessage ?? "",
    language: origin.language ?? "",
    accent: origin.theme?.accent ?? "",
    fields: (origin.fields ?? defaultFields).map(toFieldDraft),
    origin,
  };
}

export function toDesign({ origin, accent, fields, ...texts }: DesignDraft): FormDesign {
  const theme = { ...origin.theme, ...(accent && { accent }) };
  return {
    ...origin,
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text || null])),
    theme: accent ? theme : null,
    fields: fields.map(toField),
  };
}

const toField = ({ id: _, origin, options, label, placeholder, value, ...rest }: FieldDraft) => ({
  ...origin,
  ...rest,
  label: label || null,
  placeholder: placeholder || null,
  value: rest.type === "hidden" ? value : null,
  options: rest.type === "select" ? toOptions(options, origin) : null,
});

/** Keeps the label of a choice that has one. */
function toOptions(lines: string, { options }: Partial<Field>) {
  const values = lines.split("\n").map((line) => line.trim());
  return values
    .filter(Boolean)
    .map(
      (value) =>
        options?.find((option) => typeof option !== "string" && option.value === value) ?? value,
    );
}
