/** Every way to fail on purpose. Anything else that is thrown is a bug: answered 500 with its message hidden, retried by queues. */
export type Kind =
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

/** One thing wrong with the input: `path` is a dotted field name such as `recipients.3.to`. */
export interface Detail {
  path: string;
  message: string;
}

interface Extras {
  /** Stable snake_case word for programs; each kind has a default. */
  code?: string;
  details?: Detail[];
  /** HTTP status instead of the kind's own, for callers with a protocol of their own (providers' webhooks). */
  status?: number;
  cause?: unknown;
  /** Further fields of the error body, such as `retryAfter`. */
  facts?: Record<string, string | number>;
}

/** `message` is one human sentence that may be shown to the caller. */
export class Problem extends Error {
  readonly kind: Kind;
  readonly code: string;
  readonly details: Detail[] | undefined;
  readonly facts: Record<string, string | number>;

  readonly status: number | undefined;

  constructor(kind: Kind, message: string, { code = defaultCodes[kind], details, facts = {}, status, cause }: Extras = {}) {
    super(message, { cause });
    this.status = status;
    this.kind = kind;
    this.code = code;
    this.details = details;
    this.facts = facts;
  }
}

const defaultCodes: Record<Kind, string> = {
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
  (kind: Kind) =>
  (message: string, extras?: Extras): Problem =>
    new Problem(kind, message, extras);

export const invalid = problem("invalid");
export const forbidden = problem("forbidden");
export const missing = problem("missing");
export const conflict = problem("conflict");
export const tooLarge = problem("tooLarge");
export const unsupported = problem("unsupported");
export const limited = problem("limited");
/** An outside service failed us; a retry may help. */
export const upstream = problem("upstream");
/** We cannot now: a setting is missing, or a part of ours is down. */
export const unavailable = problem("unavailable");
/** For `catch`: what is not there is undefined; any other error is thrown on. */
export function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Problem && error.kind === "missing")) throw error;
}
export const unauthenticated = (): Problem => new Problem("unauthenticated", "Unauthorized");

/** A size or count limit was passed: 400 `limit_exceeded`, naming the field. */
export const overLimit = (path: string, message: string): Problem =>
  invalid(message, { code: "limit_exceeded", details: [{ path, message }] });
