import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { config } from "../config.ts";
import { type Kind, Problem } from "../errors.ts";
import type { Extra } from "./route.ts";

const statuses: Record<Kind, number> = {
  invalid: 400,
  unauthenticated: 401,
  unpaid: 402,
  forbidden: 403,
  missing: 404,
  conflict: 409,
  tooLarge: 413,
  unsupported: 415,
  limited: 429,
  upstream: 502,
  unavailable: 503,
};

/** What a page may do: nothing but show itself. */
const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

/** Of a page that others may show in theirs, and whose form may lead on to these origins. */
export const openPolicy = (origins: string[]): string =>
  pageHeaders["content-security-policy"]
    .replace("form-action 'self'", ["form-action 'self'", ...origins].join(" "))
    .replace("frame-ancestors 'none'", "frame-ancestors *");

/** Browsers are to come by https from then on (RFC 6797). */
const transport = { "strict-transport-security": "max-age=31536000" };

export const newExtra = (requestId: string): Extra => ({
  headers: {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...(config.isSecure && transport),
  },
  cookies: [],
  warnings: [],
});

export function data(status: number, value: unknown, { headers, cookies, warnings }: Extra): APIGatewayProxyStructuredResultV2 {
  const body = JSON.stringify({ data: value, ...(warnings.length && { warnings }) });
  return {
    statusCode: status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    ...(cookies.length && { cookies }),
    body,
  };
}

/** An answer that is no JSON: text, or bytes. */
export function text(
  status: number,
  type: string,
  content: string | Uint8Array,
  { headers, cookies }: Extra,
): APIGatewayProxyStructuredResultV2 {
  const guards = type.startsWith("text/html") ? guardsOf(headers) : {};
  const body = typeof content === "string" ? { body: content } : { body: Buffer.from(content).toString("base64"), isBase64Encoded: true };
  return { statusCode: status, headers: { "content-type": type, ...guards, ...headers }, ...(cookies.length && { cookies }), ...body };
}

/** The older header knows no exceptions: it goes where a page says itself who may frame it. */
function guardsOf(headers: Record<string, string>): Record<string, string> {
  const { "x-frame-options": _, ...rest } = pageHeaders;
  return headers["content-security-policy"] ? rest : pageHeaders;
}

/** What a caller learns of an error; anything but a Problem stays hidden. */
export function refusal(error: unknown, requestId: string, { headers }: Extra): APIGatewayProxyStructuredResultV2 {
  const problem = error instanceof Problem ? error : undefined;
  const body = problem
    ? { error: problem.message, code: problem.code, requestId, ...(problem.details && { details: problem.details }), ...problem.facts }
    : { error: "Something went wrong on our side", code: "internal", requestId };
  return {
    statusCode: problem ? (problem.status ?? statuses[problem.kind]) : 500,
    headers: { "content-type": "application/json; charset=utf-8", ...retryAfter(problem), ...headers },
    body: JSON.stringify(body),
  };
}

const retryAfter = (problem: Problem | undefined): Record<string, string> =>
  problem?.facts.retryAfter === undefined ? {} : { "retry-after": String(problem.facts.retryAfter) };
