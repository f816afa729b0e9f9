// Turns the call of a method into requests.
import type { CallOptions, ClientSettings } from "./client.ts";
import type { Operation } from "./operation.ts";
import { PagedList } from "./paged-list.ts";
import { type RequestBody, sendRequest } from "./send-request.ts";
import { webCrypto } from "./web-crypto.ts";

/** What the arguments of a method say. */
interface Call {
  path: string;
  body: unknown;
  query: Record<string, unknown>;
  options: CallOptions;
}

/**
 * Arguments are the path parameters, then the body, the query and the options, as far as the
 * operation has them. Returns a promise, or a PagedList.
 */
export function callOperation(
  settings: ClientSettings,
  operation: Operation,
  args: unknown[],
): unknown {
  const call = readArguments(settings, operation, args);
  if (!operation.itemsName) return request(settings, operation, call);
  return new PagedList({
    read: (position) =>
      request(settings, operation, { ...call, query: { ...call.query, ...position } }),
    next: (page) => nextPosition(operation, page as ListPage),
    itemsName: operation.itemsName,
  });
}

function readArguments({ siteId }: ClientSettings, operation: Operation, args: unknown[]): Call {
  const count = operation.parameters.length;
  const path = fillPath(operation, args);
  const rest = args.slice(count);
  const site = operation.has("s") && siteId !== undefined ? { siteId } : {};
  const body = operation.has("b") ? rest.shift() : undefined;
  const query = operation.has("q") ? { ...site, ...(rest.shift() as object | undefined) } : {};
  const options = (rest[0] ?? {}) as CallOptions;
  return { path, body: operation.has("q") ? body : withSite(site, body), query, options };
}

/** Files and forms have no fields that could be added. */
const withSite = (site: object, body: unknown): unknown =>
  isPlainObject(body) ? { ...site, ...body } : body;

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function fillPath({ name, path, parameters }: Operation, values: unknown[]): string {
  return parameters.reduce((filled, parameter, i) => {
    const value = String(values[i] ?? "");
    // A path of dots leads to another operation.
    if (!/[^.]/.test(value)) throw new TypeError(`${name}: ${parameter} is missing`);
    return filled.replace(`{${parameter}}`, () => encodeURIComponent(value));
  }, path);
}

async function request(
  settings: ClientSettings,
  operation: Operation,
  { path, body, query, options }: Call,
): Promise<unknown> {
  const headers = new Headers({ accept: "application/json", ...settings.headers });
  if (operation.has("k"))
    headers.set("idempotency-key", options.idempotencyKey ?? (await webCrypto()).randomUUID());
  const content = encodeBody(body, headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  const { name, method } = operation;
  const url = settings.apiUrl + path + toQueryString(query);
  const result = await sendRequest(
    { operation: name, method, url, headers, body: content },
    {
      timeout: options.timeout ?? settings.timeout,
      maxRetries: options.maxRetries ?? settings.maxRetries,
      isRepeatable: !operation.has("u"),
      signal: options.signal,
      hooks: settings.hooks,
      fetch: settings.fetch,
    },
  );
  return dataOf(result);
}

/** Adds the content type. `fetch` itself adds those of a form and of a Blob that has one. */
function encodeBody(body: unknown, headers: Headers): RequestBody | undefined {
  if (body === undefined) return undefined;
  if (body instanceof FormData) return body;
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Blob) {
    headers.set("content-type", (body instanceof Blob && body.type) || "text/csv");
    return body as RequestBody;
  }
  headers.set("content-type", "application/json");
  return JSON.stringify(body);
}

function toQueryString(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.set(name, String(value));
  const text = search.toString();
  return text && `?${text}`;
}

/** `data` of a JSON response. Files are returned as text. */
const dataOf = (body: unknown): unknown =>
  typeof body === "object" && body && "data" in body ? body.data : body;

interface ListPage {
  pagination?: { page: number; totalPages: number | null; nextCursor: string | null };
}

function nextPosition(operation: Operation, { pagination }: ListPage) {
  if (!pagination) return undefined;
  const { page, totalPages, nextCursor } = pagination;
  if (operation.has("c")) return nextCursor ? { cursor: nextCursor, page: undefined } : undefined;
  return page < (totalPages ?? 0) ? { page: page + 1 } : undefined;
}
