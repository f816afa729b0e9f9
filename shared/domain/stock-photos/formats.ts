/** Images that every mail program shows, by how their files begin. */
export const formats = {
  jpg: { type: "image/jpeg", begins: [0xff, 0xd8, 0xff] },
  png: { type: "image/png", begins: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  gif: { type: "image/gif", begins: [0x47, 0x49, 0x46, 0x38] },
};
export type Format = keyof typeof formats;

export const formatOf = (bytes: Uint8Array): Format | undefined =>
  (Object.keys(formats) as Format[]).find((name) => formats[name].begins.every((byte, i) => bytes[i] === byte));
