// Sends one request, and repeats it where that is safe.
import {
  ConnectionError,
  type ErrorDetail,
  type PennymailError,
  TimeoutError,
  toError,
} from "./errors.ts";
import { webCrypto } from "./web-crypto.ts";

export type RequestBody = string | Uint8Array<ArrayBuffer> | Blob | FormData;

/** One attempt of a request. The `request` hook may change the headers. */
export interface OutgoingRequest {
  /** Name of the method that was called: `contacts.create`. */
  operation: string;
  method: string;
  url: string;
  headers: Headers;
  body: RequestBody | undefined;
  /** 1 for the first attempt. */
  attempt: number;
}

/** A response as the `response` hook gets it: each one, also if the request is then repeated. */
export interface IncomingResponse {
  request: OutgoingRequest;
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** Parsed JSON, or text. */
  body: unknown;
  durationMs: number;
}

export interface Hooks {
  /** Runs before each attempt. */
  request?(request: OutgoingRequest): void | Promise<void>;
  /** Runs after each response. */
  response?(response: IncomingResponse): void | Promise<void>;
}

export interface SendSettings {
  /** Milliseconds for one attempt. */
  timeout: number;
  maxRetries: number;
  isRepeatable: boolean;
  signal: AbortSignal | undefined;
  hooks: Hooks;
  fetch: typeof globalThis.fetch;
}

/** The longest wait that `Retry-After` may ask for. A longer one is an error at once. */
const maxRetryAfterSeconds = 90;
const maxBackoffSeconds = 16;

/**
 * Returns the body of a 2xx response: parsed JSON, or text. Repeats the request after 429, and if
 * it is repeatable also after 5xx, a broken connection and a timeout. Throws PennymailError, or
 * the reason of `signal`.
 */
export async function sendRequest(
  request: Omit<OutgoingRequest, "attempt">,
  settings: SendSettings,
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const { body, error } = await attemptRequest({ ...request, attempt }, settings);
    if (!error) return body;
    const isLast = attempt > settings.maxRetries || !isTransient(error, settings.isRepeatable);
    if (isLast || (error.retryAfter ?? 0) > maxRetryAfterSeconds) throw error;
    await wait(await millisecondsBefore(attempt, error.retryAfter), settings.signal);
  }
}

/** 503 that lasts until somebody changes a setting of the service. */
const notConfigured = "not_configured";

function isTransient({ status, code }: PennymailError, isRepeatable: boolean): boolean {
  // With 429, the service refused the call before it changed anything. With the code, the first
  // attempt is still running, and a later call gets its response.
  if (status === 429 || code === "idempotency_in_progress") return true;
  return isRepeatable && (status === 0 || status >= 500) && code !== notConfigured;
}

/**
 * What the service asks for, else half a second and twice as long after each attempt. A random part
 * keeps clients apart.
 */
async function millisecondsBefore(
  attempt: number,
  retryAfter: number | undefined,
): Promise<number> {
  const [value = 0] = (await webCrypto()).getRandomValues(new Uint32Array(1));
  const random = value / 2 ** 32;
  if (retryAfter !== undefined) return (retryAfter + random / 2) * 1000;
  return Math.min(maxBackoffSeconds, 2 ** (attempt - 2)) * (0.5 + random / 2) * 1000;
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

interface Attempt {
  body?: unknown;
  error?: PennymailError;
}

async function attemptRequest(request: OutgoingRequest, settings: SendSettings): Promise<Attempt> {
  await settings.hooks.request?.(request);
  const started = performance.now();
  const reading = await readResponse(request, settings);
  if (!reading.response) return reading;
  const { status, ok, headers } = reading.response;
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  const body = isJson ? parseJson(reading.text) : reading.text;
  const requestId = headers.get("x-request-id") ?? undefined;
  const durationMs = Math.round(performance.now() - started);
  await settings.hooks.response?.({ request, status, headers, requestId, body, durationMs });
  if (!ok) return { error: responseError(reading.response, body, requestId) };
  return body === undefined ? { error: connectionError("The response is not complete") } : { body };
}

/** Throws only if the caller's signal is aborted. */
async function readResponse(
  { method, url, headers, body }: OutgoingRequest,
  { timeout, signal, fetch }: SendSettings,
): Promise<{ response: Response; text: string } | { response?: never; error: PennymailError }> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal?.addEventListener("abort", abort);
  const timer = setTimeout(abort, timeout);
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      // A redirect that is followed turns POST into GET.
      redirect: "manual",
      signal: controller.signal,
    });
    return { response, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const { origin } = new URL(url);
    return {
      error: controller.signal.aborted
        ? new TimeoutError(`${origin} did not respond within ${timeout} ms`, {
            code: "timeout",
            cause,
          })
        : connectionError(`The connection to ${origin} failed${describeCause(cause)}`, cause),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Node gives the reason, such as ECONNREFUSED, as the cause of a general error. */
function describeCause(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown };
  return typeof code === "string" ? `: ${code}` : "";
}

const connectionError = (message: string, cause?: unknown) =>
  new ConnectionError(message, { code: "connection_failed", cause });

/** Undefined if the text is not JSON, because the connection broke or a proxy made it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Body of an error response of the service. Responses of proxies have none of the fields. */
interface ErrorBody {
  error?: string;
  code?: string;
  docs?: string;
  details?: ErrorDetail[];
  ssoUrl?: string;
}

function responseError(
  { status, headers }: Response,
  body: unknown,
  requestId: string | undefined,
): PennymailError {
  const { error, code, docs, details, ssoUrl } = (
    typeof body === "object" && body ? body : {}
  ) as ErrorBody;
  const location = headers.get("location");
  const message = location
    ? `The service redirects to ${location}: use that as baseUrl`
    : `The service responded with status ${status}`;
  const seconds = Number.parseFloat(headers.get("retry-after") ?? "");
  const retryAfter = Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
  return toError(status, error ?? message, {
    code: code ?? "unexpected_response",
    docs,
    requestId,
    details,
    retryAfter,
    ssoUrl,
  });
}
