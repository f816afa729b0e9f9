import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { config } from "../config.ts";
import { Problem, type ProblemCode, type ProblemKind } from "../errors.ts";
import type { ApiReply, ApiRequest } from "./route.ts";

const statusByKind: Record<ProblemKind, number> = {
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

/** Our pages load nothing from elsewhere, except for a logo, and run no scripts. */
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action " +
  "'self'; frame-ancestors 'none'; base-uri 'none'";
const pageSecurityHeaders = {
  "content-security-policy": pagePolicy,
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

interface FramablePage {
  /** Origins that the form may redirect to. */
  formTargets: readonly string[];
  /** Sources of a widget, such as a CAPTCHA, with scripts, frames and styles. */
  widgetSources: readonly string[];
}

/** The content security policy of a page that may be framed. */
export function framablePagePolicy({ formTargets, widgetSources }: FramablePage): string {
  const sources = widgetSources.join(" ");
  const policy = pagePolicy
    .replace("form-action 'self'", ["form-action 'self'", ...formTargets].join(" "))
    .replace("frame-ancestors 'none'", "frame-ancestors *");
  if (!sources) return policy;
  const styles = policy.replace("'unsafe-inline'", `'unsafe-inline' ${sources}`);
  const others = ["script-src", "frame-src", "connect-src"].map((name) => `${name} ${sources}`);
  return [styles, ...others].join("; ");
}

/** Lets the page show the logo of the site, which can be on another host. */
export function allowLogo({ headers }: ApiReply, brand: { logo: { url: string } | null } | null) {
  if (!brand?.logo) return;
  const policy = headers["content-security-policy"] ?? pagePolicy;
  const { origin } = new URL(brand.logo.url);
  headers["content-security-policy"] = policy.replace("img-src ", `img-src ${origin} `);
}

/** Makes browsers use https from now on (RFC 6797). */
const strictTransportSecurity = { "strict-transport-security": "max-age=31536000" };

export const createReply = (requestId: string): ApiReply => ({
  headers: {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...(config.usesHttps && strictTransportSecurity),
  },
  cookies: [],
  warnings: [],
  sealCursor: () => {
    throw new Error("The query of this route has no cursor");
  },
});

export function jsonResponse(
  status: number,
  value: unknown,
  { headers, cookies, warnings }: ApiReply,
): APIGatewayProxyStructuredResultV2 {
  const body = JSON.stringify({ data: value, ...(warnings.length && { warnings }) });
  return {
    statusCode: status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    ...(cookies.length && { cookies }),
    body,
  };
}

/** A response that is not JSON: text or bytes. */
export function rawResponse(
  { status, type }: { status: number; type: string },
  content: string | Uint8Array,
  { headers, cookies }: Pick<ApiReply, "headers" | "cookies">,
): APIGatewayProxyStructuredResultV2 {
  const securityHeaders = type.startsWith("text/html") ? securityHeadersFor(headers) : {};
  const body =
    typeof content === "string"
      ? { body: content }
      : { body: Buffer.from(content).toString("base64"), isBase64Encoded: true };
  return {
    statusCode: status,
    headers: { ...(content.length && { "content-type": type }), ...securityHeaders, ...headers },
    ...(cookies.length && { cookies }),
    ...body,
  };
}

/**
 * X-Frame-Options allows no exceptions, so it is left out if a page sets its own policy for frames.
 */
function securityHeadersFor(headers: Record<string, string>): Record<string, string> {
  const { "x-frame-options": _, ...rest } = pageSecurityHeaders;
  const own = headers["content-security-policy"];
  return own && !own.includes("frame-ancestors 'none'") ? rest : pageSecurityHeaders;
}

/** The response to an error. The message of anything but a Problem is hidden. */
export function errorResponse(
  error: unknown,
  requestId: string,
  { headers }: ApiReply,
): APIGatewayProxyStructuredResultV2 {
  const problem = error instanceof Problem ? error : undefined;
  const body = problem
    ? {
        error: problem.message,
        code: problem.code,
        docs: errorDocsUrl(problem.code),
        requestId,
        ...(problem.details && { details: problem.details }),
        ...problem.bodyFields,
      }
    : {
        error: "The request failed because of an internal error",
        code: "internal",
        docs: errorDocsUrl("internal"),
        requestId,
      };
  return {
    statusCode: problem ? statusOf(problem) : 500,
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...retryAfterHeader(problem),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

export const statusOf = ({ kind, status }: Problem): number => status ?? statusByKind[kind];

/** Where the page of error codes explains this one. */
export const errorDocsUrl = (code: ProblemCode): string => `${config.docsUrl}/errors#${code}`;

/** 405 for a path that exists with other methods. */
export function methodNotAllowed(
  method: string,
  supported: string[],
  { headers }: ApiReply,
): Problem {
  headers.allow = allowed(supported).join(", ");
  const message = `This path does not support ${method}, only ${supported.join(", ")}`;
  return new Problem("missing", message, { code: "method_not_allowed", status: 405 });
}

/** The methods of a path. HEAD works wherever GET does. */
export const allowed = (methods: string[]): string[] => [
  ...methods,
  ...(methods.includes("GET") ? ["HEAD"] : []),
  "OPTIONS",
];

const retryAfterHeader = (problem: Problem | undefined): Record<string, string> =>
  problem?.bodyFields.retryAfter === undefined
    ? {}
    : { "retry-after": String(problem.bodyFields.retryAfter) };

// CORS (fetch.spec.whatwg.org): routes with `cors` are open to every origin, all others to the
// setting ALLOWED_ORIGINS.

/** Response headers that a script may read, in addition to those that are always readable. */
const exposedHeaders =
  "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, " +
  "idempotent-replayed";

/** Lets pages of this origin read the response, including errors. */
export function allowOrigin(
  { origin }: ApiRequest["headers"],
  { headers }: ApiReply,
  isOpen: boolean,
): void {
  if (isOpen) headers["access-control-allow-origin"] = "*";
  else if (origin && config.allowedOrigins.includes(origin))
    Object.assign(headers, {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": exposedHeaders,
      vary: "Origin",
    });
}

/** Adds the headers of a preflight response, if `allowOrigin` allowed the origin. */
export function allowMethods({ headers }: ApiReply, methods: string[]): void {
  if (!headers["access-control-allow-origin"]) return;
  Object.assign(headers, {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": "authorization, content-type, idempotency-key",
    "access-control-max-age": "600",
  });
}
