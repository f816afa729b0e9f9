// JSON that others wrote.
import { overLimit } from "./errors.ts";

/** The value of a JSON text; undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const maxDepth = 200;
const maxValues = 500_000;

/**
 * The text of a JSON body, fit to be parsed, walked and stored: its strings hold whole characters only. Throws `limit_exceeded` for
 * one that is nested too deep or is made of too many values, found in one pass over the bytes, before anything is built of it.
 */
export function readable(body: Buffer): string {
  const { depth, values } = measured(body);
  if (depth > maxDepth) throw overLimit("", `The body may be nested at most ${maxDepth} levels deep`);
  if (values > maxValues) throw overLimit("", `The body may have at most ${maxValues} values`);
  return wholeCharacters(body.toString("utf8"));
}

/**
 * JSON text whose strings escape no half of a character (a lone surrogate, as is left where an emoji is cut in two): such a half
 * becomes U+FFFD. No UTF-8 can hold one, so neither can our table or a mail.
 */
export const wholeCharacters = (json: string): string =>
  /\\u[dD]/.test(json) ? json.replace(escapes, (found) => (found.length === loneLength ? "\\ufffd" : found)) : json;

// A pair, a half, or any other escape, which is taken whole so that the second mark of `\\` begins nothing.
const escapes = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./g;
const loneLength = "\\udfff".length;

const [quote, backslash, comma] = [...'"\\,'].map((char) => char.charCodeAt(0));
const opening = new Set([..."[{"].map((char) => char.charCodeAt(0)));
const closing = new Set([..."]}"].map((char) => char.charCodeAt(0)));

function measured(body: Buffer): { depth: number; values: number } {
  let [depth, deepest, values] = [0, 0, 1];
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === quote) i = stringEnd(body, i + 1);
    else if (byte === comma) values++;
    else if (opening.has(byte)) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (closing.has(byte)) depth--;
  }
  return { depth: deepest, values };
}

function stringEnd(body: Buffer, from: number): number {
  let i = from;
  while (i < body.length && body[i] !== quote) i += body[i] === backslash ? 2 : 1;
  return i;
}
