// Encodes values as CSV cells and back, so that an import reads exactly what an export wrote.
import { isStorableNumber } from "./stored-json.ts";

const formulaStart = "[=+\\-@\\t\\r\\uFF0B\\uFF0D\\uFF1D\\uFF20]";
// Some spreadsheets also split a cell at a semicolon, tab or line break.
const cellStart = "(?<=^|[;\\t\\r\\n])";
const formula = new RegExp(`${cellStart}(?='*${formulaStart})`, "g");
const guardedFormula = new RegExp(`${cellStart}'(?='*${formulaStart})`, "g");

/** Prefixes formulas with an apostrophe, so that a spreadsheet does not run them. */
export const guarded = (text: string): string => text.replace(formula, "'");

/** The inverse of `guarded`. */
export const unguarded = (cell: string): string => cell.replace(guardedFormula, "");

/** A number or boolean if the cell has its canonical form. 007, 1.50 and +1 stay texts. */
function plainValue(cell: string): string | number | boolean {
  if (cell === "true" || cell === "false") return cell === "true";
  const number = Number(cell);
  const isNumber = /^-?\d/.test(cell) && isStorableNumber(number) && String(number) === cell;
  return isNumber ? number : cell;
}

const looksPlain = (text: string): boolean =>
  typeof plainValue(text.replace(/^'+/, "")) !== "string";

/**
 * The cell of a custom field. An apostrophe marks a text such as "5", which an import would read as
 * a number. The texts of a list share the cell.
 */
export function typedCell<T>(value: T | string[]): T | string {
  if (Array.isArray(value)) return joinedNames(value);
  return typeof value === "string" && looksPlain(value) ? `'${value}` : value;
}

/** The inverse of `typedCell`. */
export const typedValue = (cell: string): string | number | boolean =>
  cell.startsWith("'") && looksPlain(cell) ? cell.slice(1) : plainValue(cell);

/** Several names in one cell. A name with a separator or a quote is quoted. */
export const joinedNames = (names: string[]): string => names.map(quoted).join("; ");

const quoted = (name: string): string =>
  /[;,|"\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;

/** The inverse of `joinedNames`. Accepts semicolons, commas, bars and line breaks as separators. */
export function namesIn(cell: string): string[] {
  const parts = cell.matchAll(/(?<![^\S\n])[^\S\n]*"((?:[^"]|"")*)"\s*(?=[;,|\n]|$)|[^;,|\n]+/g);
  const names = [...parts].map(([whole, inQuotes]) => inQuotes?.replaceAll('""', '"') ?? whole);
  return [...new Set(names.map((name) => name.trim()).filter(Boolean))];
}
