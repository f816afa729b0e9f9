// Example of an error response by status.
import type { ErrorCode } from "../../../errors.ts";

const invalidEmail = "fromEmail: must be one valid email address";

const problem = (code: ErrorCode, error: string, more: object = {}) => ({
  error,
  code,
  docs: `https://mail.example.com/api/v1/docs/errors#${code}`,
  requestId: "0b1f6c1e-5a0e-4c53-9d2b-7b3b1a7a4f10",
  ...more,
});

export const errorExamples: Record<string, object> = {
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
