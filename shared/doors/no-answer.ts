// Calls over HTTP that brought no answer: whether anything can have come of them, and why, in words that may be shown.

/**
 * The call brought no answer. `reached` false: the connection was never made, so nothing can have happened;
 * true: the request may have been carried out before the answer was lost.
 */
export class NoAnswer extends Error {
  readonly reached: boolean;
  constructor(reached: boolean, cause: unknown) {
    super(reached ? "The connection was lost before an answer came" : "No connection could be made", { cause });
    this.reached = reached;
  }

  /** In one sentence that may be shown to whoever runs the other end. */
  get reason(): string {
    const { cause } = this;
    if (cause instanceof NotPublic) return cause.message;
    if (this.timedOut) return "No answer came in time";
    if (badCertificate(cause)) return `The TLS certificate was not accepted (${codeOf(cause)})`;
    const code = codeOf(cause);
    return code ? `${this.message} (${code})` : this.message;
  }

  get timedOut(): boolean {
    return this.cause instanceof Error && this.cause.name === "TimeoutError";
  }
}

/** A URL leads where customers' URLs must not. */
export class NotPublic extends Error {}

const connectFaults = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Nothing of the request was sent. */
export function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const faults: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return faults.every((fault) => fault instanceof Error && (connectFaults.has(codeOf(fault)) || failedHandshake(fault)));
}

export const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? "");

// The certificate is looked at, and a common version and cipher found, before anything of the request is sent. Other TLS alerts may
// also come later: TLS 1.3 tells after the first request that it wants a certificate of the client's.
const handshakeFaults =
  /^(ERR_TLS_CERT|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE)|.*UNRECOGNIZED_NAME)$)/;
const certificateFaults = /^(?!ERR_)(.*CERT|CRL_|.*ISSUER|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH)/;

const failedHandshake = (fault: Error): boolean => badCertificate(fault) || handshakeFaults.test(codeOf(fault)) || cutShort(fault);

const badCertificate = (fault: unknown): boolean => codeOf(fault).startsWith("ERR_TLS_CERT") || certificateFaults.test(codeOf(fault));

// Node gives it the code of a lost connection, and only the message tells.
const cutShort = ({ message }: Error): boolean => message.includes("before secure TLS connection was established");
