// Google Postmaster Tools: what Gmail says about email from a domain. API v2:
// developers.google.com/workspace/gmail/postmaster/reference/rest/v2. A service account logs in
// with a signed assertion (RFC 7523). PROVIDER_URL_GOOGLE replaces the origins of both.
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import * as z from "zod";
import { NoResponse } from "../../adapters/http/no-response.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import type { DateRange } from "../../kernel/calendar-dates.ts";
import { type ProviderResponse, requestProvider, sanitizeError } from "../provider-http.ts";

const tokenUrl = "https://oauth2.googleapis.com/token";
const apiUrl = "https://gmailpostmastertools.googleapis.com/v2";
/** The first one lists the domains, the second one reads their figures. */
const scopes = ["postmaster.domain", "postmaster.traffic.readonly"];
const scope = scopes.map((name) => `https://www.googleapis.com/auth/${name}`).join(" ");
const requestSeconds = 8;

/** What a service account logs in with. */
export interface ServiceAccount {
  clientEmail: string;
  /** PEM. */
  privateKey: string;
  /** User of Google Workspace for whom the account acts (domain-wide delegation). */
  delegatedUser?: string | undefined;
}

/** Google did not do what was asked. The message is one sentence without secrets. */
export class PostmasterError extends Error {
  /** Undefined: no response. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }

  /** Rate limit, outage or no response: it may work later. */
  get isTemporary(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }
}

/** Undefined if the text is no RSA key of 2,048 bits or more. */
export function readRsaKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === "rsa" && bits >= 2048 ? key : undefined;
  } catch {
    return undefined;
  }
}

const Token = z.object({ access_token: z.string().min(1).max(8000) });

/** Returns an access token, which is valid for an hour. Throws `PostmasterError`. */
export async function logIn(account: ServiceAccount): Promise<string> {
  const assertion = signAssertion(account);
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion,
  });
  const response = await call({
    url: tokenUrl,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: body.toString(),
    secrets: [assertion],
  });
  const token = Token.safeParse(response.json).data;
  if (!token) throw new PostmasterError("Google returned no access token", response.status);
  return token.access_token;
}

function signAssertion({ clientEmail, privateKey, delegatedUser }: ServiceAccount): string {
  const issuedAt = epochSeconds();
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const claims = {
    iss: clientEmail,
    ...(delegatedUser && { sub: delegatedUser }),
    scope,
    aud: tokenUrl,
    iat: issuedAt,
    exp: issuedAt + 3600,
  };
  const signed = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
  const signature = sign("RSA-SHA256", Buffer.from(signed), privateKey);
  return `${signed}.${signature.toString("base64url")}`;
}

const DomainPage = z.object({
  domains: z
    .array(z.object({ name: z.string().max(300), permission: z.string().optional() }))
    .default([]),
  nextPageToken: z.string().max(2000).optional(),
});
const maxDomainPages = 5;
const pageSize = 200;

