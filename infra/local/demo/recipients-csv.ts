// Reads the recipients of the demo and their variables from a CSV file.
import { readFileSync } from "node:fs";
import { CsvError, parse } from "csv-parse/sync";
import { CliError } from "../cli-error.ts";

export interface DemoRecipient {
  email: string;
  /** By column, under the name that Liquid uses. */
  variables: Record<string, string>;
}

export interface DemoRecipients {
  /** All columns except the address. */
  columns: string[];
  recipients: DemoRecipient[];
}

/** The inbox keeps 10,000 mails, and the demo waits until each mail is there. */
export const maxRecipients = 10_000;

/** Throws a CliError that names the file and the wrong line. */
export function readRecipients(file: string): DemoRecipients {
  const rows = parseCsv(file);
  const [header, ...lines] = rows;
  if (!header)
    throw new CliError(
      `${file} is empty: its first line must name the columns, and one of them must be email`,
    );
  const names = header.record.map(variableName);
  const addressAt = names.indexOf("email");
  if (addressAt < 0)
    throw new CliError(`${file} has no column named email: add it to the first line`);
  const badColumn = names.findIndex((name, i) => name === "" || names.indexOf(name) !== i);
  if (badColumn >= 0)
    throw new CliError(
      `${file}: column ${badColumn + 1} needs a name of its own, in letters and digits`,
    );
  if (lines.length === 0)
    throw new CliError(`${file} has only a header line: add at least one person`);
  if (lines.length > maxRecipients)
    throw new CliError(
      `${file} has ${lines.length} people; the demo sends to ${maxRecipients} at most`,
    );
  return {
    columns: names.filter((_, i) => i !== addressAt),
    recipients: lines.map((line) => toRecipient({ file, names, addressAt }, line)),
  };
}

interface CsvLine {
  record: string[];
  info: { lines: number };
}

function parseCsv(file: string): CsvLine[] {
  const text = readText(file);
  try {
    return parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
      max_record_size: 100_000,
    }) as unknown as CsvLine[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CliError(`${file} is not valid CSV: ${error.message}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      code === "ENOENT" ? `The file ${file} does not exist` : `${file} cannot be read: ${code}`,
    );
  }
}

/** `First name` becomes `firstName`. Returns "" when the column cannot be a variable. */
function variableName(column: string): string {
  const [first = "", ...more] = column.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const name =
    lowerFirst(first) + more.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[a-z]/.test(name) ? name : "";
}

const lowerFirst = (word: string): string =>
  word === word.toUpperCase() ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1);

function toRecipient(
  { file, names, addressAt }: { file: string; names: string[]; addressAt: number },
  { record, info }: CsvLine,
): DemoRecipient {
  const email = record[addressAt] ?? "";
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw new CliError(`${file}, line ${info.lines}: "${email}" is not an email address`);
  const values = names.flatMap((name, i) =>
    i === addressAt ? [] : [[name, record[i] ?? ""] as const],
  );
  return { email, variables: Object.fromEntries(values) };
}
