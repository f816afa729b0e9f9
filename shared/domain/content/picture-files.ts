// Recognizes pictures by their first bytes and reads their size. What a client says about a file
// does not count, and SVG is no picture here, because it can contain scripts.

export interface PictureFormat {
  /** Extension of the file's name. */
  extension: "png" | "jpg" | "gif" | "webp";
  type: string;
}

export interface Picture extends PictureFormat {
  /** Pixels. */
  width: number;
  height: number;
}

interface FormatReader extends PictureFormat {
  isOf(bytes: Buffer): boolean;
  /** Undefined if the header is damaged. */
  sizeOf(bytes: Buffer): [width: number, height: number] | undefined;
}

const startsWith =
  (...signature: number[]) =>
  (bytes: Buffer): boolean =>
    signature.every((byte, i) => bytes[i] === byte);
const hasText = (bytes: Buffer, text: string, at: number): boolean =>
  bytes.toString("latin1", at, at + text.length) === text;

const readers: FormatReader[] = [
  {
    extension: "png",
    type: "image/png",
    isOf: startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    sizeOf: (bytes) =>
      bytes.length >= 24 && hasText(bytes, "IHDR", 12)
        ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
        : undefined,
  },
  {
    extension: "jpg",
    type: "image/jpeg",
    isOf: startsWith(0xff, 0xd8, 0xff),
    sizeOf: jpegSize,
  },
  {
    extension: "gif",
    type: "image/gif",
    isOf: (bytes) => hasText(bytes, "GIF87a", 0) || hasText(bytes, "GIF89a", 0),
    sizeOf: (bytes) =>
      bytes.length >= 10 ? [bytes.readUInt16LE(6), bytes.readUInt16LE(8)] : undefined,
  },
  {
    extension: "webp",
    type: "image/webp",
    isOf: (bytes) => hasText(bytes, "RIFF", 0) && hasText(bytes, "WEBP", 8),
    sizeOf: webpSize,
  },
];

/** The format with this extension. */
export const formatByExtension = (extension: string): PictureFormat | undefined =>
  readers.find((reader) => reader.extension === extension);

/** Undefined for every other file. */
export const detectFormat = (file: Uint8Array): PictureFormat | undefined => {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  return readers.find(({ isOf }) => isOf(bytes));
};

/** Undefined for every other file, and for a picture without a readable size. */
export function readPicture(file: Uint8Array): Picture | undefined {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const reader = readers.find(({ isOf }) => isOf(bytes));
  const [width = 0, height = 0] = reader?.sizeOf(bytes) ?? [];
  if (!reader || width < 1 || height < 1) return undefined;
  return { extension: reader.extension, type: reader.type, width, height };
}

/** Whether the file is text with an `<svg>` element near its start. */
export const looksLikeSvg = (file: Uint8Array): boolean =>
  /<svg[\s>]/i.test(Buffer.from(file.subarray(0, 4096)).toString("latin1"));

/** The first frame header (SOF) has the size. C4, C8 and CC are other segments. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegSize(bytes: Buffer): [number, number] | undefined {
  let at = 2;
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    // Padding, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (isFrameHeader(marker)) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  if (bytes.length < 30) return undefined;
  if (hasText(bytes, "VP8X", 12)) return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
  if (hasText(bytes, "VP8L", 12)) {
    const bits = bytes.readUInt32LE(21);
    return [1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff)];
  }
  if (!hasText(bytes, "VP8 ", 12)) return undefined;
  return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
}
