// HTTP requests without a response: whether the server may have received the request, and a reason
// that can be shown.

/**
 * A request got no response. If `mayHaveArrived` is false, the connection was never established. If
 * it is true, the server may have processed the request.
 */
export class NoResponse extends Error {
  readonly mayHaveArrived: boolean;
  constructor(mayHaveArrived: boolean, cause: unknown) {
    super(
      mayHaveArrived
        ? "The connection was lost before the response arrived"
        : "The connection could not be established",
      { cause },
    );
    this.mayHaveArrived = mayHaveArrived;
  }

  /** One sentence for the operator of the server. */
  get reason(): string {
    const { cause } = this;
    if (cause instanceof NotPublicUrl || cause instanceof LargeResponse) return cause.message;
    if (this.timedOut) return "The server did not respond in time";
    if (isCertificateError(cause))
      return `The TLS certificate was not accepted (${errorCodeOf(cause)})`;
    const code = errorCodeOf(cause);
    return code ? `${this.message} (${code})` : this.message;
  }

  get timedOut(): boolean {
    return this.cause instanceof Error && this.cause.name === "TimeoutError";
  }
}

/** A URL of a customer leads to a host that is not public. */
export class NotPublicUrl extends Error {}

/** A server sends more than the caller accepts. */
export class LargeResponse extends Error {}

const connectErrorCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

const lostConnectionCodes = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"]);
const throttlingNames = /Throttl|ThroughputExceeded|RequestLimitExceeded|SlowDown/;

/**
 * True if an AWS service did not respond, failed or throttled the call, so that a retry may
 * succeed.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || !("$metadata" in error)) return false;
  const { $fault, name } = error as Error & { $fault?: unknown };
  const code = errorCodeOf(error);
  return (
    $fault === "server" ||
    name === "TimeoutError" ||
    throttlingNames.test(name) ||
    connectErrorCodes.has(code) ||
    lostConnectionCodes.has(code)
  );
}

/** Whether an outage is the error or one of its causes. */
export const isCausedByOutage = (error: unknown): boolean =>
  isOutage(error) || (error instanceof Error && isCausedByOutage(error.cause));

export const errorCodeOf = (error: unknown): string =>
  String((error as { code?: unknown } | undefined)?.code ?? "");

const certificateErrorCodes =
  /^(?!ERR_)(.*CERT|CRL_|.*ISSUER|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH)/;

const isCertificateError = (fault: unknown): boolean =>
  errorCodeOf(fault).startsWith("ERR_TLS_CERT") || certificateErrorCodes.test(errorCodeOf(fault));
