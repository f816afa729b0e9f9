// The one HTTP conversation that all ten adapters have with their provider: ask once, and read any answer as outcomes.
//
// An adapter says what is its own (URL, headers, body, how a good answer names the mails, what deviates from HTTP's usual
// meaning) and gets back one outcome per recipient. Beside this file: addresses.ts (how a mailbox is written),
// substitution.ts (holes in a provider's own template syntax), credentials.ts (schema fields).
//
// The usual meaning of an answer, where `verdict` names no other:
//   2xx                       what `accepted` reads; unreadable: uncertain, for the provider has taken it somehow
//   401 402 403               refused, config
//   408, 3xx                  held, fault
//   429                       held, pace, with Retry-After
//   other 4xx                 refused; of a call with several recipients: held, batch (none of them is known to be at fault)
//   500 501 503               held, fault, with Retry-After
//   other 5xx                 uncertain
//   no connection             held, fault
//   connection lost           uncertain
// A provider with idempotency keys (`idempotencySeconds` above 0) is never uncertain: asking again is safe, so it is held.
import * as clock from "../clock.ts";
import { config } from "../config.ts";
import { NoAnswer } from "../doors/no-answer.ts";
import * as web from "../doors/web.ts";
import { parsed } from "../json.ts";
import type { Mailing, Outcome, Provider, Recipient } from "./provider.ts";

/** How long one call may take. A worker that calls a provider needs more time than this, and so does API Gateway, which waits 30 seconds. */
const timeoutSeconds = 25;

/** The call as the provider's own API wants it. PROVIDER_URL_<KEY> replaces the origin of `url`. */
interface Request {
  url: string;
  headers: Record<string, string>;
  /** A string and a form go out as they are (a string with its own content-type header), all else as JSON. */
  body: string | FormData | object;
  /** Whatever of the credentials must never appear in an error, in every form in which it is sent. */
  secrets: string[];
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body parsed as JSON; undefined if it is none. Read it through a zod schema's `safeParse`. */
  json: unknown;
}

/** `config`: the account is at fault. `pace`: slow down, or wait for quota. `fault`: the provider has trouble; nothing was sent. */
export type Verdict = "refused" | "config" | "pace" | "fault" | "uncertain";

/** How one provider answers. */
interface Dialect {
  /**
   * Outcomes in the order of the recipients, or one for all, from an answer that tells of each mail. It is asked for every
   * status, since some providers tell of mails in a 4xx too; undefined: the answer tells of none, see its status.
   */
  accepted(answer: Answer): Outcome[] | Outcome | undefined;
  /** The provider's own words in an error answer; undefined: its text, unless that is a web page. */
  words(answer: Answer): string | undefined;
  /** What deviates from the usual meaning of a status; `words` is what `words` said. */
  verdict?(answer: Answer, words: string): Verdict | undefined;
  /** Where the provider says it otherwise than by Retry-After. */
  retryAfterSeconds?(answer: Answer, words: string): number | undefined;
}

type Asked = Pick<Provider, "key" | "name" | "maxAttachmentBytes" | "idempotencySeconds" | "batch">;

/** One HTTP call; never throws for what the provider does. A mailing the provider cannot carry is refused without a call. */
export async function exchange(provider: Asked, mailing: Mailing, request: Request, dialect: Dialect): Promise<Outcome[]> {
  if (mailing.recipients.length > (provider.batch?.max ?? 1)) throw new Error(`${provider.name} takes fewer recipients in one call`);
  if (attachmentBytes(mailing) > provider.maxAttachmentBytes) return everyone(mailing, { status: "refused", error: tooLarge(provider) });
  const outcome = await ask(provider, request).then(
    (answer) => outcomeOf(provider, answer, mailing, dialect, request.secrets),
    (error: unknown) => lost(provider, error),
  );
  const outcomes = Array.isArray(outcome) ? outcome : everyone(mailing, outcome);
  return provider.idempotencySeconds > 0 ? outcomes.map(askable) : outcomes;
}

/** The same outcome for every recipient. */
export const everyone = (mailing: Mailing, outcome: Outcome): Outcome[] => mailing.recipients.map(() => outcome);

/** An outcome from a verdict, for adapters that read results per recipient. */
export const judged = (verdict: Verdict, error: string, retryAfterSeconds?: number): Outcome =>
  judgements[verdict](error, retryAfterSeconds);

