// Shows how an import would read a file: its format, its columns and its first rows. It stores
// nothing.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { Problem } from "../../../errors.ts";
import { unguarded } from "../../../kernel/csv-cells.ts";
import { Count, RecordSiteId } from "../../../kernel/record-fields.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import { readByType } from "../contacts/declared-fields.ts";
import {
  type CustomFieldType,
  dateOrders,
  decimalMarks,
  fieldTypes,
  parseFieldValue,
  type ValueFormat,
} from "../contacts/parse-field-value.ts";
import { listOfSite } from "../topics/site-topics.ts";
import { findTopics, findUnclearProblem, guessColumns, mapColumns } from "./column-mapping.ts";
import { addEvidenceOfRow, type ConsentColumn, findConsentColumns } from "./consent.ts";
import { type CsvRow, isBlankRow, readRows } from "./csv-rows.ts";
import { sampleCustomFields } from "./custom-field-sample.ts";
import { createUtf8Checker, sniffFormat } from "./format-sniffer.ts";
import { delimiters, encodings, type ImportColumn, withTypes } from "./import-options.ts";
import type { NewImport } from "./import-record.ts";
import { findUpload, type ImportSource } from "./imports.ts";
import { maxTagsOf, parseRow } from "./parse-row.ts";
import { readFrom, readHead } from "./stored-file.ts";
import {
  addFormatEvidence,
  detectValueFormat,
  type FormatEvidence,
  findFormatProblem,
} from "./value-formats.ts";

/** What a preview reads at most: a second or two of work. Also ends a file of blank rows. */
const maxRead = { rows: 100_000, bytes: 6_000_000 };

export const ImportPreview = z
  .object({
    siteId: RecordSiteId,
    size: Count.describe("Size of the file in bytes."),
    delimiter: z.enum(delimiters).describe("Character between cells, as given or detected."),
    encoding: z.enum(encodings).describe("Character encoding, as given or detected."),
    decimalMark: z
      .enum(decimalMarks)
      .describe("Decimal mark of numbers, as given or detected from the rows that were read."),
    dateOrder: z
      .enum(dateOrders)
      .nullable()
      .describe("Order of day and month, as given or detected. `null`: no date shows it."),
    total: Count.nullable().describe(
      "Number of rows without the header and blank rows. `null` for a file of `uploadId`, of " +
        `more than ${maxRead.rows.toLocaleString("en")} rows, or of more than ` +
        `${maxRead.bytes / 1_000_000} MB.`,
    ),
    columns: z
      .array(
        z.object({
          header: z.string().describe("Header of the column: its name in `mapping`."),
          field: z
            .string()
            .describe("Field that the column would be read as: the value for `mapping`."),
          samples: z.array(z.string()).describe("The first 3 values, at most 100 characters each."),
          type: z
            .enum(fieldTypes)
            .nullable()
            .describe("Declared type of the custom field, by which the cells are read, or `null`."),
          readings: z
            .array(
              z.object({
                cell: z.string().describe("The cell, at most 100 characters of it."),
                value: z
                  .union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()])
                  .describe("The value that the contact gets, or `null` if there is none."),
                error: z.string().nullable().describe("Why the cell cannot be read, or `null`."),
              }),
            )
            .describe(
              "If the field is declared: how the first 3 values are read, then up to 3 further " +
                "values of the first 20 rows that cannot be read.",
            ),
          question: z
            .string()
            .nullable()
            .describe(
              "Set if the column may say who gets email: a question for the person who imports. " +
                "The import needs the answer as the field of this column in `mapping`, such as " +
                "subscribed, unsubscribed, a custom field or ignore.",
            ),
        }),
      )
      .describe("Columns of the file, in their order."),
    error: z
      .string()
      .nullable()
      .describe("Why the import as a whole would fail, or `null`. Then `mapping` needs a change."),
    rows: z
      .array(
        z.object({
          row: Count.describe("Row number as in a spreadsheet: the header is row 1."),
          cells: z
            .array(z.string())
            .describe("Cells of the listed columns, at most 100 characters each."),
          error: z.string().nullable().describe("Why the row would fail, or `null`."),
          status: z
            .enum(["subscribed", "unsubscribed", "pending", "suppressed"])
            .nullable()
            .describe("Status that the row gives the contact. `null`: the row has none."),
          tags: z
            .array(z.string())
            .describe("Tags of the row. A comma, semicolon, bar or line break separates them."),
        }),
      )
      .describe("The first 20 rows below the header."),
  })
  .meta({ id: "ImportPreview" });