/** The names of the domains whose figures the account may read, at most 1,000, sorted. */
export async function listDomains(token: string): Promise<string[]> {
  const names = new Set<string>();
  let pageToken: string | undefined;
  for (let page = 0; page < maxDomainPages; page++) {
    const query = new URLSearchParams({ pageSize: String(pageSize), pageToken: pageToken ?? "" });
    const response = await callApi(token, { url: `${apiUrl}/domains?${query}` });
    const { domains, nextPageToken } = parse(DomainPage, response);
    for (const { name, permission } of domains.slice(0, pageSize))
      if (permission !== "NONE") names.add(name.replace(/^domains\//, "").toLowerCase());
    pageToken = nextPageToken;
    if (!pageToken) break;
  }
  return [...names].toSorted();
}

/** Figures of one day, each 0 to 1. Gmail leaves out those of days with little email. */
export interface PostmasterFigures {
  spamRate?: number;
  spfRate?: number;
  dkimRate?: number;
  dmarcRate?: number;
  tlsRate?: number;
  deliveryErrorRate?: number;
}

const metrics: Record<keyof PostmasterFigures, { standardMetric: string; filter?: string }> = {
  spamRate: { standardMetric: "SPAM_RATE" },
  spfRate: { standardMetric: "AUTH_SUCCESS_RATE", filter: 'auth_type = "spf"' },
  dkimRate: { standardMetric: "AUTH_SUCCESS_RATE", filter: 'auth_type = "dkim"' },
  dmarcRate: { standardMetric: "AUTH_SUCCESS_RATE", filter: 'auth_type = "dmarc"' },
  tlsRate: { standardMetric: "TLS_ENCRYPTION_RATE", filter: 'traffic_direction = "inbound"' },
  deliveryErrorRate: { standardMetric: "DELIVERY_ERROR_RATE" },
};
const metricDefinitions = Object.entries(metrics).map(([name, { standardMetric, filter }]) => ({
  name,
  baseMetric: { standardMetric },
  ...(filter && { filter }),
}));

const Rate = z.number().min(0).max(1);
const DomainStat = z.object({
  metric: z.enum(Object.keys(metrics) as (keyof PostmasterFigures)[]),
  date: z.object({
    year: z.int().min(2000).max(9999),
    month: z.int().min(1).max(12),
    day: z.int().min(1).max(31),
  }),
  value: z
    .object({ floatValue: Rate.optional(), doubleValue: Rate.optional() })
    .transform(({ floatValue, doubleValue }) => floatValue ?? doubleValue),
});
const StatPage = z.object({
  domainStats: z.array(z.unknown()).default([]),
  nextPageToken: z.string().max(2000).optional(),
});
const maxStatPages = 10;

/**
 * The days of the span for which Gmail has figures, oldest first. Throws `PostmasterError`, with
 * the status 403 or 404 if the account may not read those of the domain.
 */
export async function queryFigures(
  token: string,
  domain: string,
  span: DateRange,
): Promise<{ date: string; figures: PostmasterFigures }[]> {
  const days = new Map<string, PostmasterFigures>();
  let pageToken: string | undefined;
  for (let page = 0; page < maxStatPages; page++) {
    const response = await callApi(token, {
      url: `${apiUrl}/domains/${encodeURIComponent(domain)}/domainStats:query`,
      body: {
        metricDefinitions,
        timeQuery: {
          dateRanges: { dateRanges: [{ start: toDate(span.from), end: toDate(span.to) }] },
        },
        aggregationGranularity: "DAILY",
        pageSize,
        ...(pageToken && { pageToken }),
      },
    });
    const { domainStats, nextPageToken } = parse(StatPage, response);
    for (const stat of domainStats.slice(0, pageSize)) addStat(days, DomainStat.safeParse(stat));
    pageToken = nextPageToken;
    if (!pageToken) break;
  }
  return [...days]
    .map(([date, figures]) => ({ date, figures }))
    .filter(({ date }) => date >= span.from && date <= span.to)
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** Values of a form that is not known are left out. */
function addStat(
  days: Map<string, PostmasterFigures>,
  { data }: z.ZodSafeParseResult<z.output<typeof DomainStat>>,
): void {
  if (data?.value === undefined) return;
  const { year, month, day } = data.date;
  const date = [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
  days.set(date, { ...days.get(date), [data.metric]: data.value });
}

const toDate = (date: string) => {
  const [year, month, day] = date.split("-").map(Number);
  return { year, month, day };
};

function parse<T>(schema: z.ZodType<T>, { json, status }: ProviderResponse): T {
  const { data } = schema.safeParse(json);
  if (data === undefined) throw new PostmasterError("Google's response was not understood", status);
  return data;
}

const callApi = (token: string, request: { url: string; body?: object }) =>
  call({ ...request, headers: { authorization: `Bearer ${token}` }, secrets: [token] });

interface GoogleRequest {
  url: string;
  headers: Record<string, string>;
  body?: string | object;
  secrets: string[];
}

async function call({ url, headers, body, secrets }: GoogleRequest): Promise<ProviderResponse> {
  const response = await requestProvider("google", {
    ...{ url, headers, body },
    method: body === undefined ? "GET" : "POST",
    timeoutSeconds: requestSeconds,
    notAfter: addSeconds(requestSeconds),
  }).catch((error: unknown) => {
    if (!(error instanceof NoResponse)) throw error;
    throw new PostmasterError(`Google did not respond: ${error.reason}`);
  });
  if (response.status >= 200 && response.status < 300) return response;
  const { status } = response;
  const text = errorTextOf(response.json) ?? `status ${status}`;
  throw new PostmasterError(sanitizeError(`Google refused: ${text}`, secrets), status);
}

const ApiFault = z.object({ error: z.object({ message: z.string() }) });
const TokenFault = z.object({ error: z.string(), error_description: z.string().optional() });

function errorTextOf(json: unknown): string | undefined {
  const api = ApiFault.safeParse(json).data;
  if (api) return api.error.message;
  const token = TokenFault.safeParse(json).data;
  return token && [token.error, token.error_description].filter(Boolean).join(": ");
}
