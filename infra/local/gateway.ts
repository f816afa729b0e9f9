// Stands in for API Gateway: matches the most specific route and calls its function with the Lambda
// event (HTTP API, payload format 2.0). Other requests go to the $default function. Unlike API
// Gateway, it accepts large bodies from authenticated callers.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BlockList } from "node:net";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { now } from "../../shared/clock.ts";
import type { ProblemCode } from "../../shared/errors.ts";
import { type Credentials, cookiesOf } from "../../shared/http/authenticate.ts";
import { gatewayRoutes } from "../../shared/http/gateway-routes.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import { errorDocsUrl } from "../../shared/http/responses.ts";
import type { Route } from "../../shared/http/route.ts";
import { compareSpecificity, pathParser } from "../../shared/http/route-matching.ts";
import { clientAddress } from "./production.ts";

export type GatewayHandler = (
  event: APIGatewayProxyEventV2,
) => Promise<APIGatewayProxyStructuredResultV2>;

export interface GatewayGroup {
  name: string;
  routes: (Pick<Route, "method" | "path"> & Partial<Pick<Route, "auth" | "maxSignedBytes">>)[];
  handler: GatewayHandler;
}

/** A request before its body is read. */
export interface Head {
  method: string;
  /** As sent, still percent-encoded. */
  path: string;
  query: string;
  /** Lower-case names; values of repeated headers are joined by commas. */
  headers: Record<string, string>;
  cookies: string[];
  clientAddress: string;
}

export interface GatewayRequest extends Head {
  body: Buffer;
}

export interface Gateway {
  answer(request: GatewayRequest): Promise<APIGatewayProxyStructuredResultV2>;
  /** The largest body of this request. */
  maxBytes(head: Head): Promise<number>;
}

/** `isKnown` checks whether the credential of a request is valid. */
export function createGateway(
  groups: GatewayGroup[],
  fallback: GatewayHandler,
  isKnown: (request: Credentials, method: string) => Promise<boolean>,
): Gateway {
  const handlers = new Map(groups.map(({ name, handler }) => [name, handler]));
  const table = gatewayRoutes(groups)
    .map(({ path, group }) => ({ path, handler: handlers.get(group)!, parse: pathParser(path) }))
    .sort((a, b) => compareSpecificity(a.path, b.path));
  const endpoints = groups
    .flatMap(({ routes }) => routes.map((route) => ({ route, parse: pathParser(route.path) })))
    .sort((a, b) => compareSpecificity(a.route.path, b.route.path));
  const findRoute = (path: string) => {
    for (const { path: pattern, handler, parse } of table) {
      const params = decodeParams(parse(path));
      if (params) return { key: `ANY ${pattern}`, handler, params };
    }
    return { key: "$default", handler: fallback, params: {} };
  };
  return {
    answer: (request) => {
      const { handler, key, params } = findRoute(request.path);
      return handler(toLambdaEvent(request, key, params));
    },
    maxBytes: async ({ method, path, headers, cookies }) => {
      const route = endpoints.find(
        ({ route, parse }) => route.method === method && parse(path),
      )?.route;
      if (route?.maxSignedBytes) return route.maxSignedBytes;
      const needsAccount = route !== undefined && route.auth !== "public";
      return needsAccount && (await isKnown({ headers, cookies: cookiesOf(cookies) }, method))
        ? maxBytes.account
        : maxBytes.anyone;
    },
  };
}

type Params = Record<string, string>;

/** Undefined for a path with invalid percent-encoding. */
function decodeParams(params: Params | undefined): Params | undefined {
  if (!params) return undefined;
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return undefined;
  }
}

function toLambdaEvent(
  request: GatewayRequest,
  routeKey: string,
  pathParameters: Params,
): APIGatewayProxyEventV2 {
  const { method, path, headers, cookies, body, query, clientAddress } = request;
  const at = now();
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(cookies.length && { cookies }),
    ...(query && { queryStringParameters: parseQuery(query) }),
    pathParameters,
    ...(body.length && { body: body.toString("base64") }),
    isBase64Encoded: body.length > 0,
    requestContext: {
      accountId: "000000000000",
      apiId: "local",
      domainName: headers.host ?? "localhost",
      domainPrefix: "local",
      http: {
        method,
        path,
        protocol: "HTTP/1.1",
        sourceIp: clientAddress,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: at.toISOString(),
      timeEpoch: at.getTime(),
    },
  };
}

function parseQuery(query: string): Record<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query))
    all.set(name, all.has(name) ? `${all.get(name)},${value}` : value);
  return Object.fromEntries(all);
}

export function headOf(request: IncomingMessage, proxies: BlockList): Head {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/, "");
  const [path = "", ...query] = target.split("?");
  const { cookie, ...headers } = request.headers;
  const connected = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  return {
    method: request.method ?? "GET",
    path: path || "/",
    query: query.join("?"),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(",")]),
    ),
    cookies: cookie?.split(";").map((each) => each.trim()) ?? [],
    clientAddress: clientAddress(
      connected,
      [headers["x-forwarded-for"] ?? []].flat().join(","),
      proxies,
    ),
  };
}

// The server reads the rest of a body that is too large, up to this limit. Otherwise the client
// would not read the response.
const maxDiscardedBytes = 10 * maxBytes.account;

/**
 * Reads the body. Cuts a body that is too large to one byte more than the limit, so that the
 * function responds with 413. Calls `maxBytesOf` only when the body exceeds the limit of
 * unauthenticated requests. Throws when the client disconnects.
 */
export async function readBody(
  request: AsyncIterable<Buffer>,
  maxBytesOf: () => Promise<number>,
): Promise<Buffer> {
  let kept: Buffer[] = [];
  let size = 0;
  let max: number | undefined;
  for await (const chunk of request) {
    const room = max === undefined || size <= max;
    size += chunk.length;
    if (room) kept.push(chunk);
    if (size > maxBytes.anyone) max ??= await maxBytesOf();
    if (room && max !== undefined && size > max) kept = [Buffer.concat(kept).subarray(0, max + 1)];
    if (size > maxDiscardedBytes) break;
  }
  return Buffer.concat(kept);
}

export function writeResponse(
  response: ServerResponse,
  result: APIGatewayProxyStructuredResultV2,
): void {
  const {
    statusCode = 200,
    headers = {},
    cookies = [],
    body = "",
    isBase64Encoded = false,
  } = result;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (statusCode !== 204) response.setHeader("content-length", bytes.length);
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, typeof value === "boolean" ? String(value) : value);
  if (cookies.length) response.setHeader("set-cookie", cookies);
  response.writeHead(statusCode).end(bytes);
}

/** An error in the format of the API. */
export function errorResponse(
  statusCode: number,
  code: ProblemCode,
  error: string,
): APIGatewayProxyStructuredResultV2 {
  const requestId = randomUUID();
  return {
    statusCode,
    headers: { "content-type": "application/json; charset=utf-8", "x-request-id": requestId },
    body: JSON.stringify({ error, code, docs: errorDocsUrl(code), requestId }),
  };
}
