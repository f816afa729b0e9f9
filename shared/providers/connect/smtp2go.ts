// SMTP2GO: webhooks, sender domains, quota (developers.smtp2go.com). All requests are POST.
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
  region?: "global" | "us" | "eu" | "au" | undefined;
}
type Account = ConnectAccount<Credentials>;

const events = ["delivered", "open", "click", "bounce", "spam", "unsubscribe", "reject"];
/** Without this header no event names its send. */
const sendIdHeader = "X-Send-Id";

const Webhook = z.object({
  id: z.number(),
  url: z.string(),
  events: z.array(z.string()).default([]),
  headers: z.array(z.string()).default([]),
});
/** One webhook can come without a list around it. */
const Webhooks = z.object({
  data: z.preprocess((value) => asList(value), z.array(Webhook)),
});
const StoredWebhook = z.object({ data: Webhook });

const asList = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return value && typeof value === "object" && "id" in value ? [value] : [];
};

const Domain = z.object({
  domain: z.object({
    fulldomain: z.string(),
    dkim_selector: z.string(),
    dkim_value: z.string(),
    dkim_verified: z.boolean().default(false),
    rpath_selector: z.string().nullish(),
    rpath_value: z.string().nullish(),
    rpath_verified: z.boolean().default(false),
  }),
  trackers: z
    .array(z.object({ fulldomain: z.string(), cname_value: z.string().nullish() }))
    .default([]),
});
const Domains = z.object({ data: z.object({ domains: z.array(Domain) }) });
const Cycle = z.object({ data: z.object({ cycle_used: z.number(), cycle_max: z.number() }) });

const hosts = {
  global: "api.smtp2go.com",
  us: "us-api.smtp2go.com",
  eu: "eu-api.smtp2go.com",
  au: "au-api.smtp2go.com",
};

const call = (
  { api, credentials: { region = "global" } }: Account,
  path: string,
  { body = {}, accepts = [] }: { body?: object; accepts?: number[] } = {},
) => api({ method: "POST", url: `https://${hosts[region]}/v3${path}`, body, accepts });

export const smtp2go: Connector<Credentials> = {
  hasOwnSecret: true,
  links: {
    account: "https://app.smtp2go.com/settings/billing/",
    webhook: "https://app.smtp2go.com/settings/webhooks/",
    domain: "https://app.smtp2go.com/sending/verified_senders/",
  },
  headers: ({ apiKey }) => ({ "x-smtp2go-api-key": apiKey }),
  async readAccount(account) {
    const response = await call(account, "/stats/email_cycle", { accepts: [400, 401, 403] });
    const { data } = Cycle.safeParse(response.json).data ?? {};
    if (!data) return { code: "account_known" };
    const { cycle_used: used, cycle_max: max } = data;
    return max > 0 && used >= max
      ? { code: "account_used_up", detail: shareOf(used, max) }
      : { code: "account_active" };
  },
  async connectWebhook(account) {
    const { webhook } = account;
    const { data: existing } = readBody(Webhooks, await call(account, "/webhook/view"));
    const body = { url: webhook.url, events, headers: [sendIdHeader], output_format: "json" };
    const { code } = await ensureWebhook(webhook, {
      existing,
      isComplete: (one) =>
        one.url === webhook.url &&
        events.every((name) => one.events.includes(name)) &&
        one.headers.some((name) => name.toLowerCase() === sendIdHeader.toLowerCase()),
      create: async () =>
        readBody(StoredWebhook, await call(account, "/webhook/add", { body })).data,
      update: async ({ id }) =>
        readBody(StoredWebhook, await call(account, "/webhook/edit", { body: { id, ...body } }))
          .data,
      remove: ({ id }) => call(account, "/webhook/remove", { body: { id } }),
    });
    return { code };
  },
  async connectDomain(account, domain) {
    const find = (response: Awaited<ReturnType<typeof call>>) =>
      readBody(Domains, response).data.domains.find((one) => one.domain.fulldomain === domain);
    const found = find(await call(account, "/domain/view"));
    if (!found) {
      const added = find(await call(account, "/domain/add", { body: { domain } }));
      return { code: "domain_added", records: added ? toRecords(added) : [] };
    }
    if (isVerified(found)) return { code: "domain_verified", records: toRecords(found) };
    const checked = find(await call(account, "/domain/verify", { body: { domain } })) ?? found;
    return {
      code: isVerified(checked) ? "domain_verified" : "domain_unverified",
      records: toRecords(checked),
    };
  },
  suppressionList: {
    async readPage(account, cursor) {
      const body = { start_date: firstDay, ...(cursor && { continue_token: cursor }) };
      const { data } = readBody(Listed, await call(account, "/suppression/view", { body }));
      return {
        // A domain can be suppressed, too.
        addresses: data.results
          .filter(({ email_address }) => email_address.includes("@"))
          .map(({ email_address, reason, block_description }) => ({
            email: email_address,
            reason: reasons[reason] ?? "unsubscribe",
            detail: block_description || undefined,
          })),
        next: data.continue_token ?? undefined,
      };
    },
    remove: (account, email) =>
      call(account, "/suppression/remove", {
        body: { email_address: email, reasons: ["manual", "spam", "unsubscribe", "bounce"] },
      }),
  },
};

/** Without it, only the last 30 days are listed. */
const firstDay = "2006-01-01T00:00:00Z";
const Listed = z.object({
  data: z.object({
    continue_token: z.string().nullish(),
    results: z.array(
      z.object({
        email_address: z.string(),
        reason: z.string(),
        block_description: z.string().nullish(),
      }),
    ),
  }),
});
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  bounce: "bounce",
  spam: "spam_report",
};

const isVerified = ({ domain }: z.output<typeof Domain>): boolean =>
  domain.dkim_verified && domain.rpath_verified;

function toRecords({ domain, trackers }: z.output<typeof Domain>): ProviderRecord[] {
  const { fulldomain, rpath_selector: rpath, rpath_value: rpathValue } = domain;
  return [
    {
      purpose: "dkim",
      type: "CNAME",
      name: `${domain.dkim_selector}._domainkey.${fulldomain}`,
      value: domain.dkim_value,
    },
    ...(rpath && rpathValue ? [cname("return_path", `${rpath}.${fulldomain}`, rpathValue)] : []),
    ...trackers.flatMap((one) =>
      one.cname_value ? [cname("tracking", one.fulldomain, one.cname_value)] : [],
    ),
  ];
}

const cname = (
  purpose: ProviderRecord["purpose"],
  name: string,
  value: string,
): ProviderRecord => ({ purpose, type: "CNAME", name, value });