export type ImportPreview = z.output<typeof ImportPreview>;

const shownRows = 20;
const shownSamples = 3;
const shownCharacters = 100;
const shown = (cell: string): string => cell.slice(0, shownCharacters);

/**
 * Throws 404 for an unknown site, and 400 for an unknown upload or a file that is not CSV. A wrong
 * mapping is told in `error`.
 */
export async function preview(
  caller: CallerScope,
  { siteId: given, mapping, ...options }: NewImport,
  source: ImportSource,
): Promise<ImportPreview> {
  const siteId = await sites.resolveSiteId(caller, given);
  const file = await openFile(caller.orgId, source);
  const { encoding: known, ...format } = sniffFormat(file.head, options);
  const encoding = known ?? (isUtf8(file) ? "utf-8" : "windows-1252");
  const { first, total, consent, formats } = await readFirstRows(
    readRows(file.readFrom(format.start.bytes), format.start, {
      ...format,
      encoding,
      withBlankRows: true,
    }),
    "bytes" in source,
  );
  const [header, ...rows] = first;
  const { columns, error, typeOf } = header
    ? await findColumns({ orgId: caller.orgId, siteId }, { header, rows, mapping, consent })
    : { ...noColumns, error: "The file is empty: its first row must name the columns" };
  const values = detectValueFormat(options, columns, formats);
  const problem = error ?? findFormatProblem(values, columns, formats) ?? null;
  const timezone = await organizations.getTimezone(caller.orgId);
  const maxTags = maxTagsOf(options);
  const reading: Reading = { columns, typeOf, format: { ...values, timezone }, maxTags };
  return {
    siteId,
    size: file.size,
    delimiter: format.delimiter,
    encoding,
    decimalMark: values.decimalMark!,
    dateOrder: values.dateOrder ?? null,
    total,
    columns: columns.map(({ header: name, field, type, isUnclear }, i) => ({
      header: name,
      field,
      type: type ?? null,
      readings: type ? listReadings(rows, i, reading) : [],
      question: isUnclear ? consentQuestion(name) : null,
      samples: rows
        .flatMap(({ cells }) => cells[i]?.trim() || [])
        .slice(0, shownSamples)
        .map(shown),
    })),
    error: problem,
    rows: rows.map(({ row, cells }) => ({
      row,
      cells: cells.slice(0, columns.length).map(shown),
      ...(problem === null ? describeRow(cells, reading) : noDescription),
    })),
  };
}

const consentQuestion = (header: string): string =>
  `Does the column "${header}" say who gets email and who does not?`;

type RowDescription = Pick<ImportPreview["rows"][number], "error" | "status" | "tags">;

const noDescription: RowDescription = { error: null, status: null, tags: [] };

const noColumns = { columns: [], typeOf: () => undefined };

/** How the cells are read. */
interface Reading {
  columns: ImportColumn[];
  typeOf(name: string): CustomFieldType | undefined;
  format: ValueFormat;
  maxTags: number;
}

const shownErrors = 3;

function listReadings(
  rows: CsvRow[],
  column: number,
  { columns, format }: Reading,
): ImportPreview["columns"][number]["readings"] {
  const readings = rows.flatMap(({ cells }) => {
    const cell = unguarded(cells[column]?.trim() ?? "");
    if (!cell) return [];
    const { value, error } = {
      value: null,
      ...parseFieldValue(columns[column]!.type!, cell, format),
    };
    return [{ cell: shown(cell), value, error: error ?? null }];
  });
  const wrong = readings.slice(shownSamples).filter(({ error }) => error !== null);
  return [...readings.slice(0, shownSamples), ...wrong.slice(0, shownErrors)];
}

