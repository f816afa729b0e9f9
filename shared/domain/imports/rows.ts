// Rows of a CSV file of any size, each with the place in the file where the next begins: who was interrupted goes on there.
import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { invalid } from "../../errors.ts";
import { decoded, ways } from "./encodings.ts";
import type { Delimiter, Encoding } from "./wishes.ts";

export interface Place {
  /** Bytes before it. */
  bytes: number;
  /** Rows before it, counted as a spreadsheet does: the header and empty lines too, a cell of several lines once. */
  row: number;
}

export interface Row {
  /** From 1. */
  row: number;
  cells: string[];
  /** Where it ends. */
  end: Place;
}

interface Format {
  encoding: Encoding;
  delimiter: Delimiter;
}

const maxRowBytes = 1_000_000;

/** All rows that are not blank, from a place on. Throws `invalid` where they cannot be read. */
export async function* rowsOf(pieces: AsyncIterable<Uint8Array>, from: Place, { encoding, delimiter }: Format): AsyncGenerator<Row> {
  const parser = parse({ ...ways(delimiter), encoding: nodeEncodings[encoding], info: true, max_record_size: maxRowBytes });
  const swapped = encoding === "utf-16be" ? swappedPieces(pieces) : pieces;
  // An error of either end comes out of the parser, and ends the other.
  pipeline(Readable.from(swapped, { objectMode: false }), parser, () => {});
  let last = from.row;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const row = from.row + info.records + info.empty_lines;
      last = row;
      const cells = encoding === "windows-1252" ? record.map(western) : record;
      if (!cells.every(isBlank)) yield { row, cells, end: { bytes: from.bytes + info.bytes, row } };
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, last + 1) : error;
  }
}

/** The same in every encoding: other blanks are not looked for. */
const isBlank = (cell: string): boolean => /^[ \t\r\n]*$/.test(cell);

interface Parsed {
  record: string[];
  info: { bytes: number; records: number; empty_lines: number };
}

// The parser counts bytes, so nothing may be decoded before it; windows-1252 is latin1 to it, and mended afterwards.
const nodeEncodings: Record<Encoding, BufferEncoding> = {
  "utf-8": "utf8",
  "utf-16le": "utf16le",
  "utf-16be": "utf16le",
  "windows-1252": "latin1",
};

async function* swappedPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let odd = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([odd, piece]);
    const even = bytes.length - (bytes.length % 2);
    odd = bytes.subarray(even);
    yield bytes.subarray(0, even).swap16();
  }
}

/** Where the two differ. */
const western = (cell: string): string => (/[\u0080-\u009f]/.test(cell) ? decoded(Buffer.from(cell, "latin1"), "windows-1252") : cell);

function unreadable({ code }: CsvError, row: number): Error {
  const quote = code === "CSV_QUOTE_NOT_CLOSED";
  if (quote) return invalid(`Row ${row}: a quote (") is opened and not closed`);
  if (code === "CSV_MAX_RECORD_SIZE")
    return invalid(`Row ${row} has more than ${maxRowBytes.toLocaleString("en")} bytes: perhaps a quote (") is opened and not closed`);
  return invalid(`Row ${row} cannot be read: ${code}`);
}
