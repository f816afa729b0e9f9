// The design of a form: its texts, fields and theme. It is stored as received, with unknown
// properties, and read leniently.
import * as z from "zod";
import { type Language, languages } from "../../email/languages.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { storable } from "../../kernel/stored-json.ts";

export const fieldTypes = [
  "email",
  "text",
  "textarea",
  "number",
  "select",
  "checkbox",
  "date",
  "hidden",
] as const;
export type FieldType = (typeof fieldTypes)[number];

const line = (max: number) => singleLineText(max).nullish();
const Name = z
  .string()
  .regex(
    /^[A-Za-z][\w-]{0,49}$/,
    "must be a letter, then up to 49 letters, digits, dashes or underscores",
  )
  .refine(isSafeFieldName, "is reserved")
  .meta({ maxLength: 50 });
const Option = z.union([
  singleLineText(200).min(1),
  z.looseObject({
    value: singleLineText(200).min(1).describe("Value that is stored."),
    label: line(200).describe("Text that is shown. Defaults to `value`."),
  }),
]);

const Field = z.looseObject({
  name: Name.describe(
    "Name of the value. `email`, `firstName`, `lastName`, `phone` and `company` fill the " +
      "contact's fields; any other name fills a custom field.",
  ),
  label: line(500).describe("Label of the field. Defaults to a label made from the name."),
  type: z.enum(fieldTypes).nullish().describe("Type of the input. Defaults to `text`."),
  required: z
    .boolean()
    .nullish()
    .describe("Whether the visitor must fill in the field. Defaults to false."),
  options: z
    .array(Option)
    .max(200)
    .nullish()
    .describe("Choices of a `select`: strings, or objects with `value` and `label`."),
  placeholder: line(200).describe("Text shown in the empty field."),
  value: line(500).describe("Value of a `hidden` field."),
});

const maxFields = 50;

export const DesignJson = z
  .looseObject({
    title: line(200).describe("Heading of the form. Defaults to its name."),
    description: z.string().max(2000).nullish().describe("Text below the heading."),
    fields: z
      .array(Field)
      .max(maxFields)
      .nullish()
      .describe(
        "Fields to show. Defaults to `email` and `firstName`. If no field asks for an email " +
          "address, one is added first.",
      ),
    submitLabel: line(100).describe("Label of the button."),
    successMessage: z
      .string()
      .max(1000)
      .nullish()
      .describe("Text shown after a submission that needs no confirmation."),
    language: z
      .enum(languages)
      .nullish()
      .describe(
        "Language of your texts, and of the built-in texts next to them. Defaults to the " +
          "language that the visitor's browser prefers.",
      ),
    theme: z
      .looseObject({
        accent: z
          .string()

          .regex(/^#[\da-fA-F]{6}$/, "must be a colour such as #1f5fbf")
          .meta({ maxLength: 7 })
          .describe("Colour of the button, such as `#1f5fbf`."),
      })
      .partial()
      .nullish()
      .describe("Colours of the form."),
  })
  .refine(({ fields }) => hasDistinctNames(fields ?? []), {
    message: "must have distinct names",
    path: ["fields"],
  })
  .refine(
    ({ fields }) =>
      (fields ?? []).every(({ type, options }) => type !== "select" || options?.length),
    {
      message: "every field of type select must have options",
      path: ["fields"],
    },
  )
  .check(storable(100_000))
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

/**
 * False for names of built-in object properties, such as `constructor`: the DynamoDB client cannot
 * store them.
 */
export function isSafeFieldName(name: string): boolean {
  return !(name in {});
}

const hasDistinctNames = (fields: { name: string }[]): boolean =>
  new Set(fields.map(({ name }) => name)).size === fields.length;

export interface FormField {
  name: string;
  label?: string | undefined;
  type: FieldType;
  required: boolean;
  options: { value: string; label: string }[];
  placeholder?: string | undefined;
  value?: string | undefined;
}

/** A design with all defaults filled in. */
export interface FormDesign {
  title: string;
  description?: string | undefined;
  fields: FormField[];
  /** Name of the field that holds the email address. */
  emailFieldName: string;
  submitLabel?: string | undefined;
  successMessage?: string | undefined;
  language?: Language | undefined;
  accent?: string | undefined;
}

export function normalizeDesign(name: string, stored: DesignJson | null): FormDesign {
  const design = stored ?? {};
  const { fields, emailFieldName } = ensureEmailField(
    (design.fields ?? [emailField, { name: "firstName" }]).map(normalizeField),
  );
  return {
    title: design.title || name,
    description: design.description || undefined,
    fields,
    emailFieldName,
    submitLabel: design.submitLabel || undefined,
    successMessage: design.successMessage || undefined,
    language: design.language ?? undefined,
    accent: design.theme?.accent,
  };
}

const emailField = { name: "email", type: "email" as const };

const normalizeField = ({
  name,
  label,
  type,
  required,
  options,
  placeholder,
  value,
}: z.output<typeof Field>): FormField => ({
  name,
  label: label || undefined,
  type: type ?? "text",
  required: required ?? false,
  options: (options ?? []).map((option) =>
    typeof option === "string"
      ? { value: option, label: option }
      : { value: option.value, label: option.label || option.value },
  ),
  placeholder: placeholder || undefined,
  value: value ?? undefined,
});

/**
 * Takes the field named `email`, else the first one of type `email`, else adds one. The email field
 * is always required.
 */
function ensureEmailField(fields: FormField[]): Pick<FormDesign, "fields" | "emailFieldName"> {
  const existing =
    fields.find(({ name }) => name === "email") ?? fields.find(({ type }) => type === "email");
  const emailFieldName = existing?.name ?? "email";
  const allFields = existing ? fields : [normalizeField(emailField), ...fields];
  return {
    emailFieldName,
    fields: allFields.map((field) =>
      field.name === emailFieldName ? { ...field, type: "email", required: true } : field,
    ),
  };
}
