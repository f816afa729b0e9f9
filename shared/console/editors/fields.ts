// Fields in texts, such as `{{ firstName | default: "there" }}`: what is put into each email.

export interface Field {
  /** `firstName`, `event.total` or `customFields["Shoe size"]`. */
  path: string;
  /** Stands in the email of those whose field is empty. */
  fallback: string;
}

const path = String.raw`[A-Za-z_][\w-]*(?:\.[\w-]+)*(?:\["[^"{}]*"\])?`;
const fieldCode = String.raw`\{\{\s*(${path})\s*(?:\|\s*default:\s*"([^"{}]*)"\s*)?\}\}`;

/** Where fields stand in a text. Other Liquid is none of them. */
export const findFields = (text: string): { start: number; code: string }[] =>
  [...text.matchAll(new RegExp(fieldCode, "g"))].map((found) => ({
    start: found.index,
    code: found[0],
  }));

export function readField(code: string): Field | undefined {
  const [, found, fallback = ""] = code.match(new RegExp(`^${fieldCode}$`)) ?? [];
  return found === undefined ? undefined : { path: found, fallback };
}

/** A fallback loses what would end its quotes or the field. */
export function writeField({ path, fallback }: Field): string {
  const clean = fallback.replaceAll('"', "”").replace(/[{}\n]/g, "");
  return clean ? `{{ ${path} | default: "${clean}" }}` : `{{ ${path} }}`;
}