/** What an import would read. */
function describeRow(
  cells: string[],
  { columns, typeOf, format, maxTags }: Reading,
): RowDescription {
  const parsed = parseRow(cells, columns, { maxTags });
  if (parsed.error !== undefined) return { ...noDescription, error: parsed.error };
  const { row, suppress, lacksConsent } = parsed;
  const { faults } = readByType(row, typeOf, format);
  if (faults[0]) return { ...noDescription, error: faults[0].message };
  const status = lacksConsent ? "unsubscribed" : (row.status ?? null);
  return { error: null, status: suppress ? "suppressed" : status, tags: row.tags };
}

interface OpenedFile {
  size: number;
  /** The first 256 KB. */
  head: Uint8Array;
  /** The bytes at hand: all of them, or the head of an upload. */
  loaded: Uint8Array;
  readFrom(offset: number): AsyncIterable<Uint8Array>;
}

const headBytes = 256 * 1024;

async function openFile(orgId: number, source: ImportSource): Promise<OpenedFile> {
  if ("bytes" in source) {
    const { bytes } = source;
    return {
      size: bytes.length,
      head: bytes.subarray(0, headBytes),
      loaded: bytes,
      readFrom: (offset) => splitBytes(bytes.subarray(offset)),
    };
  }
  const stored = await findUpload(orgId, source.uploadId);
  const { bytes: head, etag: tag } = await readHead(stored, headBytes);
  return {
    size: stored.size,
    head,
    loaded: head,
    readFrom: (offset) => readFrom({ ...stored, tag }, offset),
  };
}

const pieceBytes = 64 * 1024;

async function* splitBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

/** Of an upload only the head is checked. The import checks all of it. */
function isUtf8({ loaded, size }: OpenedFile): boolean {
  const checker = createUtf8Checker();
  checker.add(loaded);
  return checker.valid(loaded.length === size);
}

interface FirstRows {
  first: CsvRow[];
  total: number | null;
  consent: ConsentColumn[];
  formats: FormatEvidence[];
}

/** The header and the first rows below it. */
async function readFirstRows(all: AsyncIterable<CsvRow>, isCounted: boolean): Promise<FirstRows> {
  const first: CsvRow[] = [];
  const formats: FormatEvidence[] = [];
  let consent: ConsentColumn[] = [];
  let count = 0;
  for await (const row of all) {
    if (row.row > maxRead.rows || row.end.bytes > maxRead.bytes)
      return { first, total: null, consent, formats };
    if (isBlankRow(row.cells)) continue;
    if (count === 0) consent = findConsentColumns(row.cells);
    else {
      addEvidenceOfRow(consent, row.cells);
      addFormatEvidence(formats, row.cells);
    }
    count++;
    if (first.length <= shownRows) first.push(row);
    else if (!isCounted) break;
  }
  return { first, total: isCounted ? Math.max(0, count - 1) : null, consent, formats };
}

async function findColumns(
  site: { orgId: number; siteId: number },
  {
    header,
    rows,
    mapping,
    consent,
  }: {
    header: CsvRow;
    rows: CsvRow[];
    mapping: NewImport["mapping"];
    consent: ConsentColumn[];
  },
): Promise<Pick<Reading, "columns" | "typeOf"> & { error: string | null }> {
  const [{ keys: customFieldKeys, typeOf }, topics] = await Promise.all([
    sampleCustomFields(site),
    listOfSite(site.orgId, site.siteId),
  ]);
  const cells = rows.map((row) => row.cells);
  try {
    const mapped = mapColumns(header.cells, cells, { mapping, customFieldKeys, consent });
    const columns = withTypes(findTopics(mapped, topics), typeOf);
    return { columns, typeOf, error: findUnclearProblem(mapped) ?? null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { columns: guessColumns(header.cells), typeOf, error: error.message };
  }
}
