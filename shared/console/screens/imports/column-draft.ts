// What becomes of each column of a file, while it is edited.

import type { ContactField, ImportPreview } from "pennymail";
import { t } from "../../language/translate.ts";
import type { ContactFieldType } from "../../parts/contact-field-types.ts";

type PreviewColumn = ImportPreview["columns"][number];

/** In place of a field: the column becomes a field that the site does not have yet. */
export const newField = "new";
/** In place of a field: the column may say who gets email, and nobody has answered yet. */
export const unanswered = "unanswered";
export const ignored = "ignore";

export interface ColumnDraft {
  header: string;
  samples: string[];
  /** A field of the API, `newField` or `unanswered`. */
  choice: string;
  /** Name and type of the new field. */
  name: string;
  type: ContactFieldType;
}

const customPrefix = "customFields.";
const maxName = 100;

/** Columns as the service suggests them. A custom field that is not known is a new one. */
export const toDrafts = (columns: PreviewColumn[], known: ContactField[]): ColumnDraft[] =>
  columns.map(({ header, field, samples, question }) => ({
    header,
    samples,
    choice: question === null ? choiceOf(field, known) : unanswered,
    name: field.startsWith(customPrefix)
      ? field.slice(customPrefix.length)
      : header.slice(0, maxName),
    type: guessType(samples),
  }));

function choiceOf(field: string, known: ContactField[]): string {
  if (!field.startsWith(customPrefix)) return field;
  const isCalled = (name: string) => name.toLowerCase() === field.toLowerCase();
  const same = known.find(
    ({ key, label, custom }) => isCalled(key) || (custom && isCalled(customPrefix + label)),
  );
  return same?.key ?? newField;
}

/** Text with a leading zero, such as a postcode, is no number. */
function guessType(samples: string[]): ContactFieldType {
  if (samples.length === 0) return "text";
  if (samples.every((sample) => /^-?(0|[1-9]\d{0,14})(\.\d*[1-9])?$/.test(sample))) return "number";
  return samples.every((sample) => sample === "true" || sample === "false") ? "boolean" : "text";
}

export const fieldOf = ({ choice, name }: ColumnDraft): string =>
  choice === newField ? `${customPrefix}${name.trim()}` : choice;

/** Field by header, as the API takes it. */
export const toMapping = (columns: ColumnDraft[]): Record<string, string> =>
  Object.fromEntries(
    columns
      .filter(({ choice }) => choice !== unanswered)
      .map((column) => [column.header, fieldOf(column)]),
  );

// Several columns can say whether somebody gets email.
const consentFields = new Set([
  "status",
  "subscribed",
  "unsubscribed",
  "unsubscribedAt",
  "bouncedAt",
]);
export const isConsentField = (choice: string): boolean => consentFields.has(choice);
const others = new Set([newField, ignored, unanswered]);
export const canRepeat = (choice: string): boolean => others.has(choice) || isConsentField(choice);

/** What must be changed before the rows can be read, or undefined. */
export function findFault(columns: ColumnDraft[]): string | undefined {
  const open = columns.find(({ choice }) => choice === unanswered);
  if (open)
    return t(
      "Does “{header}” say who gets email and who does not? Choose what it " +
        "means, a new field, or leave it out.",
      { header: open.header },
    );
  const unnamed = columns.find(({ choice, name }) => choice === newField && !name.trim());
  if (unnamed)
    return t("Name the new field for the column “{header}”.", { header: unnamed.header });
  const fields = columns.map((column) => fieldOf(column).toLowerCase());
  const again = columns.find(
    ({ choice }, i) =>
      (choice === newField || !canRepeat(choice)) && fields.indexOf(fields[i]!) !== i,
  );
  if (again)
    return t("“{header}” goes to the same field as another column.", { header: again.header });
  return fields.includes("email")
    ? undefined
    : t("Choose which column has the email addresses: set its field to “Email”.");
}

/** Types of the custom fields that columns go to. */
export const typesIn = (columns: ColumnDraft[], known: ContactField[]): ContactFieldType[] =>
  columns.flatMap(({ choice, type }) => {
    if (choice === newField) return [type];
    const field = known.find(({ key, declared }) => declared && key === choice);
    return field ? [field.type] : [];
  });

export interface NewField {
  name: string;
  type: ContactFieldType;
}

export const newFieldsIn = (columns: ColumnDraft[]): NewField[] =>
  columns.flatMap(({ choice, name, type }) =>
    choice === newField ? [{ name: name.trim(), type }] : [],
  );
