// A stand-in for Google: the token endpoint of service accounts and Postmaster Tools.
import { generateKeyPairSync } from "node:crypto";
import { createGoogleApi, type GmailDay } from "../../infra/local/sandbox/google-api.ts";
import { startServer } from "../../infra/local/sandbox/provider-server.ts";

export const clientEmail = "mail@shop.iam.gserviceaccount.com";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicPem = publicKey.export({ type: "spki", format: "pem" }).toString();

/** The JSON file of a service account, as Google's console creates it. */
export const keyFile = (changes: object = {}): string =>
  JSON.stringify({
    type: "service_account",
    client_email: clientEmail,
    private_key: pem,
    token_uri: "http://127.0.0.1:9/never-asked",
    ...changes,
  });

export interface FakeGoogle {
  url: string;
  /** Figures by metric, by date, by domain. */
  days: Map<string, Map<string, GmailDay>>;
  /** Domains that are listed and may not be read. */
  unreadable: Set<string>;
  /** The next responses have this status. */
  fault: { path: string; status: number; message: string } | undefined;
  /** The claims of the last login. */
  claims: object;
  /** Domain and first day of each query. */
  queries: { domain: string; from: string }[];
  onQuery: () => void;
  close(): void;
}

/** Pages of 20 values, and 2 domains, so that readers meet several. */
export async function startFakeGoogle(): Promise<FakeGoogle> {
  const google: FakeGoogle = {
    ...{ url: "", days: new Map(), unreadable: new Set(), fault: undefined },
    ...{ claims: {}, queries: [], onQuery: () => {}, close: () => {} },
  };
  const api = createGoogleApi({
    async findPublicKey(claims) {
      google.claims = claims;
      return claims.iss === clientEmail ? publicPem : undefined;
    },
    listDomains: () =>
      [...google.days.keys(), ...google.unreadable].map((name) => ({
        name,
        permission: name.startsWith("none.") ? "NONE" : "READER",
      })),
    readDays(_, { domain, from }) {
      const days = google.days.get(domain);
      if (!days) return undefined;
      google.onQuery();
      google.queries.push({ domain, from });
      return days;
    },
    domainsPerPage: 2,
    valuesPerPage: 20,
    // Tests move the clock of a service that runs in another process.
    maxSkewSeconds: 86_400,
  });
  const server = await startServer(
    async (request) => {
      const { fault } = google;
      if (!fault || !request.path.includes(fault.path)) return api(request);
      return { status: fault.status, body: { error: { message: fault.message } } };
    },
    { maxBytes: 100_000, tooLarge: { status: 413 } },
  );
  google.url = server.origin;
  google.close = () => void server.close();
  return google;
}
