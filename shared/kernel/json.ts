// Reads JSON from outside.
import { invalid, limitExceeded } from "../errors.ts";

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const maxDepth = 200;
const maxValues = 500_000;

/**
 * Returns the text of a JSON body, without a byte order mark, if it is safe to parse and store.
 * Throws `limit_exceeded` if it is nested too deep or has too many values; one pass over the bytes
 * finds that before anything is parsed. Throws `invalid_json` if it is not UTF-8 or escapes a lone
 * surrogate.
 */
export function safeJsonText(body: Buffer): string {
  const { depth, values } = measureJson(body);
  if (depth > maxDepth)
    throw limitExceeded("", `The body can be nested at most ${maxDepth} levels deep`);
  if (values > maxValues) throw limitExceeded("", `The body can have at most ${maxValues} values`);
  const text = decodeUtf8(body);
  if (hasLoneSurrogate(text))
    throw invalid("The body escapes half of a character (a lone surrogate)", {
      code: "invalid_json",
    });
  return text;
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw invalid("The body is not valid UTF-8", { code: "invalid_json" });
  }
}

function hasLoneSurrogate(json: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return false;
  for (let i = json.indexOf("\\"); i >= 0; i = json.indexOf("\\", i)) {
    const kind = surrogateAt(json, i);
    if (kind === "low" || (kind === "high" && surrogateAt(json, i + 6) !== "low")) return true;
    i += kind === "high" ? 12 : 2;
  }
  return false;
}

function surrogateAt(json: string, index: number): "high" | "low" | undefined {
  if (!json.startsWith("\\u", index)) return undefined;
  const unit = Number.parseInt(json.slice(index + 2, index + 6), 16);
  if (unit >> 10 === 0xd800 >> 10) return "high";
  return unit >> 10 === 0xdc00 >> 10 ? "low" : undefined;
}

/**
 * Replaces escaped lone surrogates by U+FFFD. They occur when a text is cut within an emoji. UTF-8
 * cannot encode them, so neither the table nor a mail can hold them.
 */
export const replaceLoneSurrogates = (json: string): string =>
  /\\u[dD]/.test(json)
    ? json.replace(escapes, (found) => (found.length === loneLength ? "\\ufffd" : found))
    : json;

// Matches a surrogate pair, a lone surrogate or any other escape. The last case consumes `\\`, so
// that its second backslash does not start an escape.
const escapes =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./g;
const loneLength = "\\udfff".length;

const [quote, backslash, comma] = [...'"\\,'].map((char) => char.charCodeAt(0));
const opening = new Set([..."[{"].map((char) => char.charCodeAt(0)));
const closing = new Set([..."]}"].map((char) => char.charCodeAt(0)));

function measureJson(body: Buffer): { depth: number; values: number } {
  let [depth, maxDepth, values] = [0, 0, 1];
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === quote) i = stringEnd(body, i + 1);
    else if (byte === comma) values++;
    else if (opening.has(byte)) {
      values++;
      maxDepth = Math.max(maxDepth, ++depth);
    } else if (closing.has(byte)) depth--;
  }
  return { depth: maxDepth, values };
}

function stringEnd(body: Buffer, from: number): number {
  let i = from;
  while (i < body.length && body[i] !== quote) i += body[i] === backslash ? 2 : 1;
  return i;
}

// Properties of every JavaScript object. A field with such a name could not be distinguished from
// them.
const reservedNames = new Set(Object.getOwnPropertyNames(Object.prototype));

export const isReservedName = (name: string): boolean => reservedNames.has(name);

/**
 * A quick check that may return true without a reserved name, because letters can be escaped. It
 * never misses one.
 */
export const mayContainReservedName = (json: string): boolean =>
  reservedNamePattern.test(json) || /\\u00[4-7]/i.test(json);

const reservedNamePattern = new RegExp(`"(?:${[...reservedNames].join("|")})"\\s*:`);

/** The dotted path of the first reserved name in a parsed value. */
export function findReservedName(value: unknown, path = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, field] of Object.entries(value)) {
    const found =
      isReservedName(name) && !Array.isArray(value)
        ? path + name
        : findReservedName(field, `${path}${name}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}
