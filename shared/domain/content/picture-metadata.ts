// Takes out of pictures what cameras and editors write about them, such as the place where they
// were taken. The picture itself is not encoded again. Its orientation and its colour profile stay,
// because it would look different without them.
import { crc32 } from "node:zlib";
import type { Picture } from "./picture-files.ts";

interface CleanPicture {
  bytes: Uint8Array;
  /** Whether it is shown turned by a quarter, so that width and height change places. */
  isSideways: boolean;
}

interface Cleaned {
  bytes: Uint8Array;
  /** How it is turned, from 1 (upright) to 8. */
  orientation: number;
}

/** The file without metadata. What cannot be read from some place on stays as it is. */
export function removeMetadata(
  file: Uint8Array,
  { extension }: Pick<Picture, "extension">,
): CleanPicture {
  const source = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const { bytes, orientation } = cleaners[extension](source);
  return { bytes, isSideways: orientation >= 5 };
}

const cleaners: Record<Picture["extension"], (bytes: Buffer) => Cleaned> = {
  jpg: cleanJpeg,
  png: cleanPng,
  webp: cleanWebp,
  // The format has no place for metadata of cameras.
  gif: (bytes) => ({ bytes, orientation: upright }),
};

const textAt = (bytes: Buffer, at: number, length: number): string =>
  bytes.toString("latin1", at, at + length);

const exifName = "Exif\0\0";
const orientationTag = 0x0112;
const upright = 1;

/** The orientation in EXIF data. */
function readOrientation(tiff: Buffer): number {
  const order = textAt(tiff, 0, 2);
  if (tiff.length < 8 || (order !== "II" && order !== "MM")) return upright;
  const isLittle = order === "II";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return upright;
  for (let i = 0; i < short(directory); i++) {
    const entry = directory + 2 + 12 * i;
    if (entry + 12 > tiff.length) return upright;
    if (short(entry) !== orientationTag) continue;
    const value = short(entry + 8);
    return value >= 1 && value <= 8 ? value : upright;
  }
  return upright;
}

/** EXIF data that says nothing but the orientation. */
function writeOrientation(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM", 0, "latin1");
  tiff.writeUInt16BE(42, 2);
  tiff.writeUInt32BE(8, 4);
  // One entry of the type SHORT. No further directory follows.
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}

const startOfScan = 0xda;
const endOfImage = 0xd9;

/** Keeps what decoders need. All other application segments and comments are metadata. */
function cleanJpeg(bytes: Buffer): Cleaned {
  const kept: Buffer[] = [bytes.subarray(0, 2)];
  let orientation = upright;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === endOfImage) {
      // Cameras append further pictures and data, which nobody sees.
      kept.push(bytes.subarray(at, at + 2));
      return { bytes: joinJpeg(kept, orientation), orientation };
    }
    const end = at + 2 + Math.max(2, bytes.readUInt16BE(at + 2));
    if (end > bytes.length) break;
    const segment = bytes.subarray(at, end);
    const body = segment.subarray(4);
    if (marker === 0xe1 && textAt(body, 0, 6) === exifName)
      orientation = readOrientation(body.subarray(6));
    if (isNeeded(marker, body)) kept.push(segment);
    at = end;
    if (marker === startOfScan) {
      const next = findNextMarker(bytes, at);
      kept.push(bytes.subarray(at, next));
      at = next;
    }
  }
  kept.push(bytes.subarray(at));
  return { bytes: joinJpeg(kept, orientation), orientation };
}

/** JFIF, the colour profile and the colours of Adobe are not about who took the picture. */
function isNeeded(marker: number, body: Buffer): boolean {
  if (marker === 0xe0) return textAt(body, 0, 5) === "JFIF\0";
  if (marker === 0xe2) return textAt(body, 0, 12) === "ICC_PROFILE\0";
  if (marker === 0xee) return textAt(body, 0, 5) === "Adobe";
  const isMetadata = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;
  return !isMetadata;
}

/** In the data of a scan, 0xff begins a marker unless a zero or a restart follows. */
function findNextMarker(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at !== -1 && at + 1 < bytes.length) {
    const next = bytes[at + 1]!;
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
    at = bytes.indexOf(0xff, at + 2);
  }
  return bytes.length;
}

/** The orientation comes first, as decoders expect it, or after JFIF. */
function joinJpeg(kept: Buffer[], orientation: number): Buffer {
  if (orientation === upright) return Buffer.concat(kept);
  const body = Buffer.concat([Buffer.from(exifName, "latin1"), writeOrientation(orientation)]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  const isJfif = kept[1]?.[1] === 0xe0;
  const first = isJfif ? 2 : 1;
  return Buffer.concat([...kept.slice(0, first), head, body, ...kept.slice(first)]);
}

const pngMetadata = new Set(["eXIf", "tEXt", "zTXt", "iTXt", "tIME"]);

function cleanPng(bytes: Buffer): Cleaned {
  const kept: Buffer[] = [bytes.subarray(0, 8)];
  let orientation = upright;
  let at = 8;
  while (at + 12 <= bytes.length) {
    const type = textAt(bytes, at + 4, 4);
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    if (type === "eXIf") {
      orientation = readOrientation(bytes.subarray(at + 8, end - 4));
      if (orientation !== upright) kept.push(writePngChunk(type, writeOrientation(orientation)));
    }
    if (!pngMetadata.has(type)) kept.push(bytes.subarray(at, end));
    at = end;
    if (type === "IEND") return { bytes: Buffer.concat(kept), orientation };
  }
  return { bytes: Buffer.concat([...kept, bytes.subarray(at)]), orientation };
}

function writePngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

const exifFlag = 0x08;
const xmpFlag = 0x04;

function cleanWebp(bytes: Buffer): Cleaned {
  const kept: Buffer[] = [];
  const riffEnd = Math.min(bytes.length, 8 + bytes.readUInt32LE(4));
  let orientation = upright;
  let at = 12;
  while (at + 8 <= riffEnd) {
    const type = textAt(bytes, at, 4);
    const size = bytes.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    if (end > riffEnd + 1) return { bytes, orientation: upright };
    const data = bytes.subarray(at + 8, at + 8 + size);
    if (type === "EXIF") {
      const hasName = textAt(data, 0, 6) === exifName;
      orientation = readOrientation(hasName ? data.subarray(6) : data);
    } else if (type !== "XMP ") kept.push(bytes.subarray(at, end));
    at = end;
  }
  return { bytes: joinWebp(kept, orientation), orientation };
}

function joinWebp(chunks: Buffer[], orientation: number): Buffer {
  const isTurned = orientation !== upright;
  const body = Buffer.concat([
    Buffer.from("WEBP", "latin1"),
    ...chunks,
    ...(isTurned ? [writeWebpChunk("EXIF", writeOrientation(orientation))] : []),
  ]);
  // The header of the extended format names the chunks that follow.
  if (textAt(body, 4, 4) === "VP8X" && body.length > 12)
    body[12] = (body[12]! & ~(exifFlag | xmpFlag)) | (isTurned ? exifFlag : 0);
  const head = Buffer.alloc(8);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function writeWebpChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 0, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data]);
}
