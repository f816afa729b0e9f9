// Example of an error response by status.
const requestId = "0b1f6c1e-5a0e-4c53-9d2b-7b3b1a7a4f10";
const invalidEmail = "fromEmail: must be one valid email address";

export const errorExamples: Record<string, object> = {
  400: {
    error: invalidEmail,
    code: "validation_failed",
    requestId,
    details: [{ path: "fromEmail", message: invalidEmail }],
  },
  401: { error: "Unauthorized", code: "unauthorized", requestId },
  403: { error: "The API key lacks the scope sends:read", code: "scope_missing", requestId },
  404: { error: "The contact does not exist", code: "not_found", requestId },
  409: {
    error: "This Idempotency-Key was used for another request",
    code: "idempotency_mismatch",
    requestId,
  },
  413: { error: "The body is larger than 36 MB", code: "payload_too_large", requestId },
  415: {
    error: "The Content-Type must be application/json",
    code: "unsupported_media_type",
    requestId,
  },
  429: {
    error: "Rate limit of 100 requests per minute exceeded",
    code: "rate_limited",
    requestId,
    retryAfter: 12,
    limit: 100,
    resetAt: 1_796_115_660,
  },
  default: { error: "The service failed", code: "internal", requestId },
};
