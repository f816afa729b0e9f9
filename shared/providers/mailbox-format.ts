// Formats name and address as one text (RFC 5322, RFC 2047), for providers without separate fields.
import type { Mailbox } from "./provider-adapter.ts";

/**
 * Example: `"Ada, \"the\" L" <ada@example.net>`, with the name in UTF-8. Without a name the bare
 * address.
 */
export const formatMailbox = ({ email, name }: Mailbox): string => {
  const line = removeLineBreaks(name);
  return line ? `"${line.replace(/["\\]/g, "\\$&")}" <${email}>` : email;
};

export const formatMailboxes = (mailboxes: Mailbox[]): string =>
  mailboxes.map(formatMailbox).join(", ");

/** The same in ASCII: other names become encoded words. */
export const formatAsciiMailbox = ({ email, name }: Mailbox): string => {
  const line = removeLineBreaks(name);
  return isAscii(line) ? formatMailbox({ email, name: line }) : `${encodeWords(line)} <${email}>`;
};

/** Encodes a header value with non-ASCII characters as encoded words. */
export const encodedValue = (value: string): string =>
  isAscii(value) ? value : encodeWords(value);

/** RFC 2047: base64 words of at most 75 characters, never split within a character. */
export function encodeWords(text: string): string {
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    if (Buffer.byteLength(word + character) > maxWordBytes) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  return [...words, word]
    .map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`)
    .join(" ");
}

/** 45 bytes are 60 characters in base64; `=?UTF-8?B?` and `?=` take 12 of the 75. */
const maxWordBytes = 45;

/** A line break in a name would start a new header. */
const removeLineBreaks = (name = ""): string => name.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
