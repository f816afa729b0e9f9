// Makes the HTTP request of an adapter and turns the response into outcomes, one per recipient. The
// adapter defines URL, headers, body, how to read a success, and what differs from these defaults:
//   2xx                       as `readOutcomes` reads it; other bodies (a web page): uncertain
//   3xx                       uncertain
//   401 402 403               not accepted: refused, config
//   408                       uncertain
//   429                       not accepted: held, pace, with Retry-After or the rate headers
//   other 4xx                 not accepted: refused; with several recipients: held, batch
//   503 with Retry-After      not accepted: held, fault
//   other 5xx                 uncertain
//   no connection             not accepted: held, fault
//   reset, timeout            uncertain
// Only responses that the provider documents as "not accepted" are retried. With an idempotency key
// (`idempotencySeconds` above 0) a request is safe to repeat: `uncertain` becomes `held` and
// `heard`. If an accepted call was the last of the rate limit, its outcome has `pauseSeconds`.
import * as client from "../adapters/http/client.ts";
import { NoResponse } from "../adapters/http/no-response.ts";
import { secondsUntil } from "../clock.ts";
import { config } from "../config.ts";
import { parseJson } from "../kernel/json.ts";
import { commonFlaw } from "./limits.ts";
import type { HandOverOutcome, Mailing, ProviderAdapter, Recipient } from "./provider-adapter.ts";

/**
 * Timeout of one request. Shorter than the timeouts of the workers and of API Gateway (30 seconds).
 */
export const timeoutSeconds = 25;
const defaultMaxBytes = 1_000_000;

/** A request to the provider's API, and how to read the response. */
interface ProviderExchange extends ResponseRules {
  /** PROVIDER_URL_<KEY> replaces its origin. */
  url: string;
  headers: Record<string, string>;
  /**
   * Objects are sent as JSON, strings and forms as they are. A string needs a content-type header.
   */
  body: string | FormData | object;
  /** Credentials, in every form in which they are sent, to be removed from error texts. */
  secrets: string[];
}

export interface ProviderResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined for invalid JSON. Read it with `safeParse` of a zod schema. */
  json: unknown;
}

/**
 * Why a provider did not accept a mail. `config`: because of the account. `pace`: rate limit or
 * quota.
 * `fault`: a provider error that is documented as "not accepted". `uncertain`: it may have been
 * accepted.
 */
export type FailureKind = "refused" | "config" | "pace" | "fault" | "uncertain";

/** How to read the responses of one provider. */
interface ResponseRules {
  /**
   * Reads the outcomes from a response of any status: one per recipient in their order, or one for
   * all. Returns undefined if the response does not report on mails; then its status decides.
   */
  readOutcomes(response: ProviderResponse): HandOverOutcome[] | HandOverOutcome | undefined;
  /** Reads the error message. Without one the body is used, unless it is HTML. */
  errorText(response: ProviderResponse): string | undefined;
  /** Overrides the usual meaning of the status. */
  failureKind?(response: ProviderResponse, errorText: string): FailureKind | undefined;
  /** Overrides the Retry-After header. */
  retryAfterSeconds?(response: ProviderResponse, errorText: string): number | undefined;
}

type CalledAdapter = Pick<
  ProviderAdapter,
  "key" | "name" | "maxAttachmentBytes" | "limits" | "idempotencySeconds" | "batch"
>;

/**
 * Makes one HTTP request. Returns provider errors as outcomes. Refuses a mailing that exceeds the
 * provider's limits without a request.
 */
export async function callProvider(
  provider: CalledAdapter,
  mailing: Mailing,
  exchange: ProviderExchange,
): Promise<HandOverOutcome[]> {
  if (mailing.recipients.length > (provider.batch?.max ?? 1))
    throw new Error(`${provider.name} accepts fewer recipients in one call`);
  const attachments = mailing.attachments.map(({ filename, contentId, content }) => ({
    filename,
    contentId,
    size: Buffer.byteLength(content, "base64"),
  }));
  const flaw = commonFlaw(provider, { ...mailing, attachments });
  if (flaw) return sameOutcomeForAll(mailing, { status: "refused", error: flaw.message });
  const { notAfter } = mailing;
  const outcome = await sendRequest(provider, { ...exchange, notAfter }).then(
    (response) => withPause(outcomeOf(response, { provider, mailing, exchange }), response),
    (error: unknown) => outcomeOfNetworkError(provider, error),
  );
  return Array.isArray(outcome) ? outcome : sameOutcomeForAll(mailing, outcome);
}

