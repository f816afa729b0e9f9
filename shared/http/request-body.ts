// Checks the size and encoding of request bodies and parses JSON.
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { invalid, tooLarge, unsupported } from "../errors.ts";
import {
  findReservedName,
  mayContainReservedName,
  safeJsonText,
  parseJson as tryParseJson,
} from "../kernel/json.ts";
import type { ApiRequest, Route } from "./route.ts";

/** API Gateway accepts 10 MB and Lambda 6 MB. The local server accepts the limit of an account. */
export const maxBytes = { account: 36 * 1024 * 1024, anyone: 64 * 1024 };

/** Throws 413 if the body is larger. */
export function checkBodySize(rawBody: Buffer, limit: number): void {
  if (rawBody.length > limit) throw tooLarge(`The body is larger than ${sizeLabel(limit)}`);
}

const sizeLabel = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`;

/** Parses a JSON body. Returns undefined without a body, and for GET. */
export function jsonBody(
  { method, acceptsTextPlain }: Route,
  { headers, rawBody }: ApiRequest,
): unknown {
  if (method === "GET" || !rawBody.length) return undefined;
  const type = headers["content-type"] ?? "";
  // A page can send JSON to another origin without a preflight only as text/plain
  // (fetch.spec.whatwg.org, CORS-safelisted headers).
  const isTextPlain = acceptsTextPlain && /^text\/plain\b/i.test(type);
  checkEncoding(headers);
  const json = safeJsonText(rawBody);
  // Checked first, because the parser refuses __proto__ without a reason.
  if (mayContainReservedName(json)) rejectReservedNames(tryParseJson(json));
  return parseJson(json, isTextPlain ? "application/json" : type);
}

const parser = httpJsonBodyParser();

/** Throws 415 if the type is not JSON and 400 if the text is not JSON. */
function parseJson(json: string, type: string): unknown {
  const event = { headers: { "content-type": type }, body: json, isBase64Encoded: false };
  try {
    parser.before?.({ event } as never);
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 415)
      throw unsupported("The Content-Type must be application/json");
    throw invalid("The body is not valid JSON", { code: "invalid_json" });
  }
  return event.body;
}

// Other types, such as CSV files, may use any charset; their handlers decode them.
const textTypes =
  /^(?:application\/(?:[\w.+-]+\+)?json|application\/x-www-form-urlencoded|text\/plain)\b/i;

/** Throws 415 for a compressed body and for text that is not UTF-8. */
export function checkEncoding(headers: ApiRequest["headers"]): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() || "identity";
  if (encoding !== "identity")
    throw unsupported(
      `The Content-Encoding ${encoding.slice(0, 50)} is not supported: send the body as it is`,
    );
  const type = headers["content-type"] ?? "";
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  if (textTypes.test(type) && !/^utf-?8$/i.test(charset))
    throw unsupported(`The charset ${charset.slice(0, 50)} is not supported: send UTF-8`);
}

/** Throws 400 if a field at any depth has a reserved name. */
function rejectReservedNames(value: unknown): void {
  const path = findReservedName(value)?.slice(0, 200);
  if (path === undefined) return;
  const message = `${path} has a reserved name: rename the field`;
  throw invalid(message, { details: [{ path, message }] });
}
