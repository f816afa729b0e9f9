// The people of a CSV file: who gets the demo's batch, and with which variables.
import { readFileSync } from "node:fs";
import { CsvError, parse } from "csv-parse/sync";
import { Trouble } from "../trouble.ts";

export interface Person {
  email: string;
  /** By column; names as Liquid reads them. */
  variables: Record<string, string>;
}

export interface People {
  /** Columns beside the address. */
  columns: string[];
  people: Person[];
}

/** The inbox shows no more, and the demo waits for each of them. */
export const maxPeople = 10_000;

/** Throws Trouble that names the file, and the line where one is wrong. */
export function readPeople(file: string): People {
  const rows = rowsOf(file);
  const [header, ...lines] = rows;
  if (!header) throw new Trouble(`${file} is empty: its first line must name the columns, one of them email`);
  const names = header.record.map(variableName);
  const addressAt = names.indexOf("email");
  if (addressAt < 0) throw new Trouble(`${file} has no column named email: its first line must name the columns`);
  const wrong = names.findIndex((name, i) => name === "" || names.indexOf(name) !== i);
  if (wrong >= 0) throw new Trouble(`${file}: column ${wrong + 1} needs a name of its own, in letters and digits`);
  if (lines.length === 0) throw new Trouble(`${file} has no people: only a first line`);
  if (lines.length > maxPeople) throw new Trouble(`${file} has ${lines.length} people; the demo sends to ${maxPeople} at most`);
  return { columns: names.filter((_, i) => i !== addressAt), people: lines.map((line) => personOf(file, names, addressAt, line)) };
}

interface Row {
  record: string[];
  info: { lines: number };
}

function rowsOf(file: string): Row[] {
  const text = textOf(file);
  try {
    return parse(text, { bom: true, info: true, skip_empty_lines: true, trim: true, max_record_size: 100_000 }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Trouble(`${file} is not valid CSV: ${error.message}`);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Trouble(code === "ENOENT" ? `There is no file ${file}` : `${file} cannot be read: ${code}`);
  }
}

/** `First name` is firstName; "" when nothing of it can be a name. */
function variableName(column: string): string {
  const [first = "", ...more] = column.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const name = lower(first) + more.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[a-z]/.test(name) ? name : "";
}

const lower = (word: string): string => (word === word.toUpperCase() ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1));

function personOf(file: string, names: string[], addressAt: number, { record, info }: Row): Person {
  const email = record[addressAt] ?? "";
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Trouble(`${file}, line ${info.lines}: "${email}" is no email address`);
  const values = names.flatMap((name, i) => (i === addressAt ? [] : [[name, record[i] ?? ""] as const]));
  return { email, variables: Object.fromEntries(values) };
}
