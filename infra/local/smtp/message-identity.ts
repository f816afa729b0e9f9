// Tells whether a message that came by SMTP is one that came before: by its Message-ID, and by a
// digest. A program that composes a message again gives it another date and other boundaries, so
// the digest leaves them out.
import { createHash } from "node:crypto";

/** The headers of a mail are shorter. */
export const maxHeaderBytes = 256 * 1024;

/** The header Message-ID, which is known before the message is parsed. */
export function readMessageId(bytes: Buffer): string | undefined {
  const [headers] = splitMessage(bytes);
  return /^message-id:\s*(<[^<>\s]{1,500}>)/im.exec(headers)?.[1];
}

/** Equal for messages that differ in boundaries and in headers that are not sent on. */
export function digestOfMessage(bytes: Buffer): string {
  const [headers, body] = splitMessage(bytes);
  const kept = headers.split(/\r?\n(?![ \t])/).filter((header) => !attemptHeaders.test(header));
  const text = `${kept.join("\n")}\n\n${body}`;
  return createHash("sha256").update(withoutBoundaries(text), "latin1").digest("hex");
}

const attemptHeaders = /^(date|received|dkim-signature):/i;

/** Each character is a byte. */
function splitMessage(bytes: Buffer): [headers: string, body: string] {
  const start = bytes.subarray(0, maxHeaderBytes).toString("latin1");
  const [headers = ""] = start.split(/\r?\n\r?\n/, 1);
  return [headers, bytes.subarray(headers.length).toString("latin1")];
}

const maxBoundaries = 5;

/** Programs write longer boundaries. A short one could be a part of any word. */
function withoutBoundaries(text: string): string {
  const found = text.slice(0, maxHeaderBytes).matchAll(/\bboundary="?([^"\s;]{8,70})/gi);
  const boundaries = new Set(found.map(([, boundary]) => boundary!).take(maxBoundaries));
  return [...boundaries].reduce((left, boundary) => left.replaceAll(boundary, ""), text);
}
