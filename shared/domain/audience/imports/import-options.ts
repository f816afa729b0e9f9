// Import options. This file does not import the CSV parser, so HTTP functions stay small.
import * as z from "zod";
import type { CustomFieldType } from "../contacts/parse-field-value.ts";

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export type Encoding = (typeof encodings)[number];
export const delimiters = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof delimiters)[number];
export const importModes = ["upsert", "create", "update"] as const;

export const importFields = [
  "email",
  "firstName",
  "lastName",
  "fullName",
  "phone",
  "company",
  "timezone",
  "locale",
  "externalId",
  "status",
  "subscribed",
  "unsubscribed",
  "tags",
  "source",
  "customFields",
  "unsubscribedAt",
  "bouncedAt",
  "ignore",
] as const;
const fieldNames = [...importFields, "customFields.<key>", "topics.<name of a topic>"];
const fieldError = `must be one of ${fieldNames.join(", ")}`;
const nameAfter = (prefix: "customFields." | "topics.") =>
  z.templateLiteral([prefix, z.string().min(1).max(100)]).meta({ maxLength: prefix.length + 100 });
export const ImportField = z.union(
  [z.enum(importFields, { error: fieldError }), nameAfter("customFields."), nameAfter("topics.")],
  { error: fieldError },
);
export type ImportField =
  | (typeof importFields)[number]
  | `customFields.${string}`
  | `topics.${string}`;

export interface ImportColumn {
  header: string;
  field: ImportField;
  /** Every cell stays text, even if it looks like a number. */
  text?: true;
  /** Declared type of the custom field. */
  type?: CustomFieldType;
  /** The topic that each cell joins or leaves. */
  topicId?: number;
  /** The column may say who gets email, and no mapping says whether it does. */
  isUnclear?: true;
}

/** The columns with the declared types of their custom fields. */
export const withTypes = (
  columns: ImportColumn[],
  typeOf: (name: string) => CustomFieldType | undefined,
): ImportColumn[] =>
  columns.map((column) => {
    const isCustom = column.field.startsWith("customFields.");
    const type = isCustom ? typeOf(column.field.slice("customFields.".length)) : undefined;
    return type ? { ...column, type } : column;
  });

/** Whether the column is a custom field with the header that our exports write. */
export const isExported = ({ header, field }: ImportColumn): boolean =>
  header === field && field.startsWith("customFields.");
