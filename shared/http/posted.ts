// What a page or its script posts: JSON, or either way in which browsers encode forms.
import { invalid, tooLarge, unsupported } from "../errors.ts";
import { readable } from "../json.ts";
import type { Request } from "./route.ts";

const maxBytes = 100 * 1024;
const readers: [RegExp, (request: Request) => Promise<unknown>][] = [
  [/^application\/json\b/i, async ({ rawBody }) => (rawBody.length ? JSON.parse(readable(rawBody)) : {})],
  [/^application\/x-www-form-urlencoded\b/i, async ({ rawBody }) => Object.fromEntries(new URLSearchParams(rawBody.toString("utf8")))],
  [/^multipart\/form-data\b/i, multipart],
];

/** By name; what stands in `fields` is taken as if it stood beside it. Of a name that comes twice the last counts; files are left out. */
export async function posted(request: Request): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"] ?? "";
  const [, read] = readers.find(([pattern]) => pattern.test(type)) ?? [];
  if (!read) throw unsupported("The Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data");
  if (request.rawBody.length > maxBytes) throw tooLarge("The body is larger than 100 KB");
  const given = await read(request).catch(unreadable);
  if (!isObject(given)) throw invalid("The body must be an object");
  const { fields, ...rest } = given;
  return { ...rest, ...(isObject(fields) && fields) };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function unreadable(error: unknown): never {
  if (error instanceof SyntaxError) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  if (error instanceof TypeError) throw invalid("The body is not a form that can be read");
  throw error;
}

async function multipart({ rawBody, headers }: Request): Promise<unknown> {
  const form = await new Response(new Uint8Array(rawBody), { headers: { "content-type": headers["content-type"]! } }).formData();
  return Object.fromEntries([...form].filter(([, value]) => typeof value === "string"));
}