/** The provider's words, fit to be shown and stored: one line of at most 300 characters, without secrets. */
export function quoted(words: string, secrets: string[] = []): string {
  const line = words.replace(/[\p{Cc}\p{Cs}\s\u2028\u2029]+/gu, " ").trim();
  const safe = secrets.filter(Boolean).reduce((text, secret) => text.replaceAll(secret, "***"), line);
  return [...safe].slice(0, 300).join("");
}

/** Decoded size of all attachments together. */
const attachmentBytes = (mailing: Mailing): number =>
  mailing.attachments.reduce((sum, { content }) => sum + Buffer.byteLength(content, "base64"), 0);

/** The mailing's headers and the recipient's; where both name one, in whatever case, the recipient's holds. */
export function headersOf(mailing: Mailing, recipient: Pick<Recipient, "headers">): Record<string, string> {
  const own = new Set(Object.keys(recipient.headers).map((name) => name.toLowerCase()));
  const common = Object.entries(mailing.headers).filter(([name]) => !own.has(name.toLowerCase()));
  return { ...Object.fromEntries(common), ...recipient.headers };
}

const judgements: Record<Verdict, (error: string, retryAfterSeconds?: number) => Outcome> = {
  refused: (error) => ({ status: "refused", error }),
  config: (error) => ({ status: "refused", error, config: true }),
  pace: (error, retryAfterSeconds) => ({ status: "held", why: "pace", error, retryAfterSeconds }),
  fault: (error, retryAfterSeconds) => ({ status: "held", why: "fault", error, retryAfterSeconds }),
  uncertain: (error) => ({ status: "uncertain", error }),
};

const tooLarge = ({ name, maxAttachmentBytes }: Asked): string =>
  `${name} takes at most ${maxAttachmentBytes.toLocaleString("en-US")} bytes of attachments in one mail`;

async function ask({ key, idempotencySeconds }: Asked, { url, headers, body }: Request): Promise<Answer> {
  const plain = typeof body === "string" || body instanceof FormData;
  // A connection kept from before may have died unseen while the function was frozen: the mail would be lost on it, and for
  // want of a key nobody could ask again.
  const fresh = idempotencySeconds === 0 && { connection: "close" };
  const answer = await web.call({
    method: "POST",
    url: redirected(url, config.providerUrl(key)),
    headers: {
      accept: "application/json",
      "user-agent": "Pennymail",
      ...(!plain && { "content-type": "application/json" }),
      ...fresh,
      ...headers,
    },
    body: plain ? body : JSON.stringify(body),
    timeoutSeconds,
  });
  return { ...answer, json: parsed(answer.text) };
}

function redirected(url: string, origin: string | undefined): string {
  const { pathname, search } = new URL(url);
  return origin ? new URL(pathname + search, origin).href : url;
}

function outcomeOf({ name }: Asked, answer: Answer, mailing: Mailing, dialect: Dialect, secrets: string[]): Outcome[] | Outcome {
  const told = dialect.accepted(answer);
  if (told) return told;
  const words = dialect.words(answer) || pageless(answer.text) || `${name} answered ${answer.status}`;
  const verdict = dialect.verdict?.(answer, words) ?? usual(answer.status);
  const error = quoted(words, secrets);
  if (verdict === "refused" && mailing.recipients.length > 1) return { status: "held", why: "batch", error };
  return judged(verdict, error, dialect.retryAfterSeconds?.(answer, words) ?? retryAfter(answer.headers));
}

const pageless = (text: string): string => (/^\s*</.test(text) ? "" : text);

const statuses: Record<number, Verdict> = {
  401: "config",
  402: "config",
  403: "config",
  408: "fault",
  429: "pace",
  500: "fault",
  501: "fault",
  503: "fault",
};
const classes: Record<number, Verdict> = { 3: "fault", 4: "refused" };
const usual = (status: number): Verdict => statuses[status] ?? classes[Math.floor(status / 100)] ?? "uncertain";

function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : secondsUntil(new Date(value));
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** Whole seconds from now, not below 0; NaN for an invalid date. */
export const secondsUntil = (at: Date): number => Math.max(0, Math.ceil((at.getTime() - clock.now().getTime()) / 1000));

function lost({ name }: Asked, error: unknown): Outcome {
  if (!(error instanceof NoAnswer)) throw error;
  return error.reached
    ? judged("uncertain", `The connection to ${name} was lost before an answer came`)
    : judged("fault", `No connection to ${name} could be made`);
}

const askable = (outcome: Outcome): Outcome =>
  outcome.status === "uncertain" ? { status: "held", why: "fault", error: outcome.error, heard: true } : outcome;
