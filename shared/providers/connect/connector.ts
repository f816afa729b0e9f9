// The contract of the connectors: each sets up one provider for a sending config, by its API. A
// connector lists before it creates, so that it can run again after a crash at any line.
import type * as z from "zod";
import { NoResponse } from "../../adapters/http/no-response.ts";
import { addSeconds, sleep } from "../../clock.ts";
import { errorTextOf, secretsOf } from "../check-credentials.ts";
import type { ProviderAdapter } from "../provider-adapter.ts";
import {
  type ProviderResponse,
  pauseSecondsOf,
  requestProvider,
  sanitizeError,
} from "../provider-http.ts";
import type { StepOutcome } from "./outcomes.ts";

/** A DNS record that the provider requires for the domain of the sender. */
export interface ProviderRecord {
  purpose: "dkim" | "spf" | "return_path" | "verification" | "tracking";
  type: "TXT" | "CNAME" | "MX";
  name: string;
  value: string;
}

interface WebhookOutcome extends StepOutcome {
  /** The secret that the provider has chosen. */
  secret?: string | undefined;
  /** Credentials that email needs from now on. */
  credentials?: Record<string, string>;
}

interface DomainOutcome extends StepOutcome {
  records: ProviderRecord[];
}

/** An address that the provider sends nothing to. */
export interface ListedAddress {
  email: string;
  reason: "bounce" | "spam_report" | "unsubscribe";
  detail?: string | undefined;
}

interface ListPage {
  addresses: ListedAddress[];
  /** Where the next page begins. Absent: this is the last one. */
  next?: string | undefined;
}

/** The suppression list of the account. */
interface SuppressionList<C> {
  readPage(account: ConnectAccount<C>, cursor: string | undefined): Promise<ListPage>;
  /** Does nothing if the address is not on the list. */
  remove(account: ConnectAccount<C>, email: string): Promise<unknown>;
}

/** The address that the provider calls. */
export interface WebhookAddress {
  /** With the secret, if the provider signs nothing. */
  url: string;
  /** The secret of the config, if one is stored. */
  secret: string | undefined;
  /** The name of what belongs to this address: unique among installations and configs. */
  name: string;
  /** SES: the only topic whose events the config accepts. */
  snsTopic: string | undefined;
}

interface ProviderRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  body?: object | string | FormData | undefined;
  /** Largest response. Absent: 1 MB. */
  maxBytes?: number;
  /** Statuses above 399 that are returned, too. */
  accepts?: number[];
}

/** Returns a response below 400. Throws `ConnectFailure` otherwise. */
export type ProviderApi = (request: ProviderRequest) => Promise<ProviderResponse>;

export interface ConnectAccount<C = Record<string, string | undefined>> {
  credentials: C;
  api: ProviderApi;
  webhook: WebhookAddress;
}

export interface Connector<C = Record<string, string | undefined>> {
  /** Whether `webhookSecret` is of our choice. It is stored before the webhook is created. */
  hasOwnSecret: boolean;
  /** Pages of the provider on which a person does each step. */
  links: { account: string; webhook: string; domain: string };
  headers(credentials: C): Record<string, string>;
  /** Called after the provider has accepted the credentials. */
  readAccount(account: ConnectAccount<C>): Promise<StepOutcome>;
  connectWebhook(account: ConnectAccount<C>): Promise<WebhookOutcome>;
  connectDomain(account: ConnectAccount<C>, domain: string): Promise<DomainOutcome>;
  /** Absent if the provider has no API for it. */
  suppressionList?: SuppressionList<C>;
}

/** A step that cannot go on. */
export class ConnectFailure extends Error {
  readonly outcome: StepOutcome;
  constructor(outcome: StepOutcome) {
    super(outcome.code);
    this.outcome = outcome;
  }
}

/**
 * The outcome of an error that is a `ConnectFailure`. Connectors are loaded lazily with a class of
 * their own, so `instanceof` does not tell.
 */
export const failureOf = (error: unknown): StepOutcome | undefined =>
  error instanceof Error && "outcome" in error ? (error.outcome as StepOutcome) : undefined;

/** A run makes at most so many requests. */
const maxRequests = 40;
const timeoutSeconds = 7;

