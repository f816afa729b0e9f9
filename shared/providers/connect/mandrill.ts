// Mandrill: webhooks with their key, sender domains, account
// (mailchimp.com/developer/transactional/api). The API key stands in each body.
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  ensureWebhook,
  type ProviderRecord,
  readBody,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
}
type Account = ConnectAccount<Credentials>;

const events = [
  "delivered",
  "deferral",
  "hard_bounce",
  "soft_bounce",
  "open",
  "click",
  "spam",
  "unsub",
  "reject",
];

const Webhook = z.object({
  id: z.number(),
  url: z.string(),
  auth_key: z.string().min(1),
  events: z.array(z.string()).default([]),
});

const Domain = z.object({
  domain: z.string(),
  verified_at: z.string().nullish(),
  valid_signing: z.boolean().default(false),
  verify_txt_key: z.string().nullish(),
});
type Domain = z.output<typeof Domain>;

const call = ({ api, credentials }: Account, path: string, fields: object = {}) =>
  api({
    method: "POST",
    url: `https://mandrillapp.com/api/1.0${path}`,
    body: { key: credentials.apiKey, ...fields },
  });

export const mandrill: Connector<Credentials> = {
  hasOwnSecret: false,
  links: {
    account: "https://mandrillapp.com/settings",
    webhook: "https://mandrillapp.com/settings/webhooks",
    domain: "https://mandrillapp.com/settings/sending-domains",
  },
  headers: () => ({}),
  async readAccount(account) {
    const User = z.object({ reputation: z.number(), hourly_quota: z.number() });
    const user = readBody(User, await call(account, "/users/info"));
    return user.hourly_quota === 0
      ? {
          code: "account_paused",
          detail: `its hourly quota is 0, its reputation ${user.reputation}`,
        }
      : { code: "account_active" };
  },
  async connectWebhook(account) {
    const { webhook } = account;
    const existing = readBody(z.array(Webhook), await call(account, "/webhooks/list"));
    const fields = { url: webhook.url, description: "Pennymail", events };
    const { kept, code } = await ensureWebhook(webhook, {
      existing,
      isComplete: (one) => events.every((name) => one.events.includes(name)),
      create: async () => readBody(Webhook, await call(account, "/webhooks/add", fields)),
      update: async ({ id }) =>
        readBody(Webhook, await call(account, "/webhooks/update", { id, ...fields })),
      remove: ({ id }) => call(account, "/webhooks/delete", { id }),
    });
    return { code, secret: kept.auth_key };
  },
  async connectDomain(account, domain) {
    const listed = readBody(z.array(Domain), await call(account, "/senders/domains"));
    const found = listed.find((one) => one.domain === domain);
    if (!found) {
      const added = readBody(Domain, await call(account, "/senders/add-domain", { domain }));
      return { code: "domain_added", records: toRecords(added) };
    }
    const checked = isReady(found)
      ? found
      : readBody(Domain, await call(account, "/senders/check-domain", { domain }));
    return {
      code: isReady(checked) ? "domain_verified" : "domain_unverified",
      records: toRecords({ ...found, ...checked }),
    };
  },
  suppressionList: {
    // Mandrill returns at most 1,000 addresses, the newest first.
    async readPage(account) {
      const listed = readBody(
        z.array(Listed),
        await call(account, "/rejects/list", { include_expired: false }),
      );
      return {
        addresses: listed.flatMap(({ email, reason, detail }) => {
          const known = reasons[reason];
          return known ? [{ email, reason: known, detail: detail ?? undefined }] : [];
        }),
      };
    },
    remove: (account, email) => call(account, "/rejects/delete", { email }),
  },
};

const Listed = z.object({ email: z.string(), reason: z.string(), detail: z.string().nullish() });
/** Soft bounces end by themselves, and custom entries are for one sender. */
const reasons: Partial<Record<string, "bounce" | "spam_report" | "unsubscribe">> = {
  "hard-bounce": "bounce",
  spam: "spam_report",
  unsub: "unsubscribe",
};

const isReady = ({ valid_signing, verified_at }: Domain): boolean =>
  valid_signing && Boolean(verified_at);

/** The targets of the keys are the same for all accounts. */
const toRecords = ({ domain, verify_txt_key: token }: Domain): ProviderRecord[] => [
  ...[1, 2].map(
    (n): ProviderRecord => ({
      purpose: "dkim",
      type: "CNAME",
      name: `mte${n}._domainkey.${domain}`,
      value: `dkim${n}.mandrillapp.com`,
    }),
  ),
  ...(token
    ? [
        {
          purpose: "verification" as const,
          type: "TXT" as const,
          name: domain,
          value: `mandrill_verify.${token.replace(/^mandrill_verify\./, "")}`,
        },
      ]
    : []),
];
