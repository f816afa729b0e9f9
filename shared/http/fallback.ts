import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { config } from "../config.ts";
import { missing, Problem } from "../errors.ts";
import type { openapi } from "./openapi.ts";
import { newExtra, refusal } from "./reply.ts";
import type { HttpHandler } from "./serve.ts";

type Paths = ReturnType<typeof openapi>["paths"];

/** Where people look who were told no more than the address of the service. */
const wayIn = new Set(["/api/v1", "/api/v1/", "/docs"]);
const reference = "/api/v1/docs";

/** Answers what no route matches, from the document of all routes: preflights, HEAD, 404, 405, and the way to the reference. */
export const fallback =
  (document: () => Promise<{ paths: Paths }>): HttpHandler =>
  async (event) => {
    const { paths } = await document();
    const operations = operationsAt(paths, event.rawPath);
    const extra = newExtra(event.requestContext?.requestId || randomUUID());
    const { method } = event.requestContext.http;
    const possible = Object.keys(operations).map((name) => name.toUpperCase());
    const allowed = [...possible, "OPTIONS"];
    const silent = method === "HEAD" && { body: "" };
    if (/^(GET|HEAD)$/.test(method) && wayIn.has(event.rawPath))
      return { statusCode: 302, headers: { ...extra.headers, location: reference }, body: "" };
    // A path whose method exists comes here when it cannot be decoded: it names nothing.
    if (allowed.length === 1 || operations[method.toLowerCase()])
      return { ...refusal(missing("There is no such endpoint"), extra.headers["x-request-id"]!, extra), ...silent };
    extra.headers.allow = allowed.join(", ");
    if (method === "HEAD" && Object.values(operations).some((operation) => operation["x-probed"]))
      return { statusCode: 200, headers: extra.headers };
    if (method === "OPTIONS") return { statusCode: 204, headers: { ...extra.headers, ...preflight(event, allowed, operations) } };
    const refused = refusal(
      new Problem("missing", `${method} is not possible here, only ${possible.join(", ")}`, { code: "method_not_allowed" }),
      extra.headers["x-request-id"]!,
      extra,
    );
    return { ...refused, statusCode: 405, ...silent };
  };

// The most specific path wins, as at API Gateway: more literal segments first.
function operationsAt(paths: Paths, path: string): Paths[string] {
  const matching = Object.keys(paths).filter((pattern) => matcher(pattern).test(path));
  const [best] = matching.sort((a, b) => a.split("{").length - b.split("{").length);
  return best === undefined ? {} : paths[best]!;
}

const matcher = (pattern: string): RegExp => new RegExp(`^${pattern.replace(/[.+]/g, "\\$&").replace(/{\w+}/g, "[^/]+")}$`);

/** CORS, as fetch.spec.whatwg.org has it: open where a route is, else only for the origins we were told of. */
function preflight({ headers }: APIGatewayProxyEventV2, allowed: string[], operations: Paths[string]): Record<string, string> {
  const origin = headers.origin ?? "";
  const open = Object.values(operations).some((operation) => operation["x-cors"]);
  if (!open && !config.allowedOrigins.includes(origin)) return {};
  return {
    "access-control-allow-origin": open ? "*" : origin,
    ...(!open && { "access-control-allow-credentials": "true", vary: "Origin" }),
    "access-control-allow-methods": allowed.join(", "),
    "access-control-allow-headers": "authorization, content-type, idempotency-key",
    "access-control-max-age": "600",
  };
}
