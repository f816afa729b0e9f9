// Reads the rows of a CSV file of any size. Each row has its end position, where an interrupted
// import resumes.
import type { CsvError } from "csv-parse";
import { invalid } from "../../../errors.ts";
import { isCsvError, LongRecord, recordsOf } from "../../../kernel/csv.ts";
import { csvParserOptions, decode, type SniffedFormat } from "./format-sniffer.ts";
import type { Encoding } from "./import-options.ts";

export interface FilePosition {
  /** Byte offset. */
  bytes: number;
  /**
   * Rows before this position, as a spreadsheet counts: with header and empty lines; a cell of
   * several lines is one row.
   */
  row: number;
}

export interface CsvRow {
  /** Starts at 1. */
  row: number;
  cells: string[];
  end: FilePosition;
}

export interface CsvFormat extends Pick<SniffedFormat, "delimiter" | "cr"> {
  encoding: Encoding;
}

const maxRowBytes = 1_000_000;

interface ReadOptions extends CsvFormat {
  /** Also yields rows whose cells are all blank, but no empty lines. */
  withBlankRows?: boolean;
}

/**
 * Yields all rows after `from` that are not blank. Throws `invalid` for a row that cannot be read.
 */
export async function* readRows(
  pieces: AsyncIterable<Uint8Array>,
  from: FilePosition,
  { encoding, withBlankRows = false, ...format }: ReadOptions,
): AsyncGenerator<CsvRow> {
  const utf16 = encoding.startsWith("utf-16") ? createUtf16Reader(encoding) : undefined;
  const options = {
    ...csvParserOptions(format),
    encoding: nodeEncodings[encoding],
    maxRecordBytes: maxRowBytes,
  };
  let row = from.row;
  try {
    for await (const { record, info } of recordsOf(
      utf16 ? utf16.asUtf8(pieces) : pieces,
      options,
    )) {
      row = from.row + info.records + info.empty_lines;
      const bytes = from.bytes + (utf16 ? utf16.utf16BytesOf(info.bytes) : info.bytes);
      const cells = encoding === "windows-1252" ? record.map(decodeWindows1252) : record;
      if (withBlankRows || !isBlankRow(cells)) yield { row, cells, end: { bytes, row } };
    }
  } catch (error) {
    if (error instanceof LongRecord) throw tooLong(from.row + error.rowsBefore + 1);
    throw isCsvError(error) ? toReadProblem(error, from.row) : error;
  }
}

export const isBlankRow = (cells: string[]): boolean => cells.every(isBlank);

/** Ignores other Unicode spaces, so that blank rows are the same in every encoding. */
const isBlank = (cell: string): boolean => /^[ \t\r\n]*$/.test(cell);

// The parser works on bytes and counts them. It reads windows-1252 as latin1, which is corrected
// afterwards. It gets UTF-16 as UTF-8, because it would mistake halves of two characters for a
// comma.
const nodeEncodings: Record<Encoding, BufferEncoding> = {
  "utf-8": "utf8",
  "utf-16le": "utf8",
  "utf-16be": "utf8",
  "windows-1252": "latin1",
};

/**
 * Converts UTF-16 to UTF-8. `utf16BytesOf` maps a UTF-8 byte count back to the UTF-16 byte count.
 */
function createUtf16Reader(encoding: Encoding) {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  const decoded: Buffer[] = [];
  // The first `bytes` of UTF-8 were `units` of UTF-16. `offset` is the position in the first
  // decoded buffer.
  let [bytes, units, offset] = [0, 0, 0];
  return {
    async *asUtf8(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        const text = Buffer.from(decoder.decode(piece, { stream: true }));
        decoded.push(text);
        if (text.length) yield text;
      }
    },
    /** Each call must ask for at least as much as the one before. */
    utf16BytesOf(utf8: number): number {
      for (; bytes < utf8 && decoded[0]; bytes++) {
        while (decoded[0] && offset === decoded[0].length) {
          decoded.shift();
          offset = 0;
        }
        units += utf16UnitsOf(decoded[0]?.[offset++] ?? 0);
      }
      return units * 2;
    },
  };
}

/** UTF-16 units of the character that starts with this byte of UTF-8; 0 for a continuation byte. */
function utf16UnitsOf(byte: number): number {
  if (byte >= 0xf0) return 2;
  return byte >= 0xc0 || byte < 0x80 ? 1 : 0;
}

/** The two encodings differ only in these characters. */
const decodeWindows1252 = (cell: string): string =>
  /[\u0080-\u009f]/.test(cell) ? decode(Buffer.from(cell, "latin1"), "windows-1252") : cell;

const tooLong = (row: number): Error =>
  invalid(
    `Row ${row} has more than ${maxRowBytes.toLocaleString("en")} bytes: check whether a ` +
      `quote (") is opened but not closed`,
  );

function toReadProblem(error: CsvError, rowsBefore: number): Error {
  const { records = 0, empty_lines = 0 } = error as { records?: number; empty_lines?: number };
  const row = rowsBefore + records + empty_lines + 1;
  if (error.code === "CSV_QUOTE_NOT_CLOSED")
    return invalid(`Row ${row}: a quote (") is opened but not closed`);
  if (error.code === "CSV_MAX_RECORD_SIZE") return tooLong(row);
  return invalid(`Row ${row} cannot be read: ${error.code}`);
}
