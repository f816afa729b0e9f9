// A stand-in for Google: the token endpoint of service accounts and Postmaster Tools.
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { epochSeconds } from "../../shared/clock.ts";

export const clientEmail = "mail@shop.iam.gserviceaccount.com";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const accessToken = "ya29.the-access-token";

/** The JSON file of a service account, as Google's console creates it. */
export const keyFile = (changes: object = {}): string =>
  JSON.stringify({
    type: "service_account",
    client_email: clientEmail,
    private_key: pem,
    token_uri: "http://127.0.0.1:9/never-asked",
    ...changes,
  });

type Figures = Record<string, number>;

export interface FakeGoogle {
  url: string;
  /** Figures by metric, by date, by domain. */
  days: Map<string, Map<string, Figures>>;
  /** Domains that are listed and may not be read. */
  unreadable: Set<string>;
  /** The next responses have this status. */
  fault: { path: string; status: number; message: string } | undefined;
  /** The claims of the last login. */
  claims: Record<string, unknown>;
  /** Domain and first day of each query. */
  queries: { domain: string; from: string }[];
  onQuery: () => void;
  close(): void;
}

const fromDate = ({ year, month, day }: Record<string, number>): string =>
  [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");

function readAssertion(body: string): Record<string, unknown> | undefined {
  const assertion = new URLSearchParams(body).get("assertion") ?? "";
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  const isValid = verify(
    "RSA-SHA256",
    Buffer.from(`${header}.${claims}`),
    createPublicKey(publicKey.export({ type: "spki", format: "pem" })),
    Buffer.from(signature, "base64url"),
  );
  const read = JSON.parse(Buffer.from(claims, "base64url").toString());
  const isNow = Math.abs(read.iat - epochSeconds()) < 60 && read.exp - read.iat <= 3600;
  return isValid && isNow && read.iss === clientEmail ? read : undefined;
}

interface StatQuery {
  metricDefinitions: { name: string; baseMetric: { standardMetric: string }; filter?: string }[];
  timeQuery: { dateRanges: { dateRanges: { start: Figures; end: Figures }[] } };
  pageToken?: string;
}

const statsPerPage = 20;

/** Pages of 20 values, and 2 domains, so that readers meet several. */
export async function startFakeGoogle(): Promise<FakeGoogle> {
  const google: FakeGoogle = {
    ...{ url: "", days: new Map(), unreadable: new Set(), fault: undefined },
    ...{ claims: {}, queries: [], onQuery: () => {}, close: () => server.close() },
  };
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(request.url!, "http://google");
    const body = await text(request);
    const { fault } = google;
    if (fault && pathname.includes(fault.path))
      return answer(fault.status, { error: { message: fault.message } });
    if (pathname === "/token") return logIn(google, body, answer);
    if (!isLoggedIn(request)) return answer(401, { error: { message: "Invalid token" } });
    const names = [...google.days.keys(), ...google.unreadable];
    if (pathname === "/v2/domains") {
      const start = Number(searchParams.get("pageToken") ?? 0);
      return answer(200, {
        domains: names.slice(start, start + 2).map((name) => ({
          name: `domains/${name}`,
          permission: name.startsWith("none.") ? "NONE" : "READER",
        })),
        ...(names.length > start + 2 && { nextPageToken: String(start + 2) }),
      });
    }
    const name = /^\/v2\/domains\/([^/]+)\/domainStats:query$/.exec(pathname)?.[1] ?? "";
    const days = google.days.get(name);
    if (!days) return answer(403, { error: { message: "PERMISSION_DENIED" } });
    google.onQuery();
    return answer(200, queryStats(google, { name, days }, JSON.parse(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  google.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return google;
}

const isLoggedIn = ({ headers }: IncomingMessage) =>
  headers.authorization === `Bearer ${accessToken}`;

function logIn(google: FakeGoogle, body: string, answer: (status: number, body: object) => void) {
  const claims = readAssertion(body);
  if (!claims)
    return answer(400, { error: "invalid_grant", error_description: "Invalid JWT Signature." });
  google.claims = claims;
  return answer(200, { access_token: accessToken, expires_in: 3599, token_type: "Bearer" });
}

function queryStats(
  google: FakeGoogle,
  { name, days }: { name: string; days: Map<string, Figures> },
  query: StatQuery,
): object {
  const [{ start, end }] = query.timeQuery.dateRanges.dateRanges as [
    { start: Figures; end: Figures },
  ];
  google.queries.push({ domain: name, from: fromDate(start) });
  const stats = [...days]
    .filter(([date]) => date >= fromDate(start) && date <= fromDate(end))
    .flatMap(([date, figures]) => {
      const [year, month, day] = date.split("-").map(Number);
      return query.metricDefinitions.flatMap(({ name: metric, baseMetric, filter }) => {
        const key = [baseMetric.standardMetric, filter?.match(/"(.*)"/)?.[1]].filter(Boolean);
        const floatValue = figures[key.join(" ")];
        return floatValue === undefined
          ? []
          : [{ metric, date: { year, month, day }, value: { floatValue } }];
      });
    });
  const from = Number(query.pageToken ?? 0);
  return {
    domainStats: stats.slice(from, from + statsPerPage),
    ...(stats.length > from + statsPerPage && { nextPageToken: String(from + statsPerPage) }),
  };
}
