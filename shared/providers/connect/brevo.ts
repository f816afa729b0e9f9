// Brevo: transactional webhooks, domains, account (developers.brevo.com/reference). Most of these
// requests share a limit of 100 an hour.
import * as z from "zod";
import {
  type Connector,
  ensureWebhook,
  fullRecordName,
  type ProviderRecord,
  readBody,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
}

const apiUrl = "https://api.brevo.com/v3";

const events = [
  "delivered",
  "hardBounce",
  "softBounce",
  "blocked",
  "spam",
  "invalid",
  "deferred",
  "click",
  "opened",
  "unsubscribed",
];

const Webhook = z.object({
  id: z.number(),
  url: z.string(),
  events: z.array(z.string()).default([]),
});
type Webhook = z.output<typeof Webhook>;
const Webhooks = z.object({ webhooks: z.array(Webhook) });

const Account = z.object({
  plan: z
    .array(z.object({ type: z.string(), creditsType: z.string(), credits: z.number() }))
    .default([]),
  relay: z.object({ enabled: z.boolean() }).optional(),
});

const DnsRecord = z.object({ type: z.string(), value: z.string(), host_name: z.string() });
const Domain = z.object({
  authenticated: z.boolean().default(false),
  dns_records: z.record(z.string(), z.unknown()).default({}),
});

export const brevo: Connector<Credentials> = {
  hasOwnSecret: true,
  links: {
    account: "https://app.brevo.com/account/plan-and-payment",
    webhook: "https://app-smtp.brevo.com/webhook",
    domain: "https://app.brevo.com/senders/domain/list",
  },
  headers: ({ apiKey }) => ({ "api-key": apiKey }),
  async readAccount({ api }) {
    const { plan, relay } = readBody(Account, await api({ url: `${apiUrl}/account` }));
    if (relay && !relay.enabled)
      return { code: "account_paused", detail: "transactional email is not activated yet" };
    const limited = plan.filter(({ creditsType }) => creditsType === "sendLimit");
    return limited.length > 0 && limited.every(({ credits }) => credits <= 0)
      ? { code: "account_used_up", detail: "no credits are left" }
      : { code: "account_active" };
  },
  async connectWebhook({ api, webhook }) {
    const listUrl = `${apiUrl}/webhooks`;
    // Without any webhook, Brevo responds with 404.
    const listed = await api({ url: `${listUrl}?type=transactional`, accepts: [404] });
    const existing = listed.status === 404 ? [] : readBody(Webhooks, listed).webhooks;
    const body = { url: webhook.url, description: "Pennymail", events };
    const { code } = await ensureWebhook<Webhook>(webhook, {
      existing,
      isComplete: (one) =>
        one.url === webhook.url && events.every((name) => hasEvent(one.events, name)),
      async create() {
        const created = await api({
          method: "POST",
          url: listUrl,
          body: { ...body, type: "transactional" },
        });
        const { id } = readBody(z.object({ id: z.number() }), created);
        return { id, url: webhook.url, events };
      },
      async update(one) {
        await api({ method: "PUT", url: `${listUrl}/${one.id}`, body });
        return one;
      },
      remove: ({ id }) => api({ method: "DELETE", url: `${listUrl}/${id}` }),
    });
    return { code };
  },
  async connectDomain({ api }, domain) {
    const listUrl = `${apiUrl}/senders/domains`;
    const url = `${listUrl}/${domain}`;
    const response = await api({ url, accepts: [404] });
    if (response.status === 404) {
      const added = await api({ method: "POST", url: listUrl, body: { name: domain } });
      return { code: "domain_added", records: toRecords(domain, readBody(Domain, added)) };
    }
    const found = readBody(Domain, response);
    const records = toRecords(domain, found);
    if (found.authenticated) return { code: "domain_verified", records };
    // 400: the DNS records are not there yet.
    const { status } = await api({ method: "PUT", url: `${url}/authenticate`, accepts: [400] });
    return { code: status < 400 ? "domain_verified" : "domain_unverified", records };
  },
  suppressionList: {
    async readPage({ api }, cursor) {
      const offset = Number(cursor ?? 0);
      const query = new URLSearchParams({ limit: String(pageSize), offset: String(offset) });
      const { contacts } = readBody(
        Listed,
        await api({ url: `${apiUrl}/smtp/blockedContacts?${query}` }),
      );
      return {
        addresses: contacts.map(({ email, reason }) => ({
          email,
          reason: reasons[reason?.code ?? ""] ?? "unsubscribe",
          detail: reason?.message,
        })),
        next: contacts.length === pageSize ? String(offset + pageSize) : undefined,
      };
    },
    remove: ({ api }, email) =>
      api({
        method: "DELETE",
        url: `${apiUrl}/smtp/blockedContacts/${encodeURIComponent(email)}`,
        accepts: [404],
      }),
  },
};

const pageSize = 100;
const Listed = z.object({
  contacts: z
    .array(
      z.object({
        email: z.string(),
        reason: z.object({ code: z.string(), message: z.string().optional() }).optional(),
      }),
    )
    .default([]),
});
/** Other codes are unsubscriptions, and addresses that a person blocked. */
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  hardBounce: "bounce",
  contactFlaggedAsSpam: "spam_report",
};

/** Some events have another name in responses: `uniqueOpened` stands for `opened`. */
const hasEvent = (names: string[], name: string): boolean =>
  names.some((one) => one.toLowerCase() === name.toLowerCase());

/** The key names the record: dkim_record, dkim1Record, brevo_code, dmarc_record. */
function toRecords(domain: string, { dns_records }: z.output<typeof Domain>): ProviderRecord[] {
  return Object.entries(dns_records).flatMap(([key, value]) => {
    const record = DnsRecord.safeParse(value).data;
    if (!record || (record.type !== "TXT" && record.type !== "CNAME")) return [];
    if (/dmarc/i.test(key)) return [];
    return [
      {
        purpose: /dkim/i.test(key) ? "dkim" : "verification",
        type: record.type,
        name: fullRecordName(record.host_name, domain),
        value: record.value,
      },
    ];
  });
}
