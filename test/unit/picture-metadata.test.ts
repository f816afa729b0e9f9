import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readPicture } from "../../shared/domain/content/picture-files.ts";
import { removeMetadata } from "../../shared/domain/content/picture-metadata.ts";
import { cameraExif, jpeg, photo, png, webp, withSegment } from "../support/real-pictures.ts";

const clean = (file: Buffer) => {
  const { bytes, isSideways } = removeMetadata(file, readPicture(file)!);
  return { bytes: Buffer.from(bytes), isSideways };
};
const textOf = (bytes: Buffer) => bytes.toString("latin1");
/** What says where, when or with what a picture was taken. */
const traces = /GPS|ACMECAM|xap/;
/** The data of the picture itself. */
const scanOf = (file: Buffer) => file.subarray(file.indexOf(Buffer.from([0xff, 0xda])));

describe("JPEG", () => {
  test.each(["II", "MM"] as const)("loses all metadata but its orientation (%s)", (order) => {
    const file = photo(6, order);
    expect(textOf(file)).toMatch(traces);
    const { bytes, isSideways } = clean(file);
    expect(isSideways).toBe(true);
    expect(textOf(bytes)).not.toMatch(traces);
    expect(textOf(bytes).match(/Exif/g)).toHaveLength(1);
    expect(textOf(bytes)).toContain("ICC_PROFILE");
    expect(scanOf(bytes)).toEqual(scanOf(jpeg));
    expect(readPicture(bytes)).toEqual(readPicture(jpeg));
    // What is left says the same again.
    expect(clean(bytes)).toEqual({ bytes, isSideways: true });
  });

  test("that is upright has no EXIF data afterwards", () => {
    expect(clean(photo(1))).toEqual({ bytes: jpeg, isSideways: false });
    expect(clean(photo(9))).toEqual({ bytes: jpeg, isSideways: false });
    expect(clean(photo(3)).isSideways).toBe(false);
  });

  test("without metadata stays byte by byte", () => {
    expect(clean(jpeg).bytes).toEqual(jpeg);
    const adobe = withSegment(jpeg, 0xee, Buffer.from("Adobe\0d\0\0\0\0\0\0", "latin1"));
    expect(clean(adobe).bytes).toEqual(adobe);
  });

  test("with several scans keeps all of them", () => {
    const table = Buffer.from([0xff, 0xc4, 0, 3, 1]);
    const scan = Buffer.from([0xff, 0xda, 0, 3, 1, 7, 0xff, 0, 8, 0xff, 0xd1, 9]);
    const comment = Buffer.from([0xff, 0xfe, 0, 5, 0x47, 0x50, 0x53]);
    const [start, end] = [jpeg.subarray(0, -2), jpeg.subarray(-2)];
    const file = Buffer.concat([start, comment, table, scan, table, scan, end]);
    const expected = Buffer.concat([start, table, scan, table, scan, end]);
    expect(clean(file).bytes).toEqual(expected);
  });

  test("that is cut off anywhere stays readable as far as it was", () => {
    const file = photo(8);
    for (let length = 4; length < file.length; length += 7) {
      const { bytes } = removeMetadata(file.subarray(0, length), { extension: "jpg" });
      expect(bytes.length).toBeLessThanOrEqual(length + 40);
    }
  });
});

/** A PNG with a further chunk behind its header. */
function withChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([
    Buffer.alloc(4),
    Buffer.from(type, "latin1"),
    data,
    Buffer.alloc(4),
  ]);
  chunk.writeUInt32BE(data.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
}

test("PNG loses texts, times and EXIF data, except for its orientation", () => {
  const text = withChunk("tEXt", Buffer.from("Comment\0GPS 50.7374", "latin1"));
  expect(clean(text).bytes).toEqual(png);
  expect(clean(withChunk("eXIf", cameraExif(1))).bytes).toEqual(png);
  const { bytes, isSideways } = clean(withChunk("eXIf", cameraExif(5)));
  expect([isSideways, traces.test(textOf(bytes))]).toEqual([true, false]);
  const at = bytes.indexOf("eXIf");
  const length = bytes.readUInt32BE(at - 4);
  const checksum = bytes.readUInt32BE(at + 4 + length);
  expect(checksum).toBe(crc32(bytes.subarray(at, at + 4 + length)));
  expect(clean(bytes).bytes).toEqual(bytes);
});

test("WebP loses EXIF data and XMP, and its header says so", () => {
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.from(`${type}0000`, "latin1");
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const withChunks = (...chunks: Buffer[]) => {
    const file = Buffer.concat([webp, ...chunks]);
    file.writeUInt32LE(file.length - 8, 4);
    file[20]! |= 0x0c;
    return file;
  };
  const xmp = chunk("XMP ", Buffer.from("<x>GPS 50.7374</x>", "latin1"));
  const upright = withChunks(chunk("EXIF", cameraExif(1)), xmp);
  expect(clean(upright)).toEqual({ bytes: webp, isSideways: false });
  const { bytes, isSideways } = clean(withChunks(chunk("EXIF", cameraExif(8)), xmp));
  expect([isSideways, traces.test(textOf(bytes))]).toEqual([true, false]);
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  expect(bytes[20]! & 0x0c).toBe(0x08);
  expect(readPicture(bytes)).toEqual(readPicture(webp));
  expect(clean(bytes).bytes).toEqual(bytes);
});
