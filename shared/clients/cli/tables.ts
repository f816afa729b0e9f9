// Results for people: a table of a list, and lines of one record.
import { bold, dim, printable, type Terminal } from "./terminal.ts";

type Item = Record<string, unknown>;

const widestCell = 40;
const gap = 2;

/** As many columns as fit, in the order of the fields. */
export function formatTable(items: Item[], terminal: Terminal): string {
  if (!items.length) return "Nothing found.\n";
  const all = columnsOf(items).map((name) => {
    const cells = items.map((item) => shorten(cellText(item[name]) ?? "", widestCell));
    const width = Math.max(name.length, ...cells.map(({ length }) => length));
    return { name, cells, width };
  });
  let left = terminal.columns;
  const columns = all.filter(({ width }, i) => {
    left -= width + gap;
    return i === 0 || left + gap >= 0;
  });
  const line = (texts: string[]) =>
    texts
      .map((text, i) => text.padEnd(columns[i]!.width + gap))
      .join("")
      .trimEnd();
  const rows = items.map((_, row) => line(columns.map(({ cells }) => cells[row]!)));
  const header = bold(line(columns.map(({ name }) => name)), terminal);
  return `${[header, ...rows].join("\n")}\n`;
}

/** Fields that some item fills with a short value. */
function columnsOf(items: Item[]): string[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  return names.filter((name) => items.some((item) => cellText(item[name])));
}

/** Text of a value in a table; undefined for objects and long text. */
function cellText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length ? listText(value) : undefined;
  if (value === null || value === undefined || typeof value === "object") return undefined;
  const text = printable(String(value));
  return text.length > 200 ? undefined : text;
}

/** `vip, customer` for tags and for names. */
function listText(values: unknown[]): string | undefined {
  const texts = values.map((value) => {
    const isNamed = typeof value === "object" && value !== null && "name" in value;
    return cellText(isNamed ? value.name : value);
  });
  return texts.every((text) => text !== undefined) ? texts.join(", ") : undefined;
}

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** One line per field; further objects are indented, and lists of objects are tables. */
export function formatRecord(record: Item, terminal: Terminal, indent = ""): string {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...fields.map(([name]) => name.length)) + gap;
  return fields
    .map(([name, value]) =>
      `${indent}${dim(name.padEnd(width), terminal)}`.concat(
        fieldText(value, terminal, indent + " ".repeat(gap)),
      ),
    )
    .join("");
}

function fieldText(value: unknown, terminal: Terminal, indent: string): string {
  if (Array.isArray(value) && value.length && !listText(value))
    return `\n${indentLines(formatTable(value as Item[], terminal), indent)}`;
  if (Array.isArray(value)) return `${listText(value) ?? ""}\n`;
  if (typeof value === "object" && value !== null)
    return `\n${formatRecord(value as Item, terminal, indent)}`;
  return `${value === null ? "-" : printable(String(value))}\n`;
}

const indentLines = (text: string, indent: string): string => text.replace(/^(?=.)/gm, indent);
