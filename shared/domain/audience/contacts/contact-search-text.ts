// Texts of a contact that searches and segments compare.
import { isDeepStrictEqual } from "node:util";
import { any, type Condition, contains } from "../../../adapters/dynamodb/conditions.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { foldLetters, spellOutLetters } from "../../../kernel/fold-letters.ts";
import type { ContactItem } from "./contact-schema.ts";

type SearchableFields = Pick<ContactItem, "email" | (typeof textFields)[number] | "customFields">;
export const textFields = [
  "email",
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "locale",
  "source",
  "externalId",
] as const;

/**
 * Lower case for comparison. Works character by character, so a part of a text folds the same as
 * within the text.
 */
export const caseFold = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** Attributes for search and comparison, computed on every change of a field. */
export function searchAttributes(
  fields: SearchableFields,
): Pick<ContactItem, "search"> & { folded: Record<string, string | string[]> | undefined } {
  const texts = [
    ...textFields.map((field) => [field, fields[field]]),
    ...Object.entries(fields.customFields ?? {}).map(([key, value]) => [
      `customFields.${key}`,
      value,
    ]),
  ] as [string, unknown][];
  const folded = texts.flatMap(([field, value]) => {
    const text = foldValue(value);
    return text === undefined || isDeepStrictEqual(text, value) ? [] : [[field, text]];
  });
  return {
    search: searchText(fields),
    folded: folded.length ? Object.fromEntries(folded) : undefined,
  };
}

/** Undefined for a value that is neither a text nor a list of texts. */
function foldValue(value: unknown): string | string[] | undefined {
  if (Array.isArray(value)) return value.map((item) => caseFold(String(item)));
  return typeof value === "string" ? caseFold(value) : undefined;
}

function searchText({ email, firstName, lastName }: SearchableFields): string {
  const name = [firstName, lastName].filter(Boolean).join(" ").toLowerCase();
  const spellings = [foldLetters(name), spellOutLetters(name), normalizeEmail(email)];
  const known = [email.toLowerCase(), name];
  const others = [...new Set(spellings)].filter((one) => !known.includes(one));
  return [...known, ...others].join("\n");
}

/** Finds contacts with the text in their email or name, also with its letters folded. */
export function searchCondition(text: string): Condition {
  const forms = [...new Set([text.toLowerCase(), foldLetters(text)])];
  return any(...forms.map((form) => contains("search", form)));
}
