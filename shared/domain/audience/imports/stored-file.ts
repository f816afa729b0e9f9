// Reads a file from S3 in ranges, so that memory does not grow with the size of the file.
import * as objects from "../../../adapters/s3/objects.ts";
import { invalid } from "../../../errors.ts";

export interface StoredFile {
  blob: string;
  /** Bytes. */
  size: number;
  /** ETag of the first read. Later reads must find the same file. */
  tag?: string | undefined;
}

const rangeBytes = 1024 * 1024;
// The CSV parser emits every row of a block at once. Small blocks keep memory low.
const blockBytes = 64 * 1024;

/** Throws `invalid` if the file is gone or was replaced. */
export async function* readFrom(
  { blob, size, tag }: StoredFile,
  startOffset: number,
): AsyncGenerator<Uint8Array> {
  for (let offset = startOffset; offset < size; offset += rangeBytes) {
    const length = Math.min(rangeBytes, size - offset);
    const { bytes } = await readRange({ blob, size, tag }, offset, length);
    for (let start = 0; start < bytes.length; start += blockBytes)
      yield bytes.subarray(start, start + blockBytes);
  }
}

export const readHead = (
  { blob, size }: Omit<StoredFile, "tag">,
  bytes: number,
): Promise<objects.ObjectRange> => readRange({ blob, size }, 0, Math.min(bytes, size));

async function readRange(
  { blob, tag }: StoredFile,
  offset: number,
  length: number,
): Promise<objects.ObjectRange> {
  const range = await objects.getRange(blob, offset, length);
  if (!range) throw invalid("The file is no longer stored: upload it again");
  if (range.bytes.length !== length || (tag !== undefined && range.etag !== tag))
    throw invalid("The file was replaced while it was being read: start the import again");
  return range;
}
