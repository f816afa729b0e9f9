// Formats that people take for CSV. The parser would read them as text.
import { invalid } from "../../../errors.ts";

/** Throws `invalid` with words that name the format, if the file is certainly no text. */
export function refuseOtherFormats(head: Uint8Array): void {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const found = otherFormats.find(
    ({ start, has = /(?:)/ }) => bytes.startsWith(start) && has.test(bytes),
  );
  if (found) throw invalid(`The file is ${found.name}, not CSV: ${found.advice}`);
}

const saveAsCsv = "open it in your spreadsheet program and save the sheet as CSV (UTF-8)";
const zipStart = "PK\x03\x04";
const otherFormats: { name: string; start: string; has?: RegExp; advice: string }[] = [
  {
    name: "an Excel workbook (.xlsx)",
    start: zipStart,
    has: /\[Content_Types\]\.xml|xl\//,
    advice: saveAsCsv,
  },
  {
    name: "an OpenDocument spreadsheet (.ods)",
    start: zipStart,
    has: /opendocument/,
    advice: saveAsCsv,
  },
  {
    name: "a Numbers spreadsheet",
    start: zipStart,
    has: /Index\/.*\.iwa/s,
    advice: "open it in Numbers and export it as CSV",
  },
  {
    name: "a ZIP archive",
    start: zipStart,
    advice: "unpack it and import the CSV files in it one by one",
  },
  { name: "an Excel workbook (.xls)", start: "\xd0\xcf\x11\xe0", advice: saveAsCsv },
  { name: "a gzip archive", start: "\x1f\x8b", advice: "unpack it and import the file in it" },
  { name: "a PDF document", start: "%PDF-", advice: "export the contacts as CSV instead" },
];
