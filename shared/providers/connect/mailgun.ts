// Mailgun: webhooks of the sending domain, the signing key of the account, and the domain
// (documentation.mailgun.com). The domain is the one of the credentials.
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  fullRecordName,
  isOurs,
  listCursor,
  type ProviderRecord,
  readBody,
  readListCursor,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
  domain: string;
  region?: "us" | "eu" | undefined;
}
type Account = ConnectAccount<Credentials>;

const apiUrl = ({ credentials: { region } }: Account, path: string): string =>
  `https://${region === "eu" ? "api.eu.mailgun.net" : "api.mailgun.net"}${path}`;

const eventNames = [
  "delivered",
  "opened",
  "clicked",
  "unsubscribed",
  "complained",
  "permanent_fail",
  "temporary_fail",
];
/** Mailgun calls at most so many addresses for one event. */
const maxUrls = 3;

const Webhooks = z.object({
  webhooks: z.record(
    z.string(),
    z
      .object({ urls: z.array(z.string()).optional(), url: z.string().optional() })
      .nullable()
      .transform((one) => one?.urls ?? (one?.url ? [one.url] : [])),
  ),
});
const SigningKey = z.object({ http_signing_key: z.string().min(1) });

const Domain = z.object({
  domain: z.object({
    name: z.string(),
    state: z.string(),
    type: z.string().optional(),
    is_disabled: z.boolean().optional(),
  }),
  sending_dns_records: z
    .array(z.object({ record_type: z.string(), name: z.string(), value: z.string() }))
    .default([]),
});

const form = (fields: [string, string][]): FormData => {
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  return data;
};

export const mailgun: Connector<Credentials> = {
  hasOwnSecret: false,
  links: {
    account: "https://app.mailgun.com/settings/account",
    webhook: "https://app.mailgun.com/mg/sending/webhooks",
    domain: "https://app.mailgun.com/mg/sending/domains",
  },
  headers: ({ apiKey }) => ({
    authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString("base64")}`,
  }),
  async readAccount(account) {
    const url = apiUrl(account, `/v4/domains/${account.credentials.domain}`);
    const response = await account.api({ url, accepts: [401, 403, 404] });
    const { domain } = Domain.safeParse(response.json).data ?? {};
    if (!domain) return { code: "account_known" };
    if (domain.is_disabled || domain.state === "disabled")
      return { code: "account_paused", detail: `the domain ${domain.name} is disabled` };
    return domain.type === "sandbox"
      ? { code: "account_restricted", detail: `${domain.name} sends to authorized recipients only` }
      : { code: "account_active" };
  },
  async connectWebhook(account) {
    const { api, webhook } = account;
    const keyUrl = apiUrl(account, "/v5/accounts/http_signing_key");
    const secret = readBody(SigningKey, await api({ url: keyUrl })).http_signing_key;
    const listUrl = apiUrl(account, `/v3/domains/${account.credentials.domain}/webhooks`);
    const { webhooks } = readBody(Webhooks, await api({ url: listUrl }));
    const missing = eventNames.filter(
      (name) => !webhooks[name]?.some((url) => isOurs(url, webhook)),
    );
    const full = missing.filter((name) => (webhooks[name]?.length ?? 0) >= maxUrls);
    if (full.length) return { code: "webhook_taken", detail: full.join(", "), secret };
    await Promise.all(
      missing.map((name) => {
        const urls = [...(webhooks[name] ?? []), webhook.url];
        const fields = urls.map((url): [string, string] => ["url", url]);
        return urls.length > 1
          ? api({ method: "PUT", url: `${listUrl}/${name}`, body: form(fields) })
          : api({ method: "POST", url: listUrl, body: form([["id", name], ...fields]) });
      }),
    );
    if (missing.length === 0) return { code: "webhook_exists", secret };
    const isNew = missing.length === eventNames.length;
    return { code: isNew ? "webhook_created" : "webhook_updated", secret };
  },
  async connectDomain(account) {
    const { api, credentials } = account;
    const url = apiUrl(account, `/v4/domains/${credentials.domain}`);
    const response = await api({ url, accepts: [404] });
    if (response.status === 404) {
      const body = form([["name", credentials.domain]]);
      const added = await api({ method: "POST", url: apiUrl(account, "/v4/domains"), body });
      return { code: "domain_added", records: toRecords(readBody(Domain, added)) };
    }
    const found = readBody(Domain, response);
    if (found.domain.state === "active")
      return { code: "domain_verified", records: toRecords(found) };
    const checked = readBody(Domain, await api({ method: "PUT", url: `${url}/verify` }));
    const isVerified = checked.domain.state === "active";
    return {
      code: isVerified ? "domain_verified" : "domain_unverified",
      records: toRecords(checked),
    };
  },
  suppressionList: {
    async readPage(account, cursor) {
      const { list, place, nextList } = readListCursor(cursor, Object.keys(reasons));
      const path = `/v3/${account.credentials.domain}/${list}?${place || `limit=${pageSize}`}`;
      const { items, paging } = readBody(Listed, await account.api({ url: apiUrl(account, path) }));
      const query = URL.parse(paging?.next ?? "")?.search.slice(1);
      const next =
        items.length === pageSize && query
          ? listCursor(list, query)
          : nextList && listCursor(nextList, "");
      const reason = reasons[list as keyof typeof reasons];
      return {
        addresses: items.map(({ address, error }) => ({ email: address, reason, detail: error })),
        next,
      };
    },
    remove: (account, email) =>
      Promise.all(
        Object.keys(reasons).map((list) =>
          account.api({
            method: "DELETE",
            url: apiUrl(
              account,
              `/v3/${account.credentials.domain}/${list}/${encodeURIComponent(email)}`,
            ),
            accepts: [404],
          }),
        ),
      ),
  },
};

const pageSize = 1000;
const Listed = z.object({
  items: z.array(z.object({ address: z.string(), error: z.string().optional() })),
  paging: z.object({ next: z.string().optional() }).optional(),
});
const reasons = {
  bounces: "bounce",
  complaints: "spam_report",
  unsubscribes: "unsubscribe",
} as const;

function toRecords({ domain, sending_dns_records }: z.output<typeof Domain>): ProviderRecord[] {
  return sending_dns_records.flatMap(({ record_type: type, name, value }) => {
    if (type !== "TXT" && type !== "CNAME") return [];
    return [
      { purpose: purposeOf(type, value), type, name: fullRecordName(name, domain.name), value },
    ];
  });
}

function purposeOf(type: "TXT" | "CNAME", value: string): ProviderRecord["purpose"] {
  if (type === "CNAME") return "tracking";
  return value.startsWith("v=spf1") ? "spf" : "dkim";
}
