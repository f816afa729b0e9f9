// How a mailbox is written in one line, for providers that take no name and address apart (RFC 5322, RFC 2047).
import type { Mailbox } from "./provider.ts";

/** `"Ada, \"the\" L" <ada@example.net>`, the name as UTF-8; without a name the bare address. */
export const mailbox = ({ email, name }: Mailbox): string => {
  const line = oneLine(name);
  return line ? `"${line.replace(/["\\]/g, "\\$&")}" <${email}>` : email;
};

/** The same in pure ASCII, for providers that want other names as encoded words. */
export const asciiMailbox = ({ email, name }: Mailbox): string => {
  const line = oneLine(name);
  return isAscii(line) ? mailbox({ email, name: line }) : `${encodedWords(line)} <${email}>`;
};

/** RFC 2047: base64 words of at most 75 characters, none of which cuts a character in two. */
export function encodedWords(text: string): string {
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    if (Buffer.byteLength(word + character) > maxWordBytes) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  return [...words, word].map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`).join(" ");
}

/** 45 bytes are 60 characters of base64; `=?UTF-8?B?` and `?=` take 12 of the 75. */
const maxWordBytes = 45;

/** A line break in a name would begin a header of its own. */
const oneLine = (name = ""): string => name.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
