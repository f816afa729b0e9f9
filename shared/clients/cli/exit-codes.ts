// How commands end.
import { ConnectionError, PennymailError } from "../sdk/errors.ts";

/** Exit codes, as --help lists them. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  network: 3,
  notLoggedIn: 4,
} as const;

export const exitCodeMeanings: [number, string][] = [
  [exitCodes.done, "done"],
  [exitCodes.refused, "the service refused the request or failed"],
  [exitCodes.usage, "the command is wrong: nothing was sent"],
  [exitCodes.network, "the service could not be reached, or did not respond in time"],
  [exitCodes.notLoggedIn, "no API key, or the key is not valid"],
];

/** A command that cannot be run. The message says what to do. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConnectionError) return exitCodes.network;
  if (error instanceof PennymailError && error.status === 401) return exitCodes.notLoggedIn;
  return exitCodes.refused;
}

/** What to do about an error, by its code. */
const hints: Record<string, string> = {
  unauthorized: "The API key is missing or revoked: run `pennymail login`.",
  scope_missing: "Use an API key with this scope: run `pennymail login`.",
  site_forbidden: "The API key is bound to another site: run `pennymail login` with another key.",
  session_required: "API keys may not do this. Log in to the service in a browser.",
  rate_limited: "Wait, then run the command again.",
  connection_failed: "Check that the service runs, and its URL: `pennymail login --url URL`.",
  timeout: "Run the command again. A request with --idempotency-key is not done twice.",
  unexpected_response: "Check the URL of the service: `pennymail login --url URL`.",
};

/** Lines for people: the message, the wrong fields, and what to do. */
export function explainError(error: unknown): string {
  if (!(error instanceof PennymailError)) {
    if (error instanceof CommandError) return error.message;
    return error instanceof TypeError ? error.message : String((error as Error).stack ?? error);
  }
  const { message, details, code, docs, requestId } = error;
  const shown = details.filter((detail) => !message.includes(detail.message));
  return [
    message,
    ...shown.map((detail) => `  ${detail.path}: ${detail.message}`),
    ...(hints[code] ? [hints[code]] : []),
    ...(docs ? [`See ${docs}`] : []),
    `(${[code, requestId].filter(Boolean).join(", request ")})`,
  ].join("\n");
}

/** The same as JSON. */
export function errorToJson(error: unknown): object {
  if (!(error instanceof PennymailError)) return { error: explainError(error), code: "usage" };
  const { message, code, status, docs, requestId, details } = error;
  return { error: message, code, status, docs, requestId, details };
}
