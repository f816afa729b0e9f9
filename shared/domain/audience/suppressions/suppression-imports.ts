// Imports suppressions from JSON or CSV. An invalid row fails alone. Repeating an import adds
// nothing twice.

import { getMany } from "../../../adapters/dynamodb/table.ts";
import { nextTurn } from "../../../clock.ts";
import { invalid, limitExceeded } from "../../../errors.ts";
import { type CsvRecord, isCsvError, LongRecord, recordsOf } from "../../../kernel/csv.ts";
import { unguarded } from "../../../kernel/csv-cells.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { parseJson as jsonParseJson } from "../../../kernel/json.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { needsWrite } from "./suppression-writes.ts";
import type { NewSuppression, Suppression } from "./suppressions.ts";
import * as suppressions from "./suppressions.ts";

export const maxRows = 10_000;
const maxErrors = 100;

/** `row` starts at 1. In a CSV it is the line number, with the header. */
export interface SuppressionRow {
  row: number;
  given: unknown;
}
export interface SuppressionImport {
  imported: number;
  /** Rows that were suppressed already, duplicates, or soft bounces. */
  skipped: number;
  failed: number;
  /** Errors of the first 100 failed rows. */
  errors: { row: number; message: string }[];
}

/** 400 `limit_exceeded` for more than 10,000 rows. */
export async function importRows(
  orgId: number,
  rows: SuppressionRow[],
): Promise<SuppressionImport> {
  if (rows.length > maxRows) throw tooManyRows();
  const { wanted, errors } = await validateRows(rows);
  const imported = await addAll(orgId, wanted);
  const failed = errors.length;
  return {
    imported,
    skipped: rows.length - failed - imported,
    failed,
    errors: errors.slice(0, maxErrors),
  };
}

/** Rows of a JSON body: `{emails: [...]}` or `{suppressions: [{email, reason?, detail?}]}`. */
export function rowsFromJson(text: string): SuppressionRow[] {
  const { emails, suppressions: entries } = parseJson(text);
  const input = Array.isArray(emails)
    ? emails.slice(0, maxRows + 1).map((email) => ({ email }))
    : entries;
  if (!Array.isArray(input))
    throw invalid("emails or suppressions is required and must be an array", {
      details: [{ path: "emails", message: "is required" }],
    });
  if (input.length > maxRows) throw tooManyRows();
  return input.map((one: unknown, i) => ({ row: i + 1, given: one }));
}

const tooManyRows = () =>
  limitExceeded("rows", `An import can have at most ${maxRows} rows: split it`);

/**
 * Rows of a CSV, separated by comma, semicolon or tab. If the first line has a column `email`, it
 * is the header, and the columns `reason`, `detail` and `bounceType` are read too. Otherwise the
 * first column of every row is the email address.
 */
export async function rowsFromCsv(body: Buffer): Promise<SuppressionRow[]> {
  const [first, ...rest] = await parseCsv(body);
  if (!first) return [];
  const names = first.record.map(normalizeHeader);
  const email = names.findIndex((name) => columns.email.has(name));
  if (email < 0)
    return [first, ...rest].map(({ record, info }) => ({
      row: info.lines,
      given: { email: unguarded(record[0] ?? "") },
    }));
  const reason = names.findIndex((name) => columns.reason.has(name));
  const detail = names.findIndex((name) => columns.detail.has(name));
  const bounceType = names.indexOf("bouncetype");
  return rest.map(({ record, info }) => ({
    row: info.lines,
    given: {
      email: unguarded(record[email] ?? ""),
      ...(record[bounceType] && { bounceType: record[bounceType].toLowerCase() }),
      ...(record[reason] && { reason: record[reason].toLowerCase().replace(/[\s-]+/g, "_") }),
      ...(record[detail] && { detail: toOneLine(unguarded(record[detail])) }),
    },
  }));
}

function parseJson(text: string): { emails?: unknown; suppressions?: unknown } {
  const value = jsonParseJson(text);
  if (value === undefined) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  return value ?? {};
}

// Room for columns of other systems.
const maxRecordBytes = 100_000;

async function parseCsv(body: Buffer): Promise<CsvRecord[]> {
  const found: CsvRecord[] = [];
  try {
    const options = {
      bom: true,
      delimiter: [",", ";", "\t"],
      relax_column_count: true as const,
      relax_quotes: true,
      skip_empty_lines: true as const,
      trim: true,
      // One more than may be, and a header.
      to: maxRows + 2,
      maxRecordBytes,
    };
    for await (const one of recordsOf([body], options)) found.push(one);
    return found;
  } catch (error) {
    if (error instanceof LongRecord)
      throw unreadable(`a record has more than ${maxRecordBytes.toLocaleString("en")} bytes`);
    throw isCsvError(error) ? unreadable(error.message) : error;
  }
}

const unreadable = (reason: string) =>
  invalid(`The CSV cannot be read: ${reason}`, { code: "invalid_csv" });

const columns = {
  email: new Set(["email", "emailaddress", "mail", "address", "recipient"]),
  reason: new Set(["reason", "type"]),
  detail: new Set(["detail", "details", "description", "error", "message", "note", "notes"]),
};
const normalizeHeader = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");

const toOneLine = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, suppressions.maxDetailLength)
    .toWellFormed();

const ImportedSuppression = suppressions.NewSuppression.extend({
  reason: suppressions.SuppressionReason.default("import"),
});

// An export lists soft bounces. Here nothing is known that would end them.
const isSoftBounce = (given: unknown): boolean =>
  (given as { bounceType?: unknown } | null | undefined)?.bounceType === "soft";

const rowsPerTurn = 500;

/** The first valid row of each address, and the errors of invalid rows. */
async function validateRows(rows: SuppressionRow[]) {
  const wanted = new Map<string, NewSuppression>();
  const errors: SuppressionImport["errors"] = [];
  for (const [i, { row, given: input }] of rows.entries()) {
    if (i % rowsPerTurn === 0) await nextTurn();
    const { data, error } = ImportedSuppression.safeParse(input, { error: validationMessages });
    if (isSoftBounce(input)) continue;
    if (error) errors.push({ row, message: issueMessage(error.issues[0]!) });
    else if (!wanted.has(normalizeEmail(data.email)))
      wanted.set(normalizeEmail(data.email), { ...data, source: "import" });
  }
  return { wanted: [...wanted.values()], errors };
}

const issueMessage = ({ path, message }: { path: PropertyKey[]; message: string }): string =>
  [...path.map(String), message].join(" ");

/** Returns how many were new. */
export async function addAll(orgId: number, wanted: NewSuppression[]): Promise<number> {
  const distinct = [...new Map(wanted.map((one) => [normalizeEmail(one.email), one])).values()];
  // One after the other, because they change the same counters.
  let added = 0;
  for (const some of splitIntoBatches(distinct, maxEntriesPerWrite))
    added += await importBatch(orgId, some);
  return added;
}

// A transaction takes 100 writes; five are for the counters, one is for the departure log.
const maxEntriesPerWrite = 94;

/** Returns how many were new. */
const importBatch = (orgId: number, wanted: NewSuppression[]): Promise<number> =>
  retryOnConflict("The suppression list", async () => {
    const current = await getMany<Suppression>(
      wanted.map(({ email }) => suppressions.keyOf(orgId, email)),
      { consistent: true },
    );
    const steps = wanted.map((one, i) => ({ wanted: one, current: current[i] }));
    await suppressions.commitSuppressions(orgId, steps);
    await suppressions.syncContacts(
      orgId,
      wanted.map(({ email }) => email),
    );
    return steps.filter(needsWrite).length;
  });
