// Detects what a CSV file does not declare: its encoding, delimiter and line ends.
import { isUtf8 } from "node:buffer";
import { csvRows } from "../../../kernel/csv-packages.ts";
import { type Delimiter, delimiters, type Encoding } from "./import-options.ts";
import { refuseOtherFormats } from "./other-formats.ts";

export interface SniffedFormat {
  /** Undefined if only the rest of the file can decide between UTF-8 and windows-1252. */
  encoding: Encoding | undefined;
  delimiter: Delimiter;
  /** Whether rows end with a carriage return alone, as on old Macs. */
  cr: boolean;
  /** Position of the first row. */
  start: { bytes: number; row: number };
}

const byteOrderMarks: [Encoding, number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** `head` has the first bytes of the file. `options` take precedence over what is detected. */
export function sniffFormat(
  head: Uint8Array,
  options: { encoding?: Encoding | undefined; delimiter?: Delimiter | undefined },
): SniffedFormat {
  refuseOtherFormats(head);
  const [marked, byteOrderMark] = byteOrderMarks.find(([, bytes]) =>
    bytes.every((byte, i) => head[i] === byte),
  ) ?? [undefined, []];
  const encoding = options.encoding ?? marked ?? detectUtf16(head);
  // The byte order mark is never text, even if the encoding was set to windows-1252.
  const bytes =
    encoding === undefined || encoding === "windows-1252" || encoding === marked
      ? byteOrderMark.length
      : 0;
  const text = decode(head.subarray(bytes), encoding ?? "utf-8");
  // Excel declares the delimiter in a first line of its own.
  const declared = /^"?sep=([,;\t|])"?(\r\n|\n|\r)/i.exec(text);
  const cr = /^(?:[^"\r\n]|"[^"]*")*\r(?!\n|$)/.test(text);
  const delimiter =
    options.delimiter ?? (declared?.[1] as Delimiter | undefined) ?? detectDelimiter(text, cr);
  const width = encoding?.startsWith("utf-16") ? 2 : 1;
  return {
    encoding,
    delimiter,
    cr,
    start: declared ? { bytes: bytes + declared[0].length * width, row: 1 } : { bytes, row: 0 },
  };
}

/** Detects UTF-16 without a byte order mark: in Latin text every second byte is 0. */
function detectUtf16(head: Uint8Array): Encoding | undefined {
  const sample = head.subarray(0, 2000);
  const zeros = (odd: number) => sample.filter((byte, i) => i % 2 === odd && byte === 0).length;
  const enough = sample.length / 4;
  if (zeros(1) > enough && zeros(0) < enough / 4) return "utf-16le";
  return zeros(0) > enough && zeros(1) < enough / 4 ? "utf-16be" : undefined;
}

export const decode = (bytes: Uint8Array, encoding: Encoding): string =>
  new TextDecoder(encoding).decode(bytes);

const sampledRows = 20;

/**
 * The delimiter with which most rows have as many cells as the header. Of equals, the one that
 * makes the most cells.
 */
function detectDelimiter(text: string, cr: boolean): Delimiter {
  const scored = delimiters.map((delimiter) => ({
    delimiter,
    score: scoreDelimiter(text, { delimiter, cr }),
  }));
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  return best.delimiter;
}

function scoreDelimiter(text: string, format: Pick<SniffedFormat, "delimiter" | "cr">): number {
  const rows = csvRows(text, {
    ...csvParserOptions(format),
    to: sampledRows,
    skip_records_with_error: true,
  });
  const width = rows[0]?.length ?? 0;
  if (width < 2) return 0;
  return rows.filter((row) => row.length === width).length / rows.length + width / 10_000;
}

/** As lenient as spreadsheets. */
export const csvParserOptions = ({ delimiter, cr }: Pick<SniffedFormat, "delimiter" | "cr">) => ({
  delimiter,
  record_delimiter: cr ? ["\r"] : ["\r\n", "\n"],
  relax_column_count: true as const,
  relax_quotes: true,
  skip_empty_lines: true as const,
});

/** Checks whether a stream is UTF-8. A chunk may end within a character. */
export function createUtf8Checker(): {
  add(chunk: Uint8Array): void;
  valid(atEnd: boolean): boolean;
} {
  let rest = Buffer.alloc(0);
  let isValid = true;
  return {
    add(chunk) {
      if (!isValid) return;
      const bytes = rest.length
        ? Buffer.concat([rest, chunk])
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const end = endOfLastCharacter(bytes);
      isValid = isUtf8(bytes.subarray(0, end));
      rest = Buffer.from(bytes.subarray(end));
    },
    valid: (atEnd) => isValid && (!atEnd || rest.length === 0),
  };
}

/** End of the last complete character. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return characterBytes(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Length of a multi-byte character, from its first byte. */
function characterBytes(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}
