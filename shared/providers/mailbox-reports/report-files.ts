// Unpacks the file of a report (zip, gzip, or as it is). Strangers write it, so the packed size,
// the unpacked size and their ratio are bounded, and a file inside a file is never unpacked.
import { gunzipSync } from "node:zlib";
import { Unzip, UnzipInflate } from "fflate";

const maxPackedBytes = 2_000_000;
const maxUnpackedBytes = 10_000_000;
const maxRatio = 250;
const maxEntries = 100;
/** Unpacking stops after the piece that exceeds the limit. A piece unpacks to 4 MB at most. */
const pieceBytes = 4096;

/** The text of the report. Undefined if the file exceeds a limit or is damaged. */
export function unpackReport(file: Uint8Array): string | undefined {
  if (file.length > maxPackedBytes) return undefined;
  try {
    const bytes = unpack(file, Math.min(maxUnpackedBytes, file.length * maxRatio));
    return (
      bytes &&
      Buffer.from(bytes)
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .trimStart()
    );
  } catch {
    return undefined;
  }
}

function unpack(file: Uint8Array, maxLength: number): Uint8Array | undefined {
  if (file[0] === 0x1f && file[1] === 0x8b) return gunzipSync(file, { maxOutputLength: maxLength });
  if (file[0] === 0x50 && file[1] === 0x4b) return unzipFirstReport(file, maxLength);
  return file;
}

/** The first file in the archive that can be a report. */
function unzipFirstReport(file: Uint8Array, maxLength: number): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  let length = 0;
  let isFound = false;
  let isComplete = false;
  let entries = 0;
  const unzip = new Unzip((entry) => {
    if (++entries > maxEntries) throw new Error("The archive has too many files");
    if (isFound || !/\.(xml|json)$/i.test(entry.name)) return;
    isFound = true;
    entry.ondata = (error, part, isLast) => {
      if (error) throw error;
      length += part.length;
      if (length > maxLength) throw new Error("The file is too large");
      parts.push(part);
      isComplete = isLast;
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  for (let at = 0; at < file.length && !isComplete; at += pieceBytes)
    unzip.push(file.subarray(at, at + pieceBytes), at + pieceBytes >= file.length);
  return isComplete ? Buffer.concat(parts) : undefined;
}
