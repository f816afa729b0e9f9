// Rows of a CSV file of any size, each with the place in the file where the next begins: who was interrupted goes on there.
import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { invalid } from "../../errors.ts";
import { decoded, type Look, ways } from "./encodings.ts";
import type { Encoding } from "./wishes.ts";

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

export interface Format extends Pick<Look, "delimiter" | "cr"> {
  encoding: Encoding;
}

const maxRowBytes = 1_000_000;

/** All rows that are not blank, from a place on. Throws `invalid` where they cannot be read. */
export async function* rowsOf(pieces: AsyncIterable<Uint8Array>, from: Place, { encoding, ...format }: Format): AsyncGenerator<Row> {
  const parser = parse({ ...ways(format), encoding: nodeEncodings[encoding], info: true, max_record_size: maxRowBytes });
  const wide = encoding.startsWith("utf-16") ? ruler(encoding) : undefined;
  // An error of either end comes out of the parser, and ends the other.
  pipeline(Readable.from(wide ? wide.asUtf8(pieces) : pieces, { objectMode: false }), parser, () => {});
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const row = from.row + info.records + info.empty_lines;
      const bytes = from.bytes + (wide ? wide.lengthOf(info.bytes) : info.bytes);
      const cells = encoding === "windows-1252" ? record.map(western) : record;
      if (!cells.every(isBlank)) yield { row, cells, end: { bytes, row } };
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, from.row) : error;
  }
}

/** The same in every encoding: other blanks are not looked for. */
const isBlank = (cell: string): boolean => /^[ \t\r\n]*$/.test(cell);

interface Parsed {
  record: string[];
  info: { bytes: number; records: number; empty_lines: number };
}

// The parser looks at bytes and counts them. windows-1252 is latin1 to it, and mended afterwards; UTF-16 it gets as UTF-8, since it
// would take halves of two characters for a comma.
const nodeEncodings: Record<Encoding, BufferEncoding> = {
  "utf-8": "utf8",
  "utf-16le": "utf8",
  "utf-16be": "utf8",
  "windows-1252": "latin1",
};

/** UTF-16 as UTF-8, and how long the one was that is now so many bytes of the other. */
function ruler(encoding: Encoding) {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  const given: Buffer[] = [];
  // Behind `bytes` of UTF-8 lay `units` of UTF-16; in the first of `given` it is as far as `at`.
  let [bytes, units, at] = [0, 0, 0];
  return {
    async *asUtf8(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        const text = Buffer.from(decoder.decode(piece, { stream: true }));
        given.push(text);
        if (text.length) yield text;
      }
    },
    /** Never asked for less than before. */
    lengthOf(utf8: number): number {
      for (; bytes < utf8 && given[0]; bytes++) {
        while (given[0] && at === given[0].length) [at] = [0, given.shift()];
        units += unitsOf(given[0]?.[at++] ?? 0);
      }
      return units * 2;
    },
  };
}

/** By its first byte; those that follow count nothing. */
const unitsOf = (byte: number): number => (byte >= 0xf0 ? 2 : byte >= 0xc0 || byte < 0x80 ? 1 : 0);

/** Where the two differ. */
const western = (cell: string): string => (/[\u0080-\u009f]/.test(cell) ? decoded(Buffer.from(cell, "latin1"), "windows-1252") : cell);

function unreadable(error: CsvError, before: number): Error {
  const { records = 0, empty_lines = 0 } = error as { records?: number; empty_lines?: number };
  const row = before + records + empty_lines + 1;
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return invalid(`Row ${row}: a quote (") is opened and not closed`);
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return invalid(`Row ${row} has more than ${maxRowBytes.toLocaleString("en")} bytes: perhaps a quote (") is opened and not closed`);
  return invalid(`Row ${row} cannot be read: ${error.code}`);
}
