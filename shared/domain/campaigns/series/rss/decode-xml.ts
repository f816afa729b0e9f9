// The text of an XML document. In a file of its own, because the reader of XML is loaded only when
// a feed has come.

/** Decodes XML as its server or its first line says, else as UTF-8. */
export function decodeXml(bytes: Uint8Array, contentType = ""): string {
  const head = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const label =
    encodingOfMark(bytes) ??
    /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1] ??
    /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{1,40})/.exec(head)?.[1] ??
    "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // The encoding is not known.
    return new TextDecoder().decode(bytes);
  }
}

/** The encoding that a byte order mark names. */
function encodingOfMark([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb ? "utf-8" : undefined;
}
