// Many suppressions at once, from JSON or CSV. A bad row fails alone; an import that is made again adds nothing twice.
import { parse } from "csv-parse/sync";
import { getMany, write } from "../doors/table.ts";
import { canonical } from "../email.ts";
import { invalid, overLimit } from "../errors.ts";
import { faults } from "../faults.ts";
import { parsed } from "../json.ts";
import { chunked } from "../parallel.ts";
import type { NewSuppression, Suppression } from "./suppressions.ts";
import * as suppressions from "./suppressions.ts";

const maxRows = 10_000;
const maxErrors = 100;

/** `row` counts from 1; in CSV it is the line, the header included. */
export interface Row {
  row: number;
  given: unknown;
}
export interface Imported {
  imported: number;
  /** Were suppressed already, or came twice. */
  skipped: number;
  failed: number;
  /** Of the first 100 rows that failed. */
  errors: { row: number; message: string }[];
}

/** All rows, in order; 400 `limit_exceeded` past 10,000. */
export async function add(orgId: number, rows: Row[]): Promise<Imported> {
  if (rows.length > maxRows) throw overLimit("rows", `An import may have at most ${maxRows} rows: split it`);
  const { wanted, errors } = sorted(rows);
  // One after the other: they all move the same counters.
  let imported = 0;
  for (const some of chunked(wanted, perTransaction)) imported += await addSome(orgId, some);
  const failed = errors.length;
  return { imported, skipped: rows.length - failed - imported, failed, errors: errors.slice(0, maxErrors) };
}

/** Rows of a JSON body: `{emails: [...]}` or `{suppressions: [{email, reason?, detail?}]}`. */
export function fromJson(text: string): Row[] {
  const { emails, suppressions: entries } = parsedJson(text);
  const given = Array.isArray(emails) ? emails.map((email) => ({ email })) : entries;
  if (!Array.isArray(given))
    throw invalid("emails or suppressions is required: a list", { details: [{ path: "emails", message: "is required" }] });
  return given.map((one: unknown, i) => ({ row: i + 1, given: one }));
}

/**
 * Rows of a CSV, separated by comma, semicolon or tab. With a header (a first line that names a column `email`) `reason` and
 * `detail` are read too; without one every row's first column is the address.
 */
export function fromCsv(text: string): Row[] {
  const [first, ...rest] = records(text);
  if (!first) return [];
  const names = first.record.map(normalized);
  const email = names.findIndex((name) => columns.email.has(name));
  if (email < 0) return [first, ...rest].map(({ record, info }) => ({ row: info.lines, given: { email: unguarded(record[0]) } }));
  const reason = names.findIndex((name) => columns.reason.has(name));
  const detail = names.findIndex((name) => columns.detail.has(name));
  return rest.map(({ record, info }) => ({
    row: info.lines,
    given: {
      email: unguarded(record[email]),
      ...(record[reason] && { reason: record[reason].toLowerCase().replace(/[\s-]+/g, "_") }),
      ...(record[detail] && { detail: oneLine(unguarded(record[detail])) }),
    },
  }));
}

function parsedJson(text: string): { emails?: unknown; suppressions?: unknown } {
  const value = parsed(text);
  if (value === undefined) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  return value ?? {};
}

interface CsvRecord {
  record: string[];
  info: { lines: number };
}

function records(text: string): CsvRecord[] {
  try {
    return parse(text, {
      bom: true,
      delimiter: [",", ";", "\t"],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
      info: true,
      // One more than may be, and a header.
      to: maxRows + 2,
    }) as unknown as CsvRecord[];
  } catch (error) {
    throw invalid(`The CSV cannot be read: ${(error as Error).message}`, { code: "invalid_csv" });
  }
}

const columns = {
  email: new Set(["email", "emailaddress", "mail", "address", "recipient"]),
  reason: new Set(["reason", "type"]),
  detail: new Set(["detail", "details", "description", "error", "message", "note", "notes"]),
};
const normalized = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");

/** An export puts an apostrophe before what a spreadsheet would take for a formula. */
const unguarded = (cell = ""): string => cell.replace(/^'(?=[=+\-@])/, "");
const oneLine = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, suppressions.maxDetailLength)
    .toWellFormed();

const ImportedSuppression = suppressions.NewSuppression.extend({ reason: suppressions.Reason.default("import") });

/** Each address once, where it comes first; and what is wrong with the other rows. */
function sorted(rows: Row[]) {
  const wanted = new Map<string, NewSuppression>();
  const errors: Imported["errors"] = [];
  for (const { row, given } of rows) {
    const { data, error } = ImportedSuppression.safeParse(given, { error: faults });
    if (error) errors.push({ row, message: sentence(error.issues[0]!) });
    else if (!wanted.has(canonical(data.email))) wanted.set(canonical(data.email), { ...data, source: "import" });
  }
  return { wanted: [...wanted.values()], errors };
}

const sentence = ({ path, message }: { path: PropertyKey[]; message: string }): string => [...path.map(String), message].join(" ");

// A transaction takes 100 writes: those that move the five counters, and the entries.
const perTransaction = 95;

/** Answers how many were new. */
const addSome = (orgId: number, wanted: NewSuppression[]): Promise<number> =>
  suppressions.settled(async () => {
    const current = await getMany<Suppression>(
      wanted.map(({ email }) => suppressions.addressOf(orgId, email)),
      { consistent: true },
    );
    const steps = wanted.map((one, i) => ({ wanted: one, current: current[i] }));
    await write(...suppressions.suppressing(orgId, steps));
    await suppressions.told(
      orgId,
      wanted.map(({ email }) => email),
    );
    return steps.filter(suppressions.changes).length;
  });
