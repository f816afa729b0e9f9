// What API Gateway does in the cloud: matches the most specific route and hands the request to its function as an event
// (HTTP API, payload format 2.0). Anything else goes to the $default function.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { now } from "../../shared/clock.ts";

export type Handler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

export interface Served {
  routes: { method: string; path: string; key: string }[];
  handler: Handler;
}

/** A request that has been read. */
export interface Asked {
  method: string;
  /** As sent, still percent-encoded. */
  path: string;
  query: string;
  /** Lower-case names; values of repeated headers are joined by commas. */
  headers: Record<string, string>;
  cookies: string[];
  address: string;
  body: Buffer;
}

export const maxBodyBytes = 36 * 1024 * 1024;

export type Gateway = (asked: Asked) => Promise<APIGatewayProxyStructuredResultV2>;

export function gateway(groups: Served[], fallback: Handler): Gateway {
  const table = groups
    .flatMap(({ routes, handler }) => routes.map((route) => ({ ...route, handler, matches: matcher(route.path) })))
    .sort((a, b) => bySpecificity(a.path, b.path));

  return (asked) => {
    for (const { method, key, handler, matches } of table) {
      const params = method === asked.method ? matches(asked.path) : undefined;
      if (params) return handler(eventOf(asked, key, params));
    }
    return fallback(eventOf(asked, "$default", {}));
  };
}

type Params = Record<string, string>;

function matcher(pattern: string): (path: string) => Params | undefined {
  const names = [...pattern.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
  const shape = new RegExp(`^${pattern.replace(/[.+]/g, "\\$&").replace(/{\w+}/g, "([^/]+)")}$`);
  return (path) => {
    const found = shape.exec(path);
    if (!found) return undefined;
    try {
      return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1]!)]));
    } catch {
      return undefined; // a broken percent-encoding names nothing
    }
  };
}

/** Literal segments before parameters, from the left. */
function bySpecificity(a: string, b: string): number {
  const shape = (path: string) => path.replace(/{\w+}/g, "\uffff");
  return shape(a) < shape(b) ? -1 : 1;
}

function eventOf(asked: Asked, routeKey: string, pathParameters: Params): APIGatewayProxyEventV2 {
  const { method, path, headers, cookies, body, query, address } = asked;
  const at = now();
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(cookies.length && { cookies }),
    ...(query && { queryStringParameters: queryOf(query) }),
    pathParameters,
    ...(body.length && { body: body.toString("base64") }),
    isBase64Encoded: body.length > 0,
    requestContext: {
      accountId: "000000000000",
      apiId: "local",
      domainName: headers.host ?? "localhost",
      domainPrefix: "local",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: address, userAgent: headers["user-agent"] ?? "" },
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: at.toISOString(),
      timeEpoch: at.getTime(),
    },
  };
}

function queryOf(query: string): Record<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) all.set(name, all.has(name) ? `${all.get(name)},${value}` : value);
  return Object.fromEntries(all);
}

/** Reads a request; undefined when its body is larger than `maxBodyBytes`. Throws when the client goes away. */
export async function read(request: IncomingMessage): Promise<Asked | undefined> {
  const body = await bodyOf(request);
  if (!body) return undefined;
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/, "");
  const [path = "", ...query] = target.split("?");
  const { cookie, ...headers } = request.headers;
  return {
    method: request.method ?? "GET",
    path: path || "/",
    query: query.join("?"),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(",")])),
    cookies: cookie?.split(";").map((each) => each.trim()) ?? [],
    address: (request.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    body,
  };
}

// What is too large is still taken off the line, up to a point, or the client would not come to read our answer.
const maxDiscardedBytes = 10 * maxBodyBytes;

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) kept.push(chunk);
    else kept = [];
    if (size > maxDiscardedBytes) break;
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(kept);
}

/** Sends what a function answered. */
export function reply(response: ServerResponse, result: APIGatewayProxyStructuredResultV2): void {
  const { statusCode = 200, headers = {}, cookies = [], body = "", isBase64Encoded = false } = result;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (statusCode !== 204) response.setHeader("content-length", bytes.length);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, typeof value === "boolean" ? String(value) : value);
  if (cookies.length) response.setHeader("set-cookie", cookies);
  response.writeHead(statusCode).end(bytes);
}

/** The error body that every other part of the interface answers with. */
export function refuse(statusCode: number, code: string, error: string): APIGatewayProxyStructuredResultV2 {
  const requestId = randomUUID();
  return {
    statusCode,
    headers: { "content-type": "application/json; charset=utf-8", "x-request-id": requestId },
    body: JSON.stringify({ error, code, requestId }),
  };
}
