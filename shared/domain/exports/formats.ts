// Rows as text, piece by piece: what comes before them, some of them, what comes after.
import { stringify } from "csv-stringify/sync";

export const formats = ["csv", "json"] as const;
export type Format = (typeof formats)[number];

type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, unknown>;

/** What is exported: its name in JSON, and its rows for CSV. */
export interface Shape {
  plural: string;
  columns: string[];
  cells(row: Row): Cell[];
}

interface Writer {
  type: string;
  begin(shape: Shape): string;
  /** `first`: no row stands before them. */
  some(shape: Shape, rows: Row[], first: boolean): string;
  end(shape: Shape): string;
}

export const writers: Record<Format, Writer> = {
  csv: {
    type: "text/csv; charset=utf-8",
    begin: ({ columns }) => stringify([columns.map(guarded)]),
    some: ({ cells }, rows) => stringify(rows.map((row) => cells(row).map(guarded))),
    end: () => "",
  },
  json: {
    type: "application/json; charset=utf-8",
    begin: ({ plural }) => `{"data":{${JSON.stringify(plural)}:[`,
    some: (_, rows, first) => rows.map((row, i) => `${first && !i ? "" : ","}\n${JSON.stringify(row)}`).join(""),
    end: () => "\n]}}\n",
  },
};

/** A spreadsheet would run a text that begins so as a formula: an apostrophe keeps it from that, and imports take it away again. */
const guarded = (cell: Cell): Cell =>
  typeof cell === "string" && /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/.test(cell)
    ? `'${cell}`
    : typeof cell === "boolean"
      ? String(cell)
      : cell;

export const whole = (format: Format, shape: Shape, rows: Row[]): string => {
  const { begin, some, end } = writers[format];
  return begin(shape) + some(shape, rows, true) + end(shape);
};
