import type { errorMeanings } from "./error-codes.ts";

/**
 * Every deliberate failure. Any other error is a bug: the response is 500 without its message, and
 * queues retry the message.
 */
export type ProblemKind =
  | "invalid"
  | "unauthenticated"
  | "unpaid"
  | "forbidden"
  | "missing"
  | "conflict"
  | "tooLarge"
  | "unsupported"
  | "limited"
  | "upstream"
  | "unavailable";

/** A new code needs a row in error-codes.ts, with its cause and remedy. */
export type ProblemCode = keyof typeof errorMeanings;

/** One invalid field. `path` is its dotted name, such as `recipients.3.to`. */
export interface ProblemDetail {
  path: string;
  message: string;
}

interface ProblemOptions {
  /** Each kind has a default. */
  code?: ProblemCode;
  details?: ProblemDetail[];
  /** Replaces the HTTP status of the kind, for webhooks whose provider expects another one. */
  status?: number;
  cause?: unknown;
  /** More fields of the response body, such as `retryAfter`. */
  bodyFields?: Record<string, string | number>;
}

/** `message` is one sentence for the caller. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly code: ProblemCode;
  readonly details: ProblemDetail[] | undefined;
  readonly bodyFields: Record<string, string | number>;
  readonly status: number | undefined;

  constructor(
    kind: ProblemKind,
    message: string,
    { code = defaultCodes[kind], details, bodyFields = {}, status, cause }: ProblemOptions = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.kind = kind;
    this.code = code;
    this.details = details;
    this.bodyFields = bodyFields;
  }
}

const defaultCodes: Record<ProblemKind, ProblemCode> = {
  invalid: "validation_failed",
  unauthenticated: "unauthorized",
  unpaid: "payment_required",
  forbidden: "forbidden",
  missing: "not_found",
  conflict: "conflict",
  tooLarge: "payload_too_large",
  unsupported: "unsupported_media_type",
  limited: "rate_limited",
  upstream: "upstream",
  unavailable: "unavailable",
};

const problem =
  (kind: ProblemKind) =>
  (message: string, options?: ProblemOptions): Problem =>
    new Problem(kind, message, options);

const transientKinds = new Set<ProblemKind>(["upstream", "limited", "unavailable"]);

/**
 * A retry may succeed: after an outage, a rate limit, or concurrent writes of the same items. A
 * conflict with its own code, such as a name that is taken, is final.
 */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof Problem) ||
  transientKinds.has(error.kind) ||
  (error.kind === "conflict" && error.code === defaultCodes.conflict);

export const invalid = problem("invalid");
export const forbidden = problem("forbidden");
export const missing = problem("missing");
export const conflict = problem("conflict");
export const tooLarge = problem("tooLarge");
export const unsupported = problem("unsupported");
export const limited = problem("limited");
/** An external service failed. A retry may help. */
export const upstream = problem("upstream");
/** The service cannot do this now: a setting is missing, or one of its parts is down. */
export const unavailable = problem("unavailable");

const contendedCode: ProblemCode = "contended";
/** 503 with Retry-After: too many concurrent writes of one item, and the retries are used up. */
export const contended = (itemName: string): Problem =>
  unavailable(`${itemName} is being changed by too many requests at once: try again in a moment`, {
    code: contendedCode,
    bodyFields: { retryAfter: 1 },
  });
export const isContended = (error: unknown): boolean =>
  error instanceof Problem && error.code === contendedCode;

/** For `catch`: turns a 404 into undefined and rethrows every other error. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof Problem && error.kind === "missing")) throw error;
}
export const unauthenticated = (): Problem => new Problem("unauthenticated", "Unauthorized");

/** 400 `limit_exceeded`: a field exceeds a size or count limit. */
export const limitExceeded = (path: string, message: string): Problem =>
  invalid(message, { code: "limit_exceeded", details: [{ path, message }] });