/** Makes a request that changes nothing: GET, or POST with a body. Undefined: no response. */
export async function readFromProvider(
  provider: CalledAdapter,
  request: Pick<ProviderExchange, "url" | "headers"> & { body?: object },
): Promise<ProviderResponse | undefined> {
  try {
    return await sendRequest(provider, { method: request.body ? "POST" : "GET", ...request });
  } catch (error) {
    if (error instanceof NoResponse) return undefined;
    throw error;
  }
}

type ProviderMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Makes a request that may change the account at the provider. Throws only `NoResponse`. */
export const requestProvider = (
  key: string,
  request: Pick<ProviderExchange, "url" | "headers"> & {
    method: ProviderMethod;
    body?: ProviderExchange["body"] | undefined;
    timeoutSeconds: number;
    notAfter: Date;
    maxBytes?: number | undefined;
  },
): Promise<ProviderResponse> => sendRequest({ key, idempotencySeconds: 0 }, request);

const sameOutcomeForAll = (mailing: Mailing, outcome: HandOverOutcome): HandOverOutcome[] =>
  mailing.recipients.map(() => outcome);

/** For adapters that read results per recipient. */
export const outcomeOfFailure = (
  failure: FailureKind,
  error: string,
  retryAfterSeconds?: number,
): HandOverOutcome => outcomesByFailure[failure](error, retryAfterSeconds);

/**
 * Makes an error text safe to show and store: one line of at most 300 characters, without secrets.
 */
export function sanitizeError(errorText: string, secrets: string[] = []): string {
  const line = errorText.replace(/[\p{Cc}\p{Cs}\s\u2028\u2029]+/gu, " ").trim();
  const safe = secrets
    .filter(Boolean)
    .reduce((text, secret) => text.replaceAll(secret, "***"), line);
  return [...safe].slice(0, 300).join("");
}

/** Merges the headers. A header of the recipient replaces one of the mailing, ignoring case. */
export function mergeHeaders(
  mailing: Mailing,
  recipient: Pick<Recipient, "headers">,
): Record<string, string> {
  const own = new Set(Object.keys(recipient.headers).map((name) => name.toLowerCase()));
  const common = Object.entries(mailing.headers).filter(([name]) => !own.has(name.toLowerCase()));
  return { ...Object.fromEntries(common), ...recipient.headers };
}

/** Removes parameters such as the charset, which some providers do not document. */
export const bareType = (type: string): string => type.split(";")[0]!.trim();

/** The type of a file whose type is not known. */
export const unknownType = "application/octet-stream";

const outcomesByFailure: Record<
  FailureKind,
  (error: string, retryAfterSeconds?: number) => HandOverOutcome
> = {
  refused: (error) => ({ status: "refused", error }),
  config: (error) => ({ status: "refused", error, config: true }),
  pace: (error, retryAfterSeconds) => ({ status: "held", why: "pace", error, retryAfterSeconds }),
  fault: (error, retryAfterSeconds) => ({ status: "held", why: "fault", error, retryAfterSeconds }),
  uncertain: (error) => ({ status: "uncertain", error }),
};

async function sendRequest(
  { key, idempotencySeconds }: Pick<CalledAdapter, "key" | "idempotencySeconds">,
  {
    method = "POST",
    url,
    headers,
    body,
    notAfter,
    timeoutSeconds: seconds = timeoutSeconds,
    maxBytes = defaultMaxBytes,
  }: Pick<ProviderExchange, "url" | "headers"> &
    Pick<Mailing, "notAfter"> & {
      method?: ProviderMethod;
      body?: ProviderExchange["body"] | undefined;
      timeoutSeconds?: number;
      maxBytes?: number | undefined;
    },
): Promise<ProviderResponse> {
  const isRawBody = typeof body === "string" || body instanceof FormData;
  // Without an idempotency key, a request that fails on an old connection leaves its mail
  // uncertain.
  const needsFreshConnection = idempotencySeconds === 0;
  const response = await client.request({
    method,
    url: withConfiguredOrigin(url, config.providerUrl(key)),
    headers: {
      accept: "application/json",
      ...(!isRawBody && { "content-type": "application/json" }),
      ...headers,
    },
    body: isRawBody ? body : JSON.stringify(body),
    timeoutSeconds: seconds,
    maxBytes,
    needsFreshConnection,
    notAfter,
  });
  return { ...response, json: parseJson(response.text) };
}

