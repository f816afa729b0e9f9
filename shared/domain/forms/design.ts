// What a form shows and asks for. Kept as it was given, fields that we do not know included; read leniently.
import * as z from "zod";
import { oneLine } from "../../email.ts";

export const fieldTypes = ["email", "text", "textarea", "number", "select", "checkbox", "date", "hidden"] as const;
export type FieldType = (typeof fieldTypes)[number];

const line = (max: number) => oneLine(max).nullish();
const Name = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,49}$/, "must be a letter, then up to 49 letters, digits, dashes or underscores")
  .refine(isFree, "is a word that no field can be called");
const Option = z.union([oneLine(200).min(1), z.looseObject({ value: oneLine(200).min(1), label: line(200) })]);

const Field = z.looseObject({
  name: Name.describe(
    "What is asked for: email, firstName, lastName, phone and company fill those of the contact, every other name a custom field",
  ),
  label: line(500).describe("Absent: made of the name"),
  type: z.enum(fieldTypes).nullish().describe("Absent: text"),
  required: z.boolean().nullish(),
  options: z.array(Option).max(200).nullish().describe("Of a select: texts, or {value, label}"),
  placeholder: line(200),
  value: line(500).describe("Of a hidden field"),
});

const languages = ["en", "de", "fr", "es"] as const;
const maxFields = 50;
const maxBytes = 100_000;

export const DesignJson = z
  .looseObject({
    title: line(200).describe("Absent: the name of the form"),
    description: z.string().max(2000).nullish(),
    fields: z
      .array(Field)
      .max(maxFields)
      .nullish()
      .describe("Absent: email and firstName. Where no field asks for an email address, one that does comes first"),
    submitLabel: line(100),
    successMessage: z.string().max(1000).nullish().describe("Shown once it is submitted, where nothing is to be confirmed"),
    language: z
      .enum(languages)
      .nullish()
      .describe("Of the texts here, and so of our own beside them; absent: what each visitor reads best"),
    theme: z
      .looseObject({ accent: z.string().regex(/^#[\da-fA-F]{6}$/, "must be a colour such as #1f5fbf") })
      .partial()
      .nullish(),
  })
  .refine(({ fields }) => isDistinct(fields ?? []), { message: "must have distinct names", path: ["fields"] })
  .refine(({ fields }) => (fields ?? []).every(({ type, options }) => type !== "select" || options?.length), {
    message: "a select needs options",
    path: ["fields"],
  })
  .refine((design) => Buffer.byteLength(JSON.stringify(design)) <= maxBytes, "must be at most 100,000 bytes of JSON")
  .meta({
    id: "FormDesign",
    examples: [
      {
        title: "Newsletter",
        fields: [
          { name: "email", type: "email", label: "Email", required: true },
          { name: "firstName", label: "First name" },
          { name: "topic", type: "select", label: "Topic", options: ["Shoes", "Hats"] },
        ],
        submitLabel: "Subscribe",
      },
    ],
  });
export type DesignJson = z.output<typeof DesignJson>;

/** Objects have a constructor of their own, which the table's client trips over. */
export function isFree(name: string): boolean {
  return !(name in {});
}

const isDistinct = (fields: { name: string }[]): boolean => new Set(fields.map(({ name }) => name)).size === fields.length;

export interface FormField {
  name: string;
  label?: string | undefined;
  type: FieldType;
  required: boolean;
  options: { value: string; label: string }[];
  placeholder?: string | undefined;
  value?: string | undefined;
}

/** A design with everything in its place. */
export interface Design {
  title: string;
  description?: string | undefined;
  fields: FormField[];
  /** Name of the field that holds the address. */
  address: string;
  submitLabel?: string | undefined;
  successMessage?: string | undefined;
  language?: (typeof languages)[number] | undefined;
  accent?: string | undefined;
}

export function designOf(name: string, given: DesignJson | null): Design {
  const design = given ?? {};
  const { fields, address } = withAddress((design.fields ?? [emailField, { name: "firstName" }]).map(fieldOf));
  return {
    title: design.title || name,
    description: design.description || undefined,
    fields,
    address,
    submitLabel: design.submitLabel || undefined,
    successMessage: design.successMessage || undefined,
    language: design.language ?? undefined,
    accent: design.theme?.accent,
  };
}

const emailField = { name: "email", type: "email" as const };

const fieldOf = ({ name, label, type, required, options, placeholder, value }: z.output<typeof Field>): FormField => ({
  name,
  label: label || undefined,
  type: type ?? "text",
  required: required ?? false,
  options: (options ?? []).map((option) =>
    typeof option === "string" ? { value: option, label: option } : { value: option.value, label: option.label || option.value },
  ),
  placeholder: placeholder || undefined,
  value: value ?? undefined,
});

/** The field named email, else the first of that type, else one of our own: whichever it is, it must be filled with an address. */
function withAddress(fields: FormField[]): { fields: FormField[]; address: string } {
  const own = fields.find(({ name }) => name === "email") ?? fields.find(({ type }) => type === "email");
  const address = own?.name ?? "email";
  const all = own ? fields : [fieldOf(emailField), ...fields];
  return { address, fields: all.map((field) => (field.name === address ? { ...field, type: "email", required: true } : field)) };
}
