// Errors of the SDK. Every one is a PennymailError with a stable `code`.
import type { ErrorCode } from "./api.ts";

/** A field of the request that is wrong. `path` is its dotted name, such as `recipients.3.to`. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** What is known about a failed request. */
export interface ErrorFacts {
  code: string;
  /** HTTP status; 0 without a response. */
  status?: number;
  docs?: string | undefined;
  requestId?: string | undefined;
  details?: ErrorDetail[] | undefined;
  /** Seconds that the service asks to wait. */
  retryAfter?: number | undefined;
  ssoUrl?: string | undefined;
  cause?: unknown;
}

/** The parent of all errors of the SDK. */
export class PennymailError extends Error {
  override name = "PennymailError";
  /** Stable code, for programs. */
  readonly code: ErrorCode;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** URL of the page that explains the code: its cause, and what to do. */
  readonly docs: string | undefined;
  /** Id of the request. Give it when you report a problem. */
  readonly requestId: string | undefined;
  /** Fields of the request that are wrong. */
  readonly details: ErrorDetail[];
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  /** URL at which a browser starts the single sign-on that the organization requires. */
  readonly ssoUrl: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, { cause: facts.cause });
    this.code = facts.code as ErrorCode;
    this.status = facts.status ?? 0;
    this.docs = facts.docs;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfter = facts.retryAfter;
    this.ssoUrl = facts.ssoUrl;
  }
}

/** 400, 413 and 415: `details` names the fields that are wrong. */
export class InvalidRequestError extends PennymailError {
  override name = "InvalidRequestError";
}
/** 401: the API key is missing, wrong or revoked. */
export class AuthenticationError extends PennymailError {
  override name = "AuthenticationError";
}
/** 402: the monthly quota and the credits are used up, or the card was declined. */
export class PaymentRequiredError extends PennymailError {
  override name = "PaymentRequiredError";
}
/** 403: the API key is not allowed to do this. */
export class PermissionError extends PennymailError {
  override name = "PermissionError";
}
/** 404: the record does not exist, or belongs to another organization. */
export class NotFoundError extends PennymailError {
  override name = "NotFoundError";
}
/** 409: the request conflicts with the current state. */
export class ConflictError extends PennymailError {
  override name = "ConflictError";
}
/** 429: too many requests, also after the retries. */
export class RateLimitError extends PennymailError {
  override name = "RateLimitError";
}
/** 5xx: the service failed, also after the retries. */
export class ServerError extends PennymailError {
  override name = "ServerError";
}
/**
 * No response arrived, also after the retries: `connection_failed`. A request that changes
 * something may have worked.
 */
export class ConnectionError extends PennymailError {
  override name = "ConnectionError";
}
/** No response arrived in time: `timeout`. */
export class TimeoutError extends ConnectionError {
  override name = "TimeoutError";
}
/** A webhook request is not signed with the secret, or too old: `signature_invalid`. */
export class WebhookSignatureError extends PennymailError {
  override name = "WebhookSignatureError";
}

const classByStatus: Record<number, typeof PennymailError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  429: RateLimitError,
};

/** The error of a response with this status. */
export function toError(status: number, message: string, facts: ErrorFacts): PennymailError {
  const ErrorClass = classByStatus[status] ?? (status >= 500 ? ServerError : PennymailError);
  return new ErrorClass(message, { ...facts, status });
}
