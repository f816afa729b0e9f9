// Examples of error responses.
import { errorMeanings } from "../../../error-codes.ts";
import type { ProblemCode } from "../../../errors.ts";

const invalidEmail = "fromEmail: must be one valid email address";

export interface ErrorExample {
  error: string;
  code: ProblemCode;
  docs: string;
  requestId: string;
}

const problem = (code: ProblemCode, error: string, more: object = {}): ErrorExample => ({
  error,
  code,
  docs: `https://mail.example.com/api/v1/docs/errors#${code}`,
  requestId: "0b1f6c1e-5a0e-4c53-9d2b-7b3b1a7a4f10",
  ...more,
});

/** The common error responses, by status. */
export const errorExamples: Record<string, ErrorExample> = {
  400: problem("validation_failed", invalidEmail, {
    details: [{ path: "fromEmail", message: invalidEmail }],
  }),
  401: problem("unauthorized", "Unauthorized"),
  403: problem("scope_missing", "The API key lacks the scope sends:read"),
  404: problem("not_found", "The contact does not exist"),
  409: problem("idempotency_mismatch", "This Idempotency-Key was used for another request"),
  413: problem("payload_too_large", "The body is larger than 36 MB"),
  415: problem("unsupported_media_type", "The Content-Type must be application/json"),
  429: problem("rate_limited", "Rate limit of 100 requests per minute exceeded", {
    retryAfter: 12,
    limit: 100,
    resetAt: 1_796_115_660,
  }),
  default: problem("internal", "The service failed"),
};

const usualCodes: Record<string, ProblemCode> = {
  400: "validation_failed",
  401: "unauthorized",
  402: "payment_required",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  // Mailgun retries after 401.
  406: "unauthorized",
  410: "not_found",
  413: "payload_too_large",
  415: "unsupported_media_type",
  429: "rate_limited",
  502: "upstream",
  503: "unavailable",
};

const moreByCode: Partial<Record<ProblemCode, object>> = {
  rate_limited: { retryAfter: 540 },
  in_use: { details: [{ path: "campaigns.1", message: 'campaign 1 "Spring sale" uses it' }] },
};

/** The error response that a route describes: the first fact of the description, and its code. */
export function errorExampleOf(status: string, description: string): ErrorExample {
  const [fact = description] = description.split(endOfFact);
  const [firstCase = ""] = description.split(/[.;,] or\b/i);
  const code = codesIn(fact)[0] ?? codesIn(firstCase)[0] ?? usualCodes[status]!;
  const message = description.startsWith("`")
    ? errorMeanings[code].cause.replace(/\.$/, "")
    : fact
        .replace(/ \(`\w+`\)/g, "")
        .replace(/^The ([\w ]+?)(?:,| or) .*(does not exist.*)$/, "The $1 $2")
        .replaceAll("`", "");
  return problem(code, message, moreByCode[code]);
}

const endOfFact = /[.:;](?: |$)|, (?:or|there|because|so)\b/;

const codesIn = (text: string): ProblemCode[] =>
  [...text.matchAll(/`(\w+)`/g)].flatMap(([, name]) =>
    Object.hasOwn(errorMeanings, name!) ? [name as ProblemCode] : [],
  );
