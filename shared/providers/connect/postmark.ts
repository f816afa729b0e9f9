// Postmark: webhooks of the message stream (postmarkapp.com/developer/api/webhooks-api). Domains
// need the token of the account, which a server token does not replace.
import * as z from "zod";
import { type Connector, ensureWebhook, readBody } from "./connector.ts";

interface Credentials {
  apiKey: string;
  messageStream?: string | undefined;
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
  connectDomain: async (_, domain) => ({ code: "domain_by_hand", detail: domain, records: [] }),
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
    remove: ({ api, credentials }, email) =>
      api({
        method: "POST",
        url: `${listUrl(credentials)}/delete`,
        body: { Suppressions: [{ EmailAddress: email }] },
      }),
  },
};

/** About 100,000 addresses. */
const maxListBytes = 16_000_000;
const listUrl = ({ messageStream = "outbound" }: Credentials): string =>
  `${apiUrl}/message-streams/${messageStream}/suppressions`;
const Listed = z.object({
  Suppressions: z.array(z.object({ EmailAddress: z.string(), SuppressionReason: z.string() })),
});
/** ManualSuppression: the recipient or the customer unsubscribed it. */
const reasons: Partial<Record<string, "bounce" | "spam_report">> = {
  HardBounce: "bounce",
  SpamComplaint: "spam_report",
};
