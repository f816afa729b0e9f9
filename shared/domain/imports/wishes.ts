// What may be wished of an import, in words that need no reader of files.
import * as z from "zod";

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export type Encoding = (typeof encodings)[number];
export const delimiters = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof delimiters)[number];
export const modes = ["upsert", "create", "update"] as const;

export const fields = [
  "email",
  "firstName",
  "lastName",
  "fullName",
  "phone",
  "company",
  "timezone",
  "status",
  "tags",
  "source",
  "ignore",
] as const;
export const Field = z.union([z.enum(fields), z.templateLiteral(["customFields.", z.string().min(1).max(100)])], {
  error: `must be one of ${fields.join(", ")}, or customFields.<key>`,
});
export type Field = (typeof fields)[number] | `customFields.${string}`;

export interface Column {
  header: string;
  field: Field;
}
