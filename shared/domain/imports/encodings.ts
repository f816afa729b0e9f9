// What a text file does not say of itself: its encoding and what stands between its cells.
import { isUtf8 } from "node:buffer";
import { parse } from "csv-parse/sync";
import { type Delimiter, delimiters, type Encoding } from "./wishes.ts";

export interface Look {
  /** Undefined where only the rest of the file can tell between UTF-8 and windows-1252. */
  encoding: Encoding | undefined;
  delimiter: Delimiter;
  /** Rows end with a carriage return alone, as on old Macs. */
  cr: boolean;
  /** Bytes before the first row, and rows before it. */
  start: { bytes: number; row: number };
}

const marks: [Encoding, number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** By the first bytes of a file; what is wished goes over what is found. */
export function look(head: Uint8Array, wished: { encoding?: Encoding | undefined; delimiter?: Delimiter | undefined }): Look {
  const [marked, mark] = marks.find(([, bytes]) => bytes.every((byte, i) => head[i] === byte)) ?? [undefined, []];
  const encoding = wished.encoding ?? marked ?? wide(head);
  // A mark is no text, whatever one takes the rest for.
  const bytes = encoding === undefined || encoding === "windows-1252" || encoding === marked ? mark.length : 0;
  const text = decoded(head.subarray(bytes), encoding ?? "utf-8");
  // Excel's own way to say it.
  const said = /^"?sep=([,;\t|])"?(\r\n|\n|\r)/i.exec(text);
  const cr = /^(?:[^"\r\n]|"[^"]*")*\r(?!\n|$)/.test(text);
  const delimiter = wished.delimiter ?? (said?.[1] as Delimiter | undefined) ?? detected(text, cr);
  const width = encoding?.startsWith("utf-16") ? 2 : 1;
  return { encoding, delimiter, cr, start: said ? { bytes: bytes + said[0].length * width, row: 1 } : { bytes, row: 0 } };
}

/** UTF-16 without a mark: of Latin text every second byte is 0. */
function wide(head: Uint8Array): Encoding | undefined {
  const some = head.subarray(0, 2000);
  const zeros = (odd: number) => some.filter((byte, i) => i % 2 === odd && byte === 0).length;
  const enough = some.length / 4;
  if (zeros(1) > enough && zeros(0) < enough / 4) return "utf-16le";
  return zeros(0) > enough && zeros(1) < enough / 4 ? "utf-16be" : undefined;
}

export const decoded = (bytes: Uint8Array, encoding: Encoding): string => new TextDecoder(encoding).decode(bytes);

const sample = 20;

/** The one by which most of the first rows have as many cells as the header, and then the one that makes most cells. */
function detected(text: string, cr: boolean): Delimiter {
  const scored = delimiters.map((delimiter) => ({ delimiter, score: scoreOf(text, { delimiter, cr }) }));
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  return best.delimiter;
}

function scoreOf(text: string, format: Pick<Look, "delimiter" | "cr">): number {
  const rows: string[][] = parse(text, { ...ways(format), to: sample, skip_records_with_error: true });
  const width = rows[0]?.length ?? 0;
  if (width < 2) return 0;
  return rows.filter((row) => row.length === width).length / rows.length + width / 10_000;
}

/** How rows are read: as spreadsheets do, which forgive much. */
export const ways = ({ delimiter, cr }: Pick<Look, "delimiter" | "cr">) => ({
  delimiter,
  record_delimiter: cr ? ["\r"] : ["\r\n", "\n"],
  relax_column_count: true as const,
  relax_quotes: true,
  skip_empty_lines: true as const,
});

/** Whether all bytes that went by were UTF-8. A piece may end within a character. */
export function utf8Watch(): { watch(piece: Uint8Array): void; valid(atEnd: boolean): boolean } {
  let rest = Buffer.alloc(0);
  let valid = true;
  return {
    watch(piece) {
      if (!valid) return;
      const bytes = rest.length ? Buffer.concat([rest, piece]) : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const end = wholeCharacters(bytes);
      valid = isUtf8(bytes.subarray(0, end));
      rest = Buffer.from(bytes.subarray(end));
    },
    valid: (atEnd) => valid && (!atEnd || rest.length === 0),
  };
}

/** Where the last character ends that is there as a whole. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
