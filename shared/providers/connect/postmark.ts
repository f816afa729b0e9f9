// Postmark: webhooks of the message stream (postmarkapp.com/developer/api/webhooks-api). Domains
// need the token of the account (developer/api/domains-api), which a server token does not replace.
import * as z from "zod";
import {
  ConnectFailure,
  type Connector,
  ensureWebhook,
  type ProviderApi,
  type ProviderRecord,
  readBody,
} from "./connector.ts";

interface Credentials {
  apiKey: string;
  messageStream?: string | undefined;
  accountToken?: string | undefined;
}

const apiUrl = "https://api.postmarkapp.com";

const triggerNames = [
  "Open",
  "Click",
  "Delivery",
  "Bounce",
  "SpamComplaint",
  "SubscriptionChange",
] as const;

const Webhook = z
  .object({
    ID: z.number(),
    Url: z.string(),
    Triggers: z.record(z.string(), z.object({ Enabled: z.boolean() }).optional()),
  })
  .transform(({ ID, Url, Triggers }) => ({ id: ID, url: Url, triggers: Triggers }));

const triggers = {
  Open: { Enabled: true, PostFirstOpenOnly: false },
  Click: { Enabled: true },
  Delivery: { Enabled: true },
  Bounce: { Enabled: true, IncludeContent: false },
  SpamComplaint: { Enabled: true, IncludeContent: false },
  SubscriptionChange: { Enabled: true },
};

export const postmark: Connector<Credentials> = {
  hasOwnSecret: true,
  links: {
    account: "https://account.postmarkapp.com/servers",
    webhook: "https://account.postmarkapp.com/servers",
    domain: "https://account.postmarkapp.com/signature_domains",
  },
  headers: ({ apiKey }) => ({ "x-postmark-server-token": apiKey }),
  async readAccount({ api }) {
    const { DeliveryType } = readBody(
      z.object({ DeliveryType: z.string().optional() }),
      await api({ url: `${apiUrl}/server` }),
    );
    return DeliveryType === "Sandbox"
      ? { code: "account_restricted", detail: "the server is a sandbox, which delivers nothing" }
      : { code: "account_active" };
  },
  async connectWebhook({ api, webhook, credentials: { messageStream = "outbound" } }) {
    const listUrl = `${apiUrl}/webhooks`;
    const query = new URLSearchParams({ MessageStream: messageStream });
    const { Webhooks } = readBody(
      z.object({ Webhooks: z.array(Webhook) }),
      await api({ url: `${listUrl}?${query}` }),
    );
    const body = { Url: webhook.url, Triggers: triggers };
    const { code } = await ensureWebhook(webhook, {
      existing: Webhooks,
      isComplete: (one) =>
        one.url === webhook.url && triggerNames.every((name) => one.triggers[name]?.Enabled),
      create: async () =>
        readBody(
          Webhook,
          await api({
            method: "POST",
            url: listUrl,
            body: { ...body, MessageStream: messageStream },
          }),
        ),
      update: async ({ id }) =>
        readBody(Webhook, await api({ method: "PUT", url: `${listUrl}/${id}`, body })),
      remove: ({ id }) => api({ method: "DELETE", url: `${listUrl}/${id}` }),
    });
    return { code };
  },
  async connectDomain(account, domain) {
    const { accountToken } = account.credentials;
    if (accountToken === undefined) return { code: "domain_by_hand", detail: domain, records: [] };
    const api: ProviderApi = (request) =>
      account.api({ ...request, headers: { "x-postmark-account-token": accountToken } });
    const id = await findDomainId(api, domain);
    if (id === undefined) {
      const body = { Name: domain, ReturnPathDomain: `pm-bounces.${domain}` };
      const added = await api({ method: "POST", url: domainsUrl, body });
      return { code: "domain_added", records: toRecords(readBody(Domain, added)) };
    }
    const url = `${domainsUrl}/${id}`;
    let found = readBody(Domain, await api({ url }));
    if (!found.DKIMVerified)
      found = readBody(Domain, await api({ method: "PUT", url: `${url}/verifyDkim` }));
    if (!found.ReturnPathDomainVerified)
      found = readBody(Domain, await api({ method: "PUT", url: `${url}/verifyReturnPath` }));
    const isVerified = found.DKIMVerified && found.ReturnPathDomainVerified;
    return {
      code: isVerified ? "domain_verified" : "domain_unverified",
      records: toRecords(found),
    };
  },
  suppressionList: {
    // Postmark has one page.
    async readPage({ api, credentials }) {
      const { Suppressions } = readBody(
        Listed,
        await api({ url: `${listUrl(credentials)}/dump`, maxBytes: maxListBytes }),
      );
      return {
        addresses: Suppressions.map((one) => ({
          email: one.EmailAddress,
          reason: reasons[one.SuppressionReason] ?? "unsubscribe",
        })),
      };
    },
    async remove({ api, credentials }, email) {
      const response = await api({
        method: "POST",
        url: `${listUrl(credentials)}/delete`,
        body: { Suppressions: [{ EmailAddress: email }] },
      });
      // The status is 200 also if Postmark keeps it, such as after a complaint.
      const kept = readBody(Removed, response).Suppressions.find(
        ({ Status }) => Status === "Failed",
      );
      if (kept)
        throw new ConnectFailure({ code: "provider_failed", detail: kept.Message ?? kept.Status });
    },
  },
};

