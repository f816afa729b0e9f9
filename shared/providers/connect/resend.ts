// Resend: webhooks and domains (resend.com/docs/api-reference). It has no API for the account.
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  ensureWebhook,
  fullRecordName,
  type ProviderRecord,
  readBody,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
}

const apiUrl = "https://api.resend.com";

const events = [
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.opened",
  "email.clicked",
  "email.failed",
  "email.suppressed",
];

interface Webhook {
  id: string;
  url: string;
  isComplete: boolean;
  secret?: string | undefined;
}

const Webhooks = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      endpoint: z.string(),
      events: z.array(z.string()).nullable(),
      status: z.string(),
    }),
  ),
});
const Secret = z.object({ signing_secret: z.string().min(1).optional() });
const CreatedWebhook = z.object({ id: z.string(), signing_secret: z.string().min(1) });

const DomainRecord = z.object({
  record: z.string(),
  name: z.string(),
  type: z.string(),
  value: z.string(),
});
const Domain = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  records: z.array(DomainRecord).default([]),
});

export const resend: Connector<Credentials> = {
  hasOwnSecret: false,
  links: {
    account: "https://resend.com/settings/usage",
    webhook: "https://resend.com/webhooks",
    domain: "https://resend.com/domains",
  },
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  readAccount: async () => ({ code: "account_known" }),
  async connectWebhook(account) {
    const { api, webhook } = account;
    const listUrl = `${apiUrl}/webhooks`;
    const { data } = readBody(Webhooks, await api({ url: `${listUrl}?limit=100` }));
    const remove = ({ id }: Webhook) => api({ method: "DELETE", url: `${listUrl}/${id}` });
    const { kept, code } = await ensureWebhook<Webhook>(webhook, {
      existing: data.map((one) => ({
        id: one.id,
        url: one.endpoint,
        isComplete: one.status === "enabled" && events.every((name) => one.events?.includes(name)),
      })),
      isComplete: (one) => one.isComplete,
      create: () => createWebhook(account),
      update: async (one) => {
        const body = { endpoint: webhook.url, events, status: "enabled" };
        await api({ method: "PATCH", url: `${listUrl}/${one.id}`, body });
        return one;
      },
      remove,
    });
    if (kept.secret) return { code, secret: kept.secret };
    const response = await api({ url: `${listUrl}/${kept.id}` });
    const { signing_secret: secret } = readBody(Secret, response);
    if (secret) return { code, secret };
    if (webhook.secret) return { code };
    // The secret was shown once, and nobody stored it.
    await remove(kept);
    return { code: "webhook_created", secret: (await createWebhook(account)).secret };
  },
  async connectDomain({ api }, domain) {
    const listUrl = `${apiUrl}/domains`;
    const { data } = readBody(
      z.object({ data: z.array(Domain) }),
      await api({ url: `${listUrl}?limit=100` }),
    );
    const found = data.find(({ name }) => name === domain);
    if (!found) {
      const body = { name: domain };
      const added = readBody(Domain, await api({ method: "POST", url: listUrl, body }));
      return { code: "domain_added", records: toRecords(added) };
    }
    const url = `${listUrl}/${found.id}`;
    if (found.status !== "verified" && found.status !== "pending")
      await api({ method: "POST", url: `${url}/verify`, body: {} });
    const checked = readBody(Domain, await api({ url }));
    const isVerified = checked.status === "verified";
    return {
      code: isVerified ? "domain_verified" : "domain_unverified",
      records: toRecords(checked),
    };
  },
  suppressionList: {
    async readPage({ api }, cursor) {
      const query = new URLSearchParams({ limit: "100", ...(cursor && { after: cursor }) });
      const { data, has_more } = readBody(
        Listed,
        await api({ url: `${apiUrl}/suppressions?${query}` }),
      );
      return {
        addresses: data.map(({ email, origin }) => ({
          email,
          reason: reasons[origin] ?? "unsubscribe",
        })),
        next: has_more ? data.at(-1)?.id : undefined,
      };
    },
    remove: ({ api }, email) =>
      api({
        method: "DELETE",
        url: `${apiUrl}/suppressions/${encodeURIComponent(email)}`,
        accepts: [404],
      }),
  },
};

const Listed = z.object({
  has_more: z.boolean().default(false),
  data: z.array(z.object({ id: z.string(), email: z.string(), origin: z.string() })),
});
/** Other origins are addresses that a person suppressed. */
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  bounce: "bounce",
  complaint: "spam_report",
};

async function createWebhook({ api, webhook }: ConnectAccount<Credentials>): Promise<Webhook> {
  const body = { endpoint: webhook.url, events };
  const created = readBody(
    CreatedWebhook,
    await api({ method: "POST", url: `${apiUrl}/webhooks`, body }),
  );
  const { id, signing_secret: secret } = created;
  return { id, url: webhook.url, isComplete: true, secret };
}

/** Resend calls both records of the return path SPF. */
function toRecords({ name: domain, records }: z.output<typeof Domain>): ProviderRecord[] {
  return records.flatMap(({ record, name, type, value }) => {
    if (type !== "TXT" && type !== "CNAME" && type !== "MX") return [];
    const purpose = purposes[`${record} ${type}`] ?? purposes[record];
    return purpose ? [{ purpose, type, name: fullRecordName(name, domain), value }] : [];
  });
}

const purposes: Record<string, ProviderRecord["purpose"]> = {
  DKIM: "dkim",
  SPF: "spf",
  "SPF MX": "return_path",
  Tracking: "tracking",
};
