// Pictures as Chromium writes them: 16 by 8 pixels, the left half red and the right half blue. JPEG
// and WebP have a colour profile.
const decode = (base64: string): Buffer => Buffer.from(base64, "base64");

export const jpeg: Buffer = decode(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/4gHYSUNDX1BST0ZJTEUAAQEAAAHIAAAAAAQwAABtbnRyUkdCIFhZWiAH4AABAA" +
    "EAAAAAAABhY3NwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAA9tYAAQAAAADTLQAAAAAAAAAAAAAAAAAAAAAA" +
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlkZXNjAAAA8AAAACRyWFlaAAABFAAAABRnWFlaAAABKA" +
    "AAABRiWFlaAAABPAAAABR3dHB0AAABUAAAABRyVFJDAAABZAAAAChnVFJDAAABZAAAAChiVFJDAAABZAAAAChjcHJ0" +
    "AAABjAAAADxtbHVjAAAAAAAAAAEAAAAMZW5VUwAAAAgAAAAcAHMAUgBHAEJYWVogAAAAAAAAb6IAADj1AAADkFhZWi" +
    "AAAAAAAABimQAAt4UAABjaWFlaIAAAAAAAACSgAAAPhAAAts9YWVogAAAAAAAA9tYAAQAAAADTLXBhcmEAAAAAAAQA" +
    "AAACZmYAAPKnAAANWQAAE9AAAApbAAAAAAAAAABtbHVjAAAAAAAAAAEAAAAMZW5VUwAAACAAAAAcAEcAbwBvAGcAbA" +
    "BlACAASQBuAGMALgAgADIAMAAxADb/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERX" +
    "RTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2" +
    "NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAIABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/" +
    "xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABkRAAIDAQAAAAAAAAAAAAAAAABDBY" +
    "HBBv/aAAwDAQACEQMRAD8Aio4FOdbWjM8u8P/Z",
);
export const webp: Buffer = decode(
  "UklGRh4CAABXRUJQVlA4WAoAAAAgAAAADwAABwAASUNDUMgBAAAAAAHIAAAAAAQwAABtbnRyUkdCIFhZWiAH4AABAA" +
    "EAAAAAAABhY3NwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAA9tYAAQAAAADTLQAAAAAAAAAAAAAAAAAAAAAA" +
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlkZXNjAAAA8AAAACRyWFlaAAABFAAAABRnWFlaAAABKA" +
    "AAABRiWFlaAAABPAAAABR3dHB0AAABUAAAABRyVFJDAAABZAAAAChnVFJDAAABZAAAAChiVFJDAAABZAAAAChjcHJ0" +
    "AAABjAAAADxtbHVjAAAAAAAAAAEAAAAMZW5VUwAAAAgAAAAcAHMAUgBHAEJYWVogAAAAAAAAb6IAADj1AAADkFhZWi" +
    "AAAAAAAABimQAAt4UAABjaWFlaIAAAAAAAACSgAAAPhAAAts9YWVogAAAAAAAA9tYAAQAAAADTLXBhcmEAAAAAAAQA" +
    "AAACZmYAAPKnAAANWQAAE9AAAApbAAAAAAAAAABtbHVjAAAAAAAAAAEAAAAMZW5VUwAAACAAAAAcAEcAbwBvAGcAbA" +
    "BlACAASQBuAGMALgAgADIAMAAxADZWUDggMAAAAHABAJ0BKhAACAACwEwloAJ0AUAAAP7wyz/+j7/+tv/9aH+tv623" +
    "/20PTf/+tBNAAA==",
);
export const png: Buffer = decode(
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAYAAADwdn+XAAAAJ0lEQVR4AeyQoQ0AAAjDmv3/c/kABALDkqkmFY1g9w" +
    "EblnsB3DcoAAAA//9LtzGOAAAABklEQVQDALr0H/FxgNKIAAAAAElFTkSuQmCC",
);

/** EXIF data of a camera: the orientation, and the place where the picture was taken. */
export function cameraExif(orientation: number, order: "II" | "MM" = "II"): Buffer {
  const tiff = Buffer.alloc(128);
  const short = (value: number, at: number) =>
    order === "II" ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    order === "II" ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at);
  const entry = (at: number, [tag, type, count]: [number, number, number]) => {
    short(tag, at);
    short(type, at + 2);
    long(count, at + 4);
  };
  tiff.write(order, 0, "latin1");
  short(42, 2);
  long(8, 4);
  short(3, 8);
  entry(10, [0x010f, 2, 8]);
  long(90, 18);
  tiff.write("ACMECAM\0", 90, "latin1");
  entry(22, [0x0112, 3, 1]);
  short(orientation, 30);
  entry(34, [0x8825, 4, 1]);
  long(60, 42);
  // The directory of the place: north.
  short(1, 60);
  entry(62, [1, 2, 2]);
  tiff.write("N\0", 70, "latin1");
  tiff.write("GPS 50.7374", 104, "latin1");
  return tiff;
}

/** Puts a segment behind the start of a JPEG. */
export const withSegment = (picture: Buffer, marker: number, body: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([picture.subarray(0, 2), head, body, picture.subarray(2)]);
};

/** A JPEG as a phone writes it: turned, with the place in EXIF, in XMP and in a comment. */
export const photo = (orientation: number, order: "II" | "MM" = "II"): Buffer => {
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), cameraExif(orientation, order)]);
  const xmp = Buffer.from("http://ns.adobe.com/xap/1.0/\0<x>GPS 50.7374</x>", "latin1");
  const comment = withSegment(jpeg, 0xfe, Buffer.from("taken at GPS 50.7374", "latin1"));
  return Buffer.concat([
    withSegment(withSegment(comment, 0xe1, xmp), 0xe1, exif),
    Buffer.from("trailer with GPS 50.7374", "latin1"),
  ]);
};
