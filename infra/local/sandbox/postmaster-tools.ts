// Google of the sandbox. Each account has a service account, which sees the domains from which the
// account has sent email. The name and the day decide their figures, so they stay the same.
import { createHash, createPublicKey } from "node:crypto";
import { now } from "../../../shared/clock.ts";
import { addDays } from "../../../shared/kernel/calendar-dates.ts";
import { domainOf } from "../../../shared/kernel/email-fields.ts";
import type { SandboxAccounts } from "./accounts.ts";
import { createGoogleApi, type GmailDay } from "./google-api.ts";
import type { SandboxInbox } from "./inbox.ts";
import { type ProviderServer, startServer } from "./provider-server.ts";
import type { SandboxAccount } from "./types.ts";

const emailOf = ({ id }: SandboxAccount): string => `mail@account-${id}.iam.gserviceaccount.com`;

/** The JSON file of a service account, as Google's console creates it. */
export const createServiceAccountKey = (account: SandboxAccount, privateKey: string): string =>
  JSON.stringify(
    {
      type: "service_account",
      project_id: `account-${account.id}`,
      private_key: privateKey,
      client_email: emailOf(account),
      token_uri: "https://oauth2.googleapis.com/token",
    },
    null,
    2,
  );

interface GoogleParts {
  accounts: SandboxAccounts;
  inbox: Pick<SandboxInbox, "filter">;
  /** PEM, of all service accounts. */
  getPrivateKey(): Promise<string>;
}

export function startGoogle({
  accounts,
  inbox,
  getPrivateKey,
}: GoogleParts): Promise<ProviderServer> {
  const findAccount = (email: string) =>
    accounts.findById(/^mail@account-(\w+)\.iam\.gserviceaccount\.com$/.exec(email)?.[1] ?? "");
  const listNames = (email: string): string[] => {
    const account = findAccount(email);
    const mails = inbox.filter((mail) => mail.account === account?.id);
    return [...new Set(mails.map(({ from }) => domainOf(from.email)))];
  };
  const api = createGoogleApi({
    async findPublicKey({ iss }) {
      if (!findAccount(iss)) return undefined;
      const key = createPublicKey(await getPrivateKey());
      return key.export({ type: "spki", format: "pem" }).toString();
    },
    listDomains: (email) => listNames(email).map((name) => ({ name, permission: "READER" })),
    readDays: (email, { domain }) =>
      listNames(email).includes(domain) ? makeUpDays(domain) : undefined,
    domainsPerPage: 200,
    valuesPerPage: 200,
    maxSkewSeconds: 60,
  });
  const tooLarge = { status: 413, body: { error: { code: 413, message: "Request too large" } } };
  return startServer(api, { maxBytes: 100_000, tooLarge });
}

/** Gmail shows a day about two days later. */
const [oldestDay, newestDay] = [30, 2];

function makeUpDays(domain: string): Map<string, GmailDay> {
  const today = now().toISOString().slice(0, 10);
  const [label] = domain.split(".");
  if (label === "quiet") return new Map();
  const days = Array.from({ length: oldestDay - newestDay + 1 }, (_, i) =>
    addDays(today, i - oldestDay),
  );
  const leastSpam = label === "complained" ? 0.0025 : 0.0001;
  return new Map(days.map((date) => [date, makeUpDay(`${domain} ${date}`, leastSpam)]));
}

/** `seed` decides the values. */
function makeUpDay(seed: string, leastSpam: number): GmailDay {
  const bytes = createHash("sha256").update(seed).digest();
  const between = (index: number, least: number, most: number): number =>
    Number((least + (bytes[index]! / 255) * (most - least)).toFixed(5));
  return {
    SPAM_RATE: between(0, leastSpam, leastSpam + 0.0008),
    "AUTH_SUCCESS_RATE spf": between(1, 0.98, 1),
    "AUTH_SUCCESS_RATE dkim": between(2, 0.99, 1),
    "AUTH_SUCCESS_RATE dmarc": between(3, 0.98, 1),
    "TLS_ENCRYPTION_RATE inbound": 1,
    DELIVERY_ERROR_RATE: between(4, 0.001, 0.02),
  };
}
