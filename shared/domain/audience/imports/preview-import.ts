// Shows how an import would read a file: its format, its columns and its first rows. It stores
// nothing.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { Problem } from "../../../errors.ts";
import { Count, RecordSiteId } from "../../../kernel/record-fields.ts";
import * as sites from "../../identity/sites.ts";
import { listOfSite } from "../topics/site-topics.ts";
import { findTopics, guessColumns, mapColumns } from "./column-mapping.ts";
import { type CsvRow, isBlankRow, readRows } from "./csv-rows.ts";
import { sampleCustomFields } from "./custom-field-sample.ts";
import { createUtf8Checker, sniffFormat } from "./format-sniffer.ts";
import { delimiters, encodings, type ImportColumn } from "./import-options.ts";
import type { NewImport } from "./import-record.ts";
import { findUpload, type ImportSource } from "./imports.ts";
import { parseRow } from "./parse-row.ts";
import { readFrom, readHead } from "./stored-file.ts";

/** What a preview reads at most: a second or two of work. Also ends a file of blank rows. */
const maxRead = { rows: 100_000, bytes: 6_000_000 };

export const ImportPreview = z
  .object({
    siteId: RecordSiteId,
    size: Count.describe("Size of the file in bytes."),
    delimiter: z.enum(delimiters).describe("Character between cells, as given or detected."),
    encoding: z.enum(encodings).describe("Character encoding, as given or detected."),
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
  const { first, total } = await readFirstRows(
    readRows(file.readFrom(format.start.bytes), format.start, {
      ...format,
      encoding,
      withBlankRows: true,
    }),
    "bytes" in source,
  );
  const [header, ...rows] = first;
  const { columns, error } = header
    ? await findColumns({ orgId: caller.orgId, siteId }, { header, rows, mapping })
    : { columns: [], error: "The file is empty: its first row must name the columns" };
  return {
    siteId,
    size: file.size,
    delimiter: format.delimiter,
    encoding,
    total,
    columns: columns.map(({ header: name, field }, i) => ({
      header: name,
      field,
      samples: rows
        .flatMap(({ cells }) => cells[i]?.trim() || [])
        .slice(0, shownSamples)
        .map(shown),
    })),
    error,
    rows: rows.map(({ row, cells }) => ({
      row,
      cells: cells.slice(0, columns.length).map(shown),
      error: error === null ? (parseRow(cells, columns).error ?? null) : null,
    })),
  };
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

/** The header and the first rows below it. */
async function readFirstRows(
  all: AsyncIterable<CsvRow>,
  isCounted: boolean,
): Promise<{ first: CsvRow[]; total: number | null }> {
  const first: CsvRow[] = [];
  let count = 0;
  for await (const row of all) {
    if (row.row > maxRead.rows || row.end.bytes > maxRead.bytes) return { first, total: null };
    if (isBlankRow(row.cells)) continue;
    count++;
    if (first.length <= shownRows) first.push(row);
    else if (!isCounted) break;
  }
  return { first, total: isCounted ? Math.max(0, count - 1) : null };
}

async function findColumns(
  site: { orgId: number; siteId: number },
  { header, rows, mapping }: { header: CsvRow; rows: CsvRow[]; mapping: NewImport["mapping"] },
): Promise<{ columns: ImportColumn[]; error: string | null }> {
  const [{ keys: customFieldKeys }, topics] = await Promise.all([
    sampleCustomFields(site),
    listOfSite(site.orgId, site.siteId),
  ]);
  const cells = rows.map((row) => row.cells);
  try {
    const mapped = mapColumns(header.cells, cells, { mapping, customFieldKeys });
    return { columns: findTopics(mapped, topics), error: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { columns: guessColumns(header.cells), error: error.message };
  }
}
