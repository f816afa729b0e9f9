// The APIs of Google that the service calls: the login of service accounts (RFC 7523) and
// Postmaster Tools, developers.google.com/workspace/gmail/postmaster/reference/rest/v2.
import { randomUUID, verify } from "node:crypto";
import * as z from "zod";
import { epochSeconds } from "../../../shared/clock.ts";
import type { Dispatch } from "./provider-server.ts";
import { bearerToken, notSupported, ok, parseBody, parseJson } from "./request-reader.ts";
import { SandboxRefusal, type SandboxRequest, type SandboxResponse } from "./types.ts";

/** Values of a day by metric, such as `SPAM_RATE` or `AUTH_SUCCESS_RATE spf`. */
export type GmailDay = Record<string, number>;

export interface GoogleData {
  /** The public key (PEM) of the account that logs in. Undefined: Google does not know it. */
  findPublicKey(claims: AssertionClaims): Promise<string | undefined>;
  listDomains(clientEmail: string): { name: string; permission: "READER" | "NONE" }[];
  /** Days by date. Undefined: the account may not read the domain. */
  readDays(clientEmail: string, query: FigureQuery): Map<string, GmailDay> | undefined;
  domainsPerPage: number;
  valuesPerPage: number;
  /** How far the clock of a caller may be from that of Google. */
  maxSkewSeconds: number;
}

interface FigureQuery {
  domain: string;
  /** Days such as 2026-12-01. */
  from: string;
  to: string;
}

/** Answers the requests to both APIs. */
export function createGoogleApi(data: GoogleData): Dispatch {
  /** The addresses of accounts by their access tokens. */
  const loggedIn = new Map<string, string>();
  return async (request) => {
    if (request.path === "/token") return logIn(data, request, loggedIn);
    const clientEmail = loggedIn.get(bearerToken(request) ?? "");
    if (clientEmail === undefined) throw refusal(401, "Request had invalid credentials.");
    if (request.path === "/v2/domains") return listDomains(data, clientEmail, request);
    const [, domain] = /^\/v2\/domains\/([^/]+)\/domainStats:query$/.exec(request.path) ?? [];
    if (domain)
      return queryStats(data, { clientEmail, domain: decodeURIComponent(domain) }, request);
    throw refusal(404, `${request.path} ${notSupported}`);
  };
}

const refusal = (code: number, message: string) =>
  new SandboxRefusal({ status: code, body: { error: { code, message } } });

const Claims = z.object({
  /** The address of the service account. */
  iss: z.string(),
  /** The user for whom it acts. */
  sub: z.string().optional(),
  aud: z.literal("https://oauth2.googleapis.com/token"),
  scope: z.string().includes("postmaster.traffic.readonly"),
  iat: z.number(),
  exp: z.number(),
});
type AssertionClaims = z.output<typeof Claims>;

async function logIn(
  data: GoogleData,
  { body }: SandboxRequest,
  loggedIn: Map<string, string>,
): Promise<SandboxResponse> {
  const assertion = new URLSearchParams(body.toString()).get("assertion") ?? "";
  const [header = "", payload = "", signature = ""] = assertion.split(".");
  const claims = Claims.safeParse(decodeJson(payload)).data;
  if (!claims) return loginRefusal("Invalid JWT: the claims are not valid.");
  const publicKey = await data.findPublicKey(claims);
  if (!publicKey) return loginRefusal("Invalid grant: account not found");
  const isSigned = verify(
    "RSA-SHA256",
    Buffer.from(`${header}.${payload}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) return loginRefusal("Invalid JWT Signature.");
  const isCurrent =
    Math.abs(claims.iat - epochSeconds()) < data.maxSkewSeconds && claims.exp - claims.iat <= 3600;
  if (!isCurrent)
    return loginRefusal("Invalid JWT: Token must be a short-lived token (60 minutes)");
  const token = `ya29.${randomUUID()}`;
  loggedIn.set(token, claims.iss);
  return ok({ access_token: token, expires_in: 3599, token_type: "Bearer" });
}

const loginRefusal = (description: string): SandboxResponse => ({
  status: 400,
  body: { error: "invalid_grant", error_description: description },
});

function decodeJson(base64: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** Part of a list, as Google pages it: the token of the next page is where it starts. */
function pageOf<T>(all: T[], token: string | undefined, size: number) {
  const start = Number(token) || 0;
  const end = start + size;
  return {
    items: all.slice(start, end),
    ...(all.length > end && { nextPageToken: String(end) }),
  };
}

function listDomains(
  data: GoogleData,
  clientEmail: string,
  { query }: SandboxRequest,
): SandboxResponse {
  const token = new URLSearchParams(query).get("pageToken") ?? undefined;
  const { items, ...next } = pageOf(data.listDomains(clientEmail), token, data.domainsPerPage);
  return ok({
    domains: items.map(({ name, permission }) => ({ name: `domains/${name}`, permission })),
    ...next,
  });
}

const GoogleDate = z.object({ year: z.int(), month: z.int(), day: z.int() });
const StatQuery = z.object({
  metricDefinitions: z.array(
    z.object({
      name: z.string(),
      baseMetric: z.object({ standardMetric: z.string() }),
      filter: z.string().optional(),
    }),
  ),
  timeQuery: z.object({
    dateRanges: z.object({
      dateRanges: z.tuple([z.object({ start: GoogleDate, end: GoogleDate })]),
    }),
  }),
  aggregationGranularity: z.literal("DAILY"),
  pageToken: z.string().optional(),
});

const fromDate = ({ year, month, day }: z.output<typeof GoogleDate>): string =>
  [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");

function toDate(text: string): z.output<typeof GoogleDate> {
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  return { year, month, day };
}

function queryStats(
  data: GoogleData,
  { clientEmail, domain }: { clientEmail: string; domain: string },
  request: SandboxRequest,
): SandboxResponse {
  const invalid = { status: 400, body: { error: { code: 400, message: "Invalid JSON payload" } } };
  const { metricDefinitions, timeQuery, pageToken } = parseBody(
    StatQuery,
    parseJson(request, invalid),
    (path, message) => ({ status: 400, body: { error: { code: 400, message: path + message } } }),
  );
  const [{ start, end }] = timeQuery.dateRanges.dateRanges;
  const [from, to] = [fromDate(start), fromDate(end)];
  const days = data.readDays(clientEmail, { domain, from, to });
  if (!days) throw refusal(403, "The caller does not have permission");
  const stats = [...days]
    .filter(([date]) => date >= from && date <= to)
    .flatMap(([date, values]) =>
      metricDefinitions.flatMap(({ name, baseMetric, filter }) => {
        const parts = [baseMetric.standardMetric, /"(.*)"/.exec(filter ?? "")?.[1]];
        const floatValue = values[parts.filter(Boolean).join(" ")];
        return floatValue === undefined
          ? []
          : [{ metric: name, date: toDate(date), value: { floatValue } }];
      }),
    );
  const { items, ...next } = pageOf(stats, pageToken, data.valuesPerPage);
  return ok({ domainStats: items, ...next });
}
