// Parses addresses as providers do: `Ada <ada@x>`, `"Lovelace, Ada" <ada@x>`, RFC 2047 encoded
// names and lists.
import type { Mailbox } from "./types.ts";

/** Returns undefined for an invalid address. */
function parseMailbox(text: string): Mailbox | undefined {
  const [, quoted, bare, angleAddress] =
    /^\s*(?:"((?:[^"\\\r\n]|\\[^\r\n])*)"|([^<>"\r\n]*?))\s*<([^<>\s]+)>\s*$/.exec(text) ?? [];
  const email = angleAddress ?? text.trim();
  if (!isValidEmail(email)) return undefined;
  const name = decodeEncodedWords(quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "");
  return name ? { email, name } : { email };
}

/** Like `parseMailbox`, but returns an invalid address unchanged. */
export const readMailbox = (text: string): Mailbox => parseMailbox(text) ?? { email: text };

/** Parses `Ada <ada@x>, ben@x`. */
export const readMailboxes = (text = ""): Mailbox[] =>
  (text.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []).map(readMailbox);

export function isValidEmail(email: string): boolean {
  const at = email.lastIndexOf("@");
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  return (
    at > 0 &&
    local.length <= 64 &&
    email.length <= 320 &&
    !/[\s<>,;:"()[\]\\\p{Cc}]/u.test(email) &&
    !local.includes("@") &&
    isDomain(domain)
  );
}

const isDomain = (domain: string) =>
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.)+[\p{L}\p{N}-]{2,}$/u.test(domain);

/** Decodes RFC 2047 encoded words and joins adjacent ones. */
export function decodeEncodedWords(text: string): string {
  const joined = text.replace(/(=\?[^?]+\?[bq]\?[^?]*\?=)\s+(?==\?)/gi, "$1");
  const parts = joined.split(/(=\?utf-?8\?[bq]\?[^?]*\?=)/i);
  const bytes = parts.map((part) => {
    const [, encoding, content] = /^=\?utf-?8\?([bq])\?([^?]*)\?=$/i.exec(part) ?? [];
    if (!encoding) return Buffer.from(part);
    return encoding.toLowerCase() === "b"
      ? Buffer.from(content!, "base64")
      : decodeQEncoding(content!);
  });
  return Buffer.concat(bytes).toString("utf8").trim();
}

const decodeQEncoding = (text: string) =>
  Buffer.from(
    text
      .replaceAll("_", " ")
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    "latin1",
  );