/** Replaces the origin of the URL, if there is a setting for the provider. */
export function withConfiguredOrigin(url: string, origin: string | undefined): string {
  const { pathname, search } = new URL(url);
  return origin ? new URL(pathname + search, origin).href : url;
}

interface Call {
  provider: CalledAdapter;
  mailing: Mailing;
  exchange: ProviderExchange;
}

function outcomeOf(response: ProviderResponse, { provider, mailing, exchange }: Call): CallOutcome {
  const outcomes = exchange.readOutcomes(response);
  if (outcomes) return outcomes;
  const errorText =
    exchange.errorText(response) ||
    unlessHtml(response.text) ||
    `${provider.name} responded with status ${response.status}`;
  const failure = exchange.failureKind?.(response, errorText) ?? failureOfStatus(response);
  const error = sanitizeError(errorText, exchange.secrets);
  if (failure === "refused" && mailing.recipients.length > 1)
    return { status: "held", why: "batch", error };
  if (failure === "uncertain") return repeatable(provider, error);
  return outcomeOfFailure(
    failure,
    error,
    exchange.retryAfterSeconds?.(response, errorText) ?? pauseSecondsOf(response),
  );
}

type CallOutcome = HandOverOutcome[] | HandOverOutcome;

/** Adds the pause to one of the outcomes, because all of them are stored. */
function withPause(outcome: CallOutcome, { headers }: ProviderResponse): CallOutcome {
  if (!isUsedUp(headers)) return outcome;
  const outcomes = [outcome].flat();
  const accepted = outcomes.find(({ status }) => status === "accepted");
  const pauseSeconds = secondsUntilReset(headers);
  if (!accepted || !pauseSeconds) return outcome;
  const paused = outcomes.map((one) => (one === accepted ? { ...accepted, pauseSeconds } : one));
  return Array.isArray(outcome) ? paused : paused[0]!;
}

// SendGrid, Brevo and Resend.
const rateHeaderPrefixes = ["x-ratelimit-", "x-sib-ratelimit-", "ratelimit-"];

const rateHeader = (headers: Headers, name: "remaining" | "reset"): number | undefined => {
  const values = rateHeaderPrefixes.flatMap((prefix) => headers.get(prefix + name) ?? []);
  const value = values.find((text) => /^\d+$/.test(text));
  return value === undefined ? undefined : Number(value);
};

const isUsedUp = (headers: Headers): boolean => rateHeader(headers, "remaining") === 0;

// A smaller number is a time in seconds, a larger one a Unix time.
const firstUnixTime = 1_000_000_000;

function secondsUntilReset(headers: Headers): number | undefined {
  const reset = rateHeader(headers, "reset");
  return reset !== undefined && reset >= firstUnixTime
    ? secondsUntil(new Date(reset * 1000))
    : reset;
}

/** The pause that a response asks for. */
export const pauseSecondsOf = ({ status, headers }: ProviderResponse): number | undefined =>
  retryAfter(headers) ?? (status === 429 ? secondsUntilReset(headers) : undefined);

const unlessHtml = (text: string): string => (/^\s*</.test(text) ? "" : text);

const failureByStatus: Record<number, FailureKind> = {
  401: "config",
  402: "config",
  403: "config",
  408: "uncertain",
  429: "pace",
};

function failureOfStatus({ status, headers }: ProviderResponse): FailureKind {
  if (status === 503 && retryAfter(headers) !== undefined) return "fault";
  return failureByStatus[status] ?? (status >= 400 && status < 500 ? "refused" : "uncertain");
}

function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : secondsUntil(new Date(value));
  return Number.isNaN(seconds) ? undefined : seconds;
}

function outcomeOfNetworkError(provider: CalledAdapter, error: unknown): HandOverOutcome {
  if (!(error instanceof NoResponse)) throw error;
  if (!error.mayHaveArrived)
    return outcomeOfFailure("fault", `No connection to ${provider.name} could be made`);
  return repeatable(provider, `The connection to ${provider.name} was lost before it responded`);
}

/**
 * The provider may have accepted the mail. With an idempotency key the request is safe to repeat.
 */
const repeatable = ({ idempotencySeconds }: CalledAdapter, error: string): HandOverOutcome =>
  idempotencySeconds > 0
    ? { status: "held", why: "fault", error, heard: true }
    : outcomeOfFailure("uncertain", error);
