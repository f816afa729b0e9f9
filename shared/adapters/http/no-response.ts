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
    if (cause instanceof NotPublicUrl) return cause.message;
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

const connectErrorCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** True if the connection failed before any of the request was sent. */
export function failedBeforeSending(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return errors.every(
    (fault) =>
      fault instanceof Error &&
      (connectErrorCodes.has(errorCodeOf(fault)) || isHandshakeError(fault)),
  );
}

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

export const errorCodeOf = (error: unknown): string =>
  String((error as { code?: unknown } | undefined)?.code ?? "");

// These errors only occur in the handshake, before any of the request is sent. Other TLS alerts can
// also come later: with TLS 1.3, a server asks for a client certificate after it has received the
// request.
const tlsErrorCodes =
  /^(ERR_TLS_CERT|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*UNRECOGNIZED_NAME)$)/;
const tlsAlertCodes = /^ERR_SSL_.*ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE)$/;
const certificateErrorCodes =
  /^(?!ERR_)(.*CERT|CRL_|.*ISSUER|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH)/;

const isHandshakeError = (fault: Error): boolean =>
  isCertificateError(fault) ||
  [tlsErrorCodes, tlsAlertCodes].some((codes) => codes.test(errorCodeOf(fault))) ||
  closedDuringHandshake(fault);

const isCertificateError = (fault: unknown): boolean =>
  errorCodeOf(fault).startsWith("ERR_TLS_CERT") || certificateErrorCodes.test(errorCodeOf(fault));

// Node uses the code of a lost connection here, so only the message identifies this error.
const closedDuringHandshake = ({ message }: Error): boolean =>
  message.includes("before secure TLS connection was established");
