// Functions that the fields and operations of the action node refer to: they turn what a user
// entered into the values of the API, and responses into items.
import type { OptionKind } from "../cli/operations.ts";
import type {
  FullResponse,
  HttpOptions,
  NodeItem,
  PrepareRequest,
  ReadPages,
  ReadResponse,
} from "./n8n-types.ts";

/** Replaces the parameters in the path of an operation by the fields of the same names. */
export function fillPath(parameters: string[]): PrepareRequest {
  return async function (options) {
    const url = parameters.reduce((path, name) => {
      const value = String(this.getNodeParameter(name) ?? "");
      // A path of dots leads to another operation.
      if (!/[^.]/.test(value)) throw new Error(`${name} is missing`);
      return path.replace(`{${name}}`, () => encodeURIComponent(value));
    }, options.url);
    return { ...options, url };
  };
}

/** Converts a field of the body that was entered as text. Throws an error that names the field. */
export function parseBodyField(name: string, kind: OptionKind): PrepareRequest {
  return async (options) => {
    const body = options.body as Record<string, unknown>;
    return { ...options, body: { ...body, [name]: converters[kind](body[name], name) } };
  };
}

/** Lists of a query are separated by commas. */
export function joinQueryField(name: string): PrepareRequest {
  return async (options) => {
    const value = options.qs?.[name];
    return {
      ...options,
      qs: { ...options.qs, [name]: Array.isArray(value) ? value.join() : value },
    };
  };
}

/** Adds the fields of a JSON object to the body. `path` is that of the node's field. */
export function addJsonToBody(path: string): PrepareRequest {
  return async function (options) {
    const fields = converters.json(this.getNodeParameter(path), "json");
    if (typeof fields !== "object" || fields === null || Array.isArray(fields))
      throw new Error("json must be a JSON object");
    return { ...options, body: { ...(options.body as object | undefined), ...fields } };
  };
}

/** An expression can give the value itself instead of a text. */
const converters: Record<OptionKind, (value: unknown, name: string) => unknown> = {
  text: (value) => value,
  number: (value) => value,
  boolean: (value) => value,
  list: (value) => (typeof value === "string" ? splitList(value) : value),
  numbers: (value, name) => (typeof value === "string" ? parseNumbers(value, name) : value),
  json: (value, name) => (typeof value === "string" ? parseJson(value, name) : value),
};

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

function parseNumbers(text: string, name: string): number[] {
  const numbers = splitList(text).map(Number);
  if (!numbers.every(Number.isFinite))
    throw new Error(`${name} must be numbers with commas between`);
  return numbers;
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be JSON`);
  }
}

/** A refused request. n8n shows the message and the description. */
export class RefusedRequest extends Error {
  readonly description: string;
  readonly statusCode: number;
  /** Here n8n reads the status. */
  readonly isAxiosError = true;
  readonly response: { status: number };

  constructor({ statusCode, body }: FullResponse) {
    const { error, details = [] } = toErrorBody(body);
    super(typeof error === "string" ? error : `The service answered with ${statusCode}`);
    this.statusCode = statusCode;
    this.response = { status: statusCode };
    const others = details.map(({ message }) => message).filter((message) => message !== error);
    this.description = others.join("; ");
  }
}

interface ErrorBody {
  error?: string;
  details?: { message: string }[];
}

const toErrorBody = (body: unknown): ErrorBody =>
  typeof body === "object" && body !== null ? body : {};

/** Throws RefusedRequest if the status is not 2xx. n8n itself would not show the explanation. */
export function checkStatus(response: FullResponse): void {
  if (response.statusCode >= 300) throw new RefusedRequest(response);
}

export const refuseErrors: ReadResponse = async (items, response) => {
  checkStatus(response);
  return items;
};

/** Returns an item for each element of a list, else one item with the data of the response. */
export function toItems(itemsName?: string): ReadResponse {
  return async (_, { body }) => itemsOf(dataOf(body), itemsName);
}

const largestPage = 100;

/** Reads pages until there are as many items as the user asked for. */
export function readPages(itemsName: string): ReadPages {
  return async function (request) {
    const limit = this.getNodeParameter("returnAll", false)
      ? Infinity
      : Number(this.getNodeParameter("limit", 50));
    const items: NodeItem[] = [];
    let position: Record<string, unknown> | undefined = {};
    while (position && items.length < limit) {
      const size = Math.min(largestPage, limit - items.length);
      const options: HttpOptions = {
        ...request.options,
        qs: { ...request.options.qs, limit: size, ...position },
      };
      const [response] = await this.makeRoutingRequest({ ...request, options });
      const data = dataOf(response?.json);
      items.push(...itemsOf(data, itemsName));
      position = nextPosition(data);
    }
    return items.slice(0, limit);
  };
}

interface Data {
  pagination?: { page?: number; totalPages?: number | null; nextCursor?: string | null };
  [name: string]: unknown;
}

/** `data` of a JSON response. Undefined: the response has none. */
const dataOf = (body: unknown): Data | undefined =>
  typeof body === "object" && body !== null ? (body as { data?: Data }).data : undefined;

function itemsOf(data: Data | undefined, itemsName: string | undefined): NodeItem[] {
  const list = itemsName === undefined ? undefined : data?.[itemsName];
  const elements = Array.isArray(list) ? list : [data ?? { success: true }];
  return elements.map((json) => ({ json }));
}

/** The query of the next page. Lists of other services have numbers of pages, and no cursor. */
function nextPosition(data: Data | undefined): Record<string, unknown> | undefined {
  const { page = 1, totalPages, nextCursor } = data?.pagination ?? {};
  if (nextCursor !== undefined) return nextCursor === null ? undefined : { cursor: nextCursor };
  return page < (totalPages ?? 0) ? { page: page + 1 } : undefined;
}