const domainsUrl = `${apiUrl}/domains`;
const domainsPerPage = 500;
const maxDomainPages = 10;

const DomainList = z.object({
  TotalCount: z.number(),
  Domains: z.array(z.object({ ID: z.number(), Name: z.string() })),
});
const Domain = z.object({
  Name: z.string(),
  DKIMVerified: z.boolean(),
  DKIMHost: z.string(),
  DKIMTextValue: z.string(),
  DKIMPendingHost: z.string(),
  DKIMPendingTextValue: z.string(),
  ReturnPathDomain: z.string(),
  ReturnPathDomainVerified: z.boolean(),
  ReturnPathDomainCNAMEValue: z.string(),
});

async function findDomainId(api: ProviderApi, domain: string): Promise<number | undefined> {
  for (let page = 0; page < maxDomainPages; page++) {
    const offset = page * domainsPerPage;
    const query = new URLSearchParams({ count: `${domainsPerPage}`, offset: `${offset}` });
    const { Domains, TotalCount } = readBody(
      DomainList,
      await api({ url: `${domainsUrl}?${query}` }),
    );
    const found = Domains.find(({ Name }) => Name === domain);
    if (found) return found.ID;
    if (offset + Domains.length >= TotalCount) break;
  }
  return undefined;
}

/** A new key waits under a host name of its own until DNS has it. */
function toRecords(domain: z.output<typeof Domain>): ProviderRecord[] {
  const { DKIMPendingHost, DKIMHost, ReturnPathDomain: returnPath } = domain;
  const dkim: ProviderRecord = {
    purpose: "dkim",
    type: "TXT",
    name: (DKIMPendingHost || DKIMHost).toLowerCase(),
    value: domain.DKIMPendingTextValue || domain.DKIMTextValue,
  };
  if (!returnPath) return [dkim];
  const value = domain.ReturnPathDomainCNAMEValue;
  return [dkim, { purpose: "return_path", type: "CNAME", name: returnPath.toLowerCase(), value }];
}

/** About 100,000 addresses. */
const maxListBytes = 16_000_000;
const listUrl = ({ messageStream = "outbound" }: Credentials): string =>
  `${apiUrl}/message-streams/${messageStream}/suppressions`;
const Listed = z.object({
  Suppressions: z.array(z.object({ EmailAddress: z.string(), SuppressionReason: z.string() })),
});
const Removed = z.object({
  Suppressions: z.array(z.object({ Status: z.string(), Message: z.string().nullish() })),
});
/** ManualSuppression: the recipient or the customer unsubscribed it. */
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  HardBounce: "bounce",
  SpamComplaint: "spam_report",
};
