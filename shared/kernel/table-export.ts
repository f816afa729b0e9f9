// Writes rows as CSV or JSON in pieces: a header, rows, and a footer.
import { guarded } from "./csv-cells.ts";
import { csvText } from "./csv-packages.ts";

export const exportFormats = ["csv", "json"] as const;
export type ExportFormat = (typeof exportFormats)[number];

type Cell = string | number | boolean | null | undefined;
export type ExportRow = Record<string, unknown>;

export interface ExportTable {
  /** Name of the array in JSON. */
  jsonName: string;
  columns: string[];
  cells(row: ExportRow): Cell[];
}

export interface WriterOptions {
  /** Starts with a byte order mark. Without one, Excel reads CSV in its local encoding. */
  bom?: boolean | undefined;
}

interface FormatWriter {
  contentType: string;
  /** Whether all columns must be known before the first row. */
  hasColumns: boolean;
  header(table: ExportTable, options: WriterOptions): string;
  /** `isFirst`: no rows were written before. */
  rows(table: ExportTable, rows: ExportRow[], isFirst: boolean): string;
  footer(table: ExportTable): string;
}

// Quotes cells that some readers would split at a semicolon or tab.
const quoting = { quoted_match: /[;\t\r\n]/ };

export const formatWriters: Record<ExportFormat, FormatWriter> = {
  csv: {
    contentType: "text/csv; charset=utf-8",
    hasColumns: true,
    header: ({ columns }, { bom }) =>
      (bom ? "\uFEFF" : "") + csvText([columns.map(cellOf)], quoting),
    rows: ({ cells }, rows) =>
      csvText(
        rows.map((row) => cells(row).map(cellOf)),
        quoting,
      ),
    footer: () => "",
  },
  json: {
    contentType: "application/json; charset=utf-8",
    hasColumns: false,
    header: ({ jsonName }) => `{"data":{${JSON.stringify(jsonName)}:[`,
    rows: (_, rows, isFirst) =>
      rows.map((row, i) => `${isFirst && !i ? "" : ","}\n${JSON.stringify(row)}`).join(""),
    footer: () => "\n]}}\n",
  },
};

const cellOf = (value: Cell): Cell => {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" ? guarded(value) : value;
};

interface TableContent extends WriterOptions {
  format: ExportFormat;
  shape: ExportTable;
  rows: ExportRow[];
}

export function formatTable({ format, shape, rows, ...options }: TableContent): string {
  const writer = formatWriters[format];
  return writer.header(shape, options) + writer.rows(shape, rows, true) + writer.footer(shape);
}