/** No request starts after `notAfter`. */
export function createProviderApi<C>(
  provider: Pick<ProviderAdapter, "key" | "name">,
  {
    credentials,
    headers,
    webhookSecret,
  }: { credentials: C; headers: Record<string, string>; webhookSecret?: string | undefined },
  notAfter: Date,
): ProviderApi {
  const secrets = [
    ...Object.values(headers),
    ...secretsOf(credentials as Record<string, unknown>),
    // A provider may repeat the address of the webhook in an error.
    ...(webhookSecret ? [webhookSecret, encodeURIComponent(webhookSecret)] : []),
  ];
  let requests = 0;
  return async ({ accepts = [], method = "GET", ...request }) => {
    requests += 1;
    if (requests > maxRequests) throw new ConnectFailure({ code: "no_answer" });
    const response = await repeatWhileLimited(notAfter, () =>
      requestProvider(provider.key, {
        ...request,
        method,
        headers: { ...headers, ...request.headers },
        timeoutSeconds,
        notAfter,
      }),
    ).catch((error: unknown) => {
      throw error instanceof NoResponse ? new ConnectFailure({ code: "no_answer" }) : error;
    });
    if (response.status < 400 || accepts.includes(response.status)) return response;
    const text = errorTextOf(response) ?? `${provider.name} responded with ${response.status}`;
    const detail = sanitizeError(text, secrets);
    if (response.status === 429) throw new ConnectFailure({ code: "rate_limited", detail });
    const isDenied =
      [401, 403].includes(response.status) || /permission|not authorized/i.test(text);
    throw new ConnectFailure({ code: isDenied ? "not_permitted" : "provider_failed", detail });
  };
}

const maxRepeats = 5;
/** After a longer pause, such as the hour of Brevo, a later run goes on. */
const maxPauseSeconds = 5;

/**
 * Repeats a request that the provider refused because of its rate limit, after the pause that it
 * asks for. Resend takes 2 requests a second, and SES 1.
 */
async function repeatWhileLimited(
  notAfter: Date,
  request: () => Promise<ProviderResponse>,
): Promise<ProviderResponse> {
  for (let repeats = 0; ; repeats++) {
    const response = await request();
    const pauseSeconds = pauseSecondsOf(response) || 1;
    const isLast = repeats === maxRepeats || addSeconds(pauseSeconds) >= notAfter;
    if (response.status !== 429 || pauseSeconds > maxPauseSeconds || isLast) return response;
    await sleep(pauseSeconds * 1000);
  }
}

/** Reads the body of a response. Throws `ConnectFailure` if it has another form. */
export function readBody<S extends z.ZodType>(schema: S, { json }: ProviderResponse): z.output<S> {
  const { success, data } = schema.safeParse(json);
  if (success) return data;
  throw new ConnectFailure({ code: "provider_failed", detail: "the response cannot be read" });
}

/** Whether a webhook belongs to the config: it has the same address but for the secret. */
export function isOurs(url: string, webhook: WebhookAddress): boolean {
  const bare = (text: string) => text.replace(/([?&])secret=[^&]*&?/, "$1").replace(/[?&]$/, "");
  return bare(url) === bare(webhook.url);
}

interface WebhookChanges<W> {
  existing: W[];
  isComplete(webhook: W): boolean;
  create(): Promise<W>;
  update(webhook: W): Promise<W>;
  remove(webhook: W): Promise<unknown>;
}

/** Leaves exactly one webhook of the config, which is complete. */
export async function ensureWebhook<W extends { url: string }>(
  webhook: WebhookAddress,
  { existing, isComplete, create, update, remove }: WebhookChanges<W>,
): Promise<{ kept: W; code: "webhook_exists" | "webhook_created" | "webhook_updated" }> {
  const ours = existing.filter(({ url }) => isOurs(url, webhook));
  const found = ours.find(isComplete) ?? ours[0];
  for (const twin of ours) if (twin !== found) await remove(twin);
  if (!found) return { kept: await create(), code: "webhook_created" };
  if (isComplete(found)) return { kept: found, code: "webhook_exists" };
  return { kept: await update(found), code: "webhook_updated" };
}

/** A name that is relative to the zone of the domain, or full already. */
export function fullRecordName(name: string, domain: string): string {
  const bare = name.replace(/\.$/, "").toLowerCase();
  if (bare === "@" || bare === "") return domain;
  if (bare === domain || bare.endsWith(`.${domain}`)) return bare;
  const [labels, zone] = [bare.split("."), domain.split(".")];
  const shared = zone.findLastIndex((_, n) => {
    const end = labels.slice(-(n + 1)).join(".");
    return labels.length > n && end === zone.slice(0, n + 1).join(".");
  });
  return [...labels, ...zone.slice(shared + 1)].join(".");
}

/** A cursor into one of several lists: the name of the list and a place in it. */
export const listCursor = (list: string, place: number | string): string => `${list}:${place}`;

/** The first list without a cursor. */
export function readListCursor(cursor: string | undefined, lists: readonly string[]) {
  const [, list = lists[0]!, place = ""] = /^([^:]+):(.*)$/.exec(cursor ?? "") ?? [];
  return { list, place, nextList: lists[lists.indexOf(list) + 1] };
}

/** How many of a quota are used up. */
export const shareOf = (used: number, total: number): string => `${used} of ${total} emails`;
