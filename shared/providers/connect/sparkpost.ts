// SparkPost: webhooks with basic authentication, sending domains, account
// (developers.sparkpost.com/api).
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  ensureWebhook,
  type ProviderRecord,
  readBody,
  shareOf,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
  region?: "us" | "eu" | undefined;
}
type Account = ConnectAccount<Credentials>;

const apiUrl = ({ credentials: { region } }: Account, path: string): string =>
  `https://${region === "eu" ? "api.eu.sparkpost.com" : "api.sparkpost.com"}/api/v1${path}`;

const events = [
  "delivery",
  "delay",
  "bounce",
  "out_of_band",
  "policy_rejection",
  "generation_rejection",
  "generation_failure",
  "spam_complaint",
  "open",
  "click",
  "list_unsubscribe",
  "link_unsubscribe",
];

const Webhook = z.object({
  id: z.string(),
  target: z.string(),
  events: z.array(z.string()).default([]),
  auth_type: z.string().nullish(),
  active: z.boolean().default(true),
});
const Webhooks = z.object({ results: z.array(Webhook) });
const Created = z.object({ results: z.object({ id: z.string() }) });

const Usage = z.object({
  results: z.object({
    status: z.string().optional(),
    usage: z
      .object({ month: z.object({ used: z.number(), limit: z.number().nullish() }).optional() })
      .optional(),
  }),
});

const Dkim = z.object({ selector: z.string(), public: z.string() }).optional();
const Domain = z.object({
  results: z.object({
    dkim: Dkim,
    status: z
      .object({
        ownership_verified: z.boolean().default(false),
        dkim_status: z.string().optional(),
      })
      .optional(),
  }),
});
const Verified = z.object({ results: z.object({ dkim_status: z.string().optional() }) });

interface FoundWebhook {
  id: string;
  url: string;
  isComplete: boolean;
}

export const sparkpost: Connector<Credentials> = {
  hasOwnSecret: true,
  links: {
    account: "https://app.sparkpost.com/account/billing",
    webhook: "https://app.sparkpost.com/webhooks",
    domain: "https://app.sparkpost.com/domains/list/sending",
  },
  headers: ({ apiKey }) => ({ authorization: apiKey }),
  async readAccount(account) {
    const url = apiUrl(account, "/account?include=usage");
    const response = await account.api({ url, accepts: [401, 403] });
    const { results } = Usage.safeParse(response.json).data ?? {};
    if (!results?.status) return { code: "account_known" };
    if (results.status !== "active")
      return { code: "account_paused", detail: `its status is ${results.status}` };
    const { used = 0, limit } = results.usage?.month ?? {};
    return limit && used >= limit
      ? { code: "account_used_up", detail: shareOf(used, limit) }
      : { code: "account_active" };
  },
  async connectWebhook(account) {
    const { api, webhook } = account;
    const listUrl = apiUrl(account, "/webhooks");
    const { results } = readBody(Webhooks, await api({ url: listUrl }));
    const body = {
      name: webhook.name.slice(0, 24),
      target: webhook.url,
      events,
      active: true,
      auth_type: "basic",
      auth_credentials: { username: "pennymail", password: webhook.secret },
    };
    const update = async (one: FoundWebhook) => {
      await api({ method: "PUT", url: `${listUrl}/${one.id}`, body });
      return one;
    };
    const { kept, code } = await ensureWebhook<FoundWebhook>(webhook, {
      existing: results.map((one) => ({
        id: one.id,
        url: one.target,
        isComplete:
          one.active &&
          one.auth_type === "basic" &&
          events.every((name) => one.events.includes(name)),
      })),
      isComplete: (one) => one.isComplete,
      async create() {
        const response = await api({ method: "POST", url: listUrl, body });
        const { id } = readBody(Created, response).results;
        return { id, url: webhook.url, isComplete: true };
      },
      update,
      remove: ({ id }) => api({ method: "DELETE", url: `${listUrl}/${id}` }),
    });
    // SparkPost does not show the password, which can be an earlier secret.
    if (code === "webhook_exists") await update(kept);
    return { code };
  },
  async connectDomain(account, domain) {
    const { api } = account;
    const listUrl = apiUrl(account, "/sending-domains");
    const url = `${listUrl}/${domain}`;
    const response = await api({ url, accepts: [404] });
    if (response.status === 404) {
      const added = await api({ method: "POST", url: listUrl, body: { domain } });
      const { dkim } = readBody(Domain, added).results;
      return { code: "domain_added", records: toRecords(domain, dkim) };
    }
    const { status, dkim } = readBody(Domain, response).results;
    const records = toRecords(domain, dkim);
    if (status?.ownership_verified && status.dkim_status === "valid")
      return { code: "domain_verified", records };
    const body = { dkim_verify: true };
    const { results } = readBody(
      Verified,
      await api({ method: "POST", url: `${url}/verify`, body }),
    );
    return {
      code: results.dkim_status === "valid" ? "domain_verified" : "domain_unverified",
      records,
    };
  },
  suppressionList: {
    async readPage(account, cursor = "initial") {
      const query = new URLSearchParams({ cursor, per_page: "1000" });
      const { results, links } = readBody(
        Listed,
        await account.api({ url: apiUrl(account, `/suppression-list?${query}`) }),
      );
      const nextLink = links.find(({ rel }) => rel === "next")?.href ?? "";
      return {
        addresses: results.map(({ recipient, source = "", description }) => ({
          email: recipient,
          reason: reasons[source] ?? "unsubscribe",
          detail: description ?? undefined,
        })),
        next: new URLSearchParams(nextLink.split("?")[1] ?? "").get("cursor") ?? undefined,
      };
    },
    remove: (account, email) =>
      account.api({
        method: "DELETE",
        url: apiUrl(account, `/suppression-list/${encodeURIComponent(email)}`),
        accepts: [404],
      }),
  },
};

const Listed = z.object({
  results: z.array(
    z.object({
      recipient: z.string(),
      source: z.string().optional(),
      description: z.string().nullish(),
    }),
  ),
  links: z.array(z.object({ rel: z.string(), href: z.string() })).default([]),
});
/** Other sources are unsubscriptions, and entries that a person added. */
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  "Bounce Rule": "bounce",
  "Spam Complaint": "spam_report",
};

const toRecords = (domain: string, dkim: z.output<typeof Dkim>): ProviderRecord[] =>
  dkim
    ? [
        {
          purpose: "dkim",
          type: "TXT",
          name: `${dkim.selector}._domainkey.${domain}`,
          value: `v=DKIM1; k=rsa; h=sha256; p=${dkim.public}`,
        },
      ]
    : [];
