// Reads CSV in small pieces, so that other work of the process continues, and limits the size of
// each record.
import { pipeline, Readable } from "node:stream";
import type { CsvError, Options } from "csv-parse";
import { nextTurn } from "../clock.ts";
import { csvParser } from "./csv-packages.ts";

export interface CsvRecord {
  record: string[];
  info: { bytes: number; records: number; empty_lines: number; lines: number };
}

const pieceBytes = 32_768;
/** How much the streams may hold that is read and not parsed yet. */
const unparsedBytes = 3 * pieceBytes;

/**
 * A record exceeds `maxRecordBytes`. The limit of the parser counts cells, but not the delimiters
 * between them.
 */
export class LongRecord extends Error {
  /** Records and empty lines before it. */
  readonly rowsBefore: number;

  constructor(rowsBefore: number) {
    super();
    this.rowsBefore = rowsBefore;
  }
}

/** Checks the error code, because the module with the class may not be loaded. */
export const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && "code" in error && /^CSV_/.test(String(error.code));

/** Throws CsvError if the text is not valid CSV, and LongRecord. */
export async function* recordsOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxRecordBytes, ...options }: Options & { maxRecordBytes: number },
): AsyncGenerator<CsvRecord> {
  let parsed = { bytes: 0, records: 0, empty_lines: 0 };
  async function* smallPieces(): AsyncGenerator<Uint8Array> {
    let bytesRead = 0;
    for await (const piece of pieces)
      for (let offset = 0; offset < piece.length; offset += pieceBytes) {
        await nextTurn();
        if (bytesRead - parsed.bytes > maxRecordBytes + unparsedBytes)
          throw new LongRecord(parsed.records + parsed.empty_lines);
        const part = piece.subarray(offset, offset + pieceBytes);
        bytesRead += part.length;
        yield part;
      }
  }
  const parser = csvParser({
    ...options,
    info: true,
    max_record_size: maxRecordBytes,
    // Called when a record is parsed. The caller may take it much later.
    on_record: (found, info) => {
      parsed = info;
      return found;
    },
  });
  // An error of either stream destroys the other, and the parser throws it.
  pipeline(
    Readable.from(smallPieces(), { objectMode: false, highWaterMark: pieceBytes }),
    parser,
    () => {},
  );
  yield* parser as AsyncIterable<CsvRecord>;
}
