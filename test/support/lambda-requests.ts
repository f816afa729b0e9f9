// Requests as API Gateway (HTTP API, payload format 2.0) passes them to a Lambda function.
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as clock from "../../shared/clock.ts";
import type { RouteGroup } from "../../shared/http/dispatch.ts";
import { basePath } from "../../shared/http/route.ts";

export interface LambdaRequest {
  body?: unknown;
  /** The body as it is sent, instead of JSON. */
  raw?: Buffer;
  headers?: Record<string, string>;
  cookies?: string[];
  /** Path parameters. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** Client address. */
  address?: string;
  /** What the path begins with. Defaults to /api/v1. */
  base?: string;
}

export interface LambdaAnswer<T> {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  body: {
    data: T;
    error?: string;
    code?: string;
    details?: { path: string; message: string }[];
    retryAfter?: number;
  };
}

/** Calls the function of a route group. `signature` is that of the route: `POST /auth/login`. */
export async function invokeRoute<T>(
  group: RouteGroup,
  signature: `${string} /${string}`,
  request: LambdaRequest = {},
): Promise<LambdaAnswer<T>> {
  const {
    statusCode = 200,
    headers = {},
    cookies = [],
    body = "{}",
  } = await group.handler(
    createLambdaEvent(signature, { ...request, base: baseOf(group, signature) }),
  );
  const texts = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  const isJson = !texts["content-type"] || texts["content-type"].startsWith("application/json");
  return {
    status: statusCode,
    headers: texts,
    cookies,
    body: isJson && body !== "" ? JSON.parse(body) : { data: body },
  };
}

/** Empty for a route at the root. */
function baseOf({ routes }: RouteGroup, signature: string): string {
  const key = toRouteKey(signature);
  const isAtRoot = routes.some(({ method, path }) => `${method} ${path}` === key);
  return isAtRoot ? "" : basePath;
}

const toRouteKey = (signature: string): string => signature.replace(/:(\w+)/g, "{$1}");

export function createLambdaEvent(
  signature: string,
  { body, raw, headers = {}, cookies, params = {}, query, ...request }: LambdaRequest,
): APIGatewayProxyEventV2 {
  const { address = "192.0.2.1", base = basePath } = request;
  const [method = "", path = ""] = signature.split(" ");
  const rawPath = `${base}${path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? "")}`;
  const time = new Date();
  return {
    version: "2.0",
    routeKey: toRouteKey(`${method} ${base}${path}`),
    rawPath,
    rawQueryString: new URLSearchParams(query).toString(),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    pathParameters: params,
    isBase64Encoded: raw !== undefined,
    requestContext: {
      accountId: "local",
      apiId: "test",
      domainName: "127.0.0.1",
      domainPrefix: "test",
      http: { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: address, userAgent: "vitest" },
      requestId: randomUUID(),
      routeKey: "",
      stage: "$default",
      time: time.toISOString(),
      timeEpoch: time.getTime(),
    },
    ...(cookies && { cookies }),
    ...(query && { queryStringParameters: query }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(raw && { body: raw.toString("base64") }),
  };
}

/**
 * Moves the clock to the start of the next minute, so that a test does not cross a window of the
 * rate limiter.
 */
export const nextMinute = (): void =>
  clock.advanceClock(60 - (clock.now().getTime() % 60_000) / 1000);
