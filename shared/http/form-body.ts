// Reads forms: multipart/form-data (RFC 7578), application/x-www-form-urlencoded, and JSON in their
// place.
import { invalid, unsupported } from "../errors.ts";
import { isObject, parseJson, safeJsonText } from "../kernel/json.ts";
import type { ApiRequest } from "./route.ts";

export interface MultipartForm {
  file: { bytes: Uint8Array; name: string } | undefined;
  fields: Record<string, string>;
}

/** Undefined if the body is not a valid form. */
export function formDataOf({
  headers,
  rawBody,
}: Pick<ApiRequest, "headers" | "rawBody">): Promise<FormData | undefined> {
  const body = new Uint8Array(rawBody.buffer as ArrayBuffer, rawBody.byteOffset, rawBody.length);
  const response = new Response(body, {
    headers: { "content-type": headers["content-type"] ?? "" },
  });
  return response.formData().catch(() => undefined);
}

/**
 * Returns the fields and the file of a form. Throws 400 if the form is not valid or has several
 * files.
 */
export async function parseMultipart(request: ApiRequest): Promise<MultipartForm> {
  const data = await formDataOf(request);
  if (!data) throw invalid("The body is not valid multipart/form-data", { code: "invalid_form" });
  const entries = [...data.entries()];
  const files = entries.flatMap(([, value]) => (typeof value === "string" ? [] : [value]));
  if (files.length > 1)
    throw invalid("The form must contain at most one file", { code: "invalid_form" });
  const [file] = files;
  return {
    file: file && { bytes: await file.bytes(), name: file.name },
    fields: Object.fromEntries(
      entries.flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as const] : [],
      ),
    ),
  };
}

const parserByType: [RegExp, (request: ApiRequest) => Promise<unknown>][] = [
  [
    /^application\/json\b/i,
    async ({ rawBody }) => (rawBody.length ? parseJson(safeJsonText(rawBody)) : {}),
  ],
  [
    /^application\/x-www-form-urlencoded\b/i,
    async (request) => textFieldsOf(request, new URLSearchParams(request.rawBody.toString("utf8"))),
  ],
  [
    /^multipart\/form-data\b/i,
    async (request) => textFieldsOf(request, (await formDataOf(request)) ?? unreadableForm()),
  ],
];

/**
 * The fields that a form or a script posts. An object `fields` is merged into the others, the last
 * of several values counts, and files are ignored.
 */
export async function parsePostedFields(request: ApiRequest): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"] ?? "";
  const [, read] = parserByType.find(([pattern]) => pattern.test(type)) ?? [];
  if (!read)
    throw unsupported(
      "The Content-Type must be application/json, application/x-www-form-urlencoded or " +
        "multipart/form-data",
    );
  const body = await read(request);
  if (body === undefined) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  if (!isObject(body)) throw invalid("The body must be an object");
  const { fields, ...rest } = body;
  return { ...rest, ...(isObject(fields) && fields) };
}

function unreadableForm(): never {
  throw invalid("The body is not a valid form");
}

/**
 * The text fields of a form. Throws 400 if one was not UTF-8: the decoder replaces invalid bytes by
 * U+FFFD.
 */
function textFieldsOf(
  { rawBody }: ApiRequest,
  form: Iterable<[string, unknown]>,
): Record<string, string> {
  const texts = [...form].filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const isReplaced = texts.flat().some((text) => text.includes("\ufffd"));
  if (isReplaced && !rawBody.includes("\ufffd") && !/%EF%BF%BD/i.test(rawBody.toString("latin1")))
    throw invalid("The body is not valid UTF-8");
  return Object.fromEntries(texts);
}
