// CORS (fetch.spec.whatwg.org). Routes with `cors` are open to every origin, all others to the
// setting ALLOWED_ORIGINS.
import { config } from "../config.ts";
import type { ApiReply, ApiRequest } from "./route.ts";

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
