// SendGrid: event webhooks with their signature, domain authentication, credits
// (twilio.com/docs/sendgrid/api-reference).
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  ensureWebhook,
  listCursor,
  type ProviderRecord,
  readBody,
  readListCursor,
  shareOf,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
  region?: "global" | "eu" | undefined;
}
type Account = ConnectAccount<Credentials>;

const apiUrl = ({ credentials: { region } }: Account, path: string): string =>
  `https://${region === "eu" ? "api.eu.sendgrid.com" : "api.sendgrid.com"}/v3${path}`;

const eventNames = [
  "delivered",
  "open",
  "click",
  "bounce",
  "dropped",
  "deferred",
  "spam_report",
  "unsubscribe",
  "group_unsubscribe",
] as const;

const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  enabled: z.boolean(),
  public_key: z.string().nullish(),
  ...(Object.fromEntries(eventNames.map((name) => [name, z.boolean().optional()])) as Record<
    (typeof eventNames)[number],
    z.ZodOptional<z.ZodBoolean>
  >),
});
const Webhooks = z.object({ webhooks: z.array(Webhook).nullable() });
const Signed = z.object({ public_key: z.string().min(1) });

const Domain = z.object({
  id: z.number(),
  domain: z.string(),
  valid: z.boolean(),
  dns: z.record(z.string(), z.object({ type: z.string(), host: z.string(), data: z.string() })),
});
const Credits = z.object({ remain: z.number(), total: z.number() });

export const sendgrid: Connector<Credentials> = {
  hasOwnSecret: false,
  links: {
    account: "https://app.sendgrid.com/account/billing",
    webhook: "https://app.sendgrid.com/settings/mail_settings/webhook_settings",
    domain: "https://app.sendgrid.com/settings/sender_auth",
  },
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  async readAccount(account) {
    const url = apiUrl(account, "/user/credits");
    const credits = Credits.safeParse(
      (await account.api({ url, accepts: [401, 403, 404] })).json,
    ).data;
    if (!credits) return { code: "account_known" };
    const { remain, total } = credits;
    if (total > 0 && remain <= 0)
      return { code: "account_used_up", detail: shareOf(total - remain, total) };
    return { code: "account_active" };
  },
  async connectWebhook(account) {
    const { api, webhook } = account;
    const settingsUrl = apiUrl(account, "/user/webhooks/event/settings");
    const { webhooks } = readBody(Webhooks, await api({ url: `${settingsUrl}/all` }));
    const body = {
      url: webhook.url,
      enabled: true,
      friendly_name: "Pennymail",
      ...Object.fromEntries(eventNames.map((name) => [name, true])),
    };
    const { kept, code } = await ensureWebhook(webhook, {
      existing: webhooks ?? [],
      isComplete: (one) => one.enabled && eventNames.every((name) => one[name]),
      create: async () => readBody(Webhook, await api({ method: "POST", url: settingsUrl, body })),
      update: async ({ id }) =>
        readBody(Webhook, await api({ method: "PATCH", url: `${settingsUrl}/${id}`, body })),
      remove: ({ id }) => api({ method: "DELETE", url: `${settingsUrl}/${id}` }),
    });
    return { code, secret: kept.public_key || (await signEvents(account, kept.id)) };
  },
  async connectDomain(account, domain) {
    const { api } = account;
    const listUrl = apiUrl(account, "/whitelabel/domains");
    const query = new URLSearchParams({ domain, limit: "50" });
    const found = readBody(z.array(Domain), await api({ url: `${listUrl}?${query}` })).find(
      (one) => one.domain === domain,
    );
    if (found?.valid) return { code: "domain_verified", records: toRecords(found) };
    if (found) {
      const url = `${listUrl}/${found.id}/validate`;
      const { valid } = readBody(
        z.object({ valid: z.boolean() }),
        await api({ method: "POST", url, body: {} }),
      );
      return {
        code: valid ? "domain_verified" : "domain_unverified",
        records: toRecords(found),
      };
    }
    const body = { domain, automatic_security: true };
    const added = readBody(Domain, await api({ method: "POST", url: listUrl, body }));
    return { code: "domain_added", records: toRecords(added) };
  },
  suppressionList: {
    async readPage(account, cursor) {
      const { list, place, nextList } = readListCursor(cursor, Object.keys(lists));
      const { reason, path } = lists[list as keyof typeof lists];
      const offset = Number(place || 0);
      const query = new URLSearchParams({ limit: String(pageSize), offset: String(offset) });
      const rows = readBody(
        z.array(Listed),
        await account.api({ url: apiUrl(account, `${path}?${query}`) }),
      );
      const isFull = rows.length === pageSize;
      const next = isFull
        ? listCursor(list, offset + pageSize)
        : nextList && listCursor(nextList, 0);
      return {
        addresses: rows.map((row) => ({ email: row.email, reason, detail: row.reason })),
        next,
      };
    },
    remove: (account, email) =>
      Promise.all(
        Object.values(lists).map(({ removePath }) =>
          account.api({
            method: "DELETE",
            url: apiUrl(account, `${removePath}/${encodeURIComponent(email)}`),
            accepts: [404],
          }),
        ),
      ),
  },
};

const pageSize = 500;
const Listed = z.object({ email: z.string(), reason: z.string().optional() });
const lists = {
  bounces: {
    reason: "bounce",
    path: "/suppression/bounces",
    removePath: "/suppression/bounces",
  },
  spam: {
    reason: "spam_report",
    path: "/suppression/spam_reports",
    removePath: "/suppression/spam_reports",
  },
  unsubscribes: {
    reason: "unsubscribe",
    path: "/suppression/unsubscribes",
    removePath: "/asm/suppressions/global",
  },
} as const;

/** Turns the signature on. Returns the key that verifies it. */
async function signEvents(account: Account, id: string): Promise<string> {
  const url = apiUrl(account, `/user/webhooks/event/settings/signed/${id}`);
  const body = { enabled: true };
  return readBody(Signed, await account.api({ method: "PATCH", url, body })).public_key;
}

const recordTypes: Record<string, ProviderRecord["type"]> = {
  cname: "CNAME",
  txt: "TXT",
  mx: "MX",
};

const purposeOf = (key: string): ProviderRecord["purpose"] => {
  if (key.includes("dkim")) return "dkim";
  return key.includes("spf") ? "spf" : "return_path";
};

const toRecords = ({ dns }: z.output<typeof Domain>): ProviderRecord[] =>
  Object.entries(dns).flatMap(([key, { type, host, data }]) => {
    const recordType = recordTypes[type.toLowerCase()];
    return recordType
      ? [{ purpose: purposeOf(key), type: recordType, name: host.toLowerCase(), value: data }]
      : [];
  });
