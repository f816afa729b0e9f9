// Mailjet: one callback URL for each event, sender domains with their DNS records
// (dev.mailjet.com/email/reference).
import * as z from "zod";
import {
  type ConnectAccount,
  type Connector,
  fullRecordName,
  isOurs,
  type ProviderRecord,
  readBody,
} from "./connector.ts";
import type { StepOutcome } from "./outcomes.ts";

interface Credentials {
  apiKey: string;
  secretKey: string;
  region?: "global" | "us" | undefined;
}
type Account = ConnectAccount<Credentials>;

const apiUrl = ({ credentials: { region } }: Account, path: string): string =>
  `https://${region === "us" ? "api.us.mailjet.com" : "api.mailjet.com"}/v3/REST${path}`;

const events = ["sent", "open", "click", "bounce", "blocked", "spam", "unsub"];

const Callback = z.object({
  ID: z.number(),
  EventType: z.string(),
  Url: z.string(),
  Version: z.number().optional(),
  IsBackup: z.boolean().default(false),
  Status: z.string().optional(),
});
const Callbacks = z.object({ Data: z.array(Callback) });

const Senders = z.object({
  Data: z.array(z.object({ ID: z.number(), Email: z.string(), Status: z.string() })),
});
const Dns = z.object({
  Data: z
    .array(
      z.object({
        ID: z.number(),
        DKIMRecordName: z.string(),
        DKIMRecordValue: z.string(),
        DKIMStatus: z.string().optional(),
        OwnerShipToken: z.string(),
        OwnerShipTokenRecordName: z.string(),
        SPFRecordValue: z.string(),
      }),
    )
    .min(1),
});
type Dns = z.output<typeof Dns>["Data"][number];

export const mailjet: Connector<Credentials> = {
  hasOwnSecret: true,
  links: {
    account: "https://app.mailjet.com/subscription",
    webhook: "https://app.mailjet.com/account/triggers",
    domain: "https://app.mailjet.com/account/sender",
  },
  headers: ({ apiKey, secretKey }) => ({
    authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`,
  }),
  async readAccount(account) {
    const url = apiUrl(account, `/apikey/${account.credentials.apiKey}`);
    const response = await account.api({ url, accepts: [401, 403, 404] });
    const Key = z.object({
      Data: z.array(
        z.object({ IsActive: z.boolean().optional(), RunLevel: z.string().optional() }),
      ),
    });
    const key = Key.safeParse(response.json).data?.Data[0];
    if (!key) return { code: "account_known" };
    if (key.IsActive === false) return { code: "account_paused", detail: "the key is not active" };
    return key.RunLevel === "Softlock" || key.RunLevel === "Hardlock"
      ? { code: "account_paused", detail: `its run level is ${key.RunLevel}` }
      : { code: "account_active" };
  },
  async connectWebhook(account) {
    const { api, webhook } = account;
    const listUrl = apiUrl(account, "/eventcallbackurl");
    const { Data } = readBody(Callbacks, await api({ url: `${listUrl}?Limit=100` }));
    const current = new Map(
      Data.filter(({ IsBackup }) => !IsBackup).map((one) => [one.EventType, one]),
    );
    // Mailjet calls one address for each event.
    const taken = events.filter((name) => {
      const found = current.get(name);
      return found && !isOurs(found.Url, webhook);
    });
    if (taken.length) return { code: "webhook_taken", detail: taken.join(", ") };
    const outcomes = await Promise.all(
      events.map((name) => ensureCallback(account, name, current.get(name))),
    );
    if (outcomes.every((outcome) => outcome === "exists")) return { code: "webhook_exists" };
    return {
      code: outcomes.every((outcome) => outcome === "created")
        ? "webhook_created"
        : "webhook_updated",
    };
  },
  async connectDomain(account, domain) {
    const { api } = account;
    const email = `*@${domain}`;
    const senderUrl = apiUrl(account, "/sender");
    const query = new URLSearchParams({ Domain: domain, Limit: "100" });
    const { Data } = readBody(Senders, await api({ url: `${senderUrl}?${query}` }));
    const found = Data.find((one) => one.Email.toLowerCase() === email);
    if (!found) await api({ method: "POST", url: senderUrl, body: { Email: email } });
    const dnsUrl = apiUrl(account, `/dns/${domain}`);
    const dns = readBody(Dns, await api({ url: dnsUrl })).Data[0]!;
    const records = toRecords(domain, dns);
    if (!found) return { code: "domain_added", records };
    return { ...(await checkDomain(account, { sender: found, dns })), records };
  },
};

async function ensureCallback(
  { api, webhook, ...account }: Account,
  EventType: string,
  found: z.output<typeof Callback> | undefined,
): Promise<"exists" | "created" | "updated"> {
  const listUrl = apiUrl({ api, webhook, ...account }, "/eventcallbackurl");
  const body = { Url: webhook.url, Version: 2 };
  if (found?.Url === webhook.url && found.Status !== "dead") return "exists";
  if (found) {
    await api({ method: "PUT", url: `${listUrl}/${found.ID}`, body: { ...body, Status: "alive" } });
    return "updated";
  }
  await api({ method: "POST", url: listUrl, body: { EventType, ...body, IsBackup: false } });
  return "created";
}

/** Asks Mailjet to look at DNS, unless all is well already. */
async function checkDomain(
  account: Account,
  { sender, dns }: { sender: { ID: number; Status: string }; dns: Dns },
): Promise<StepOutcome> {
  if (sender.Status === "Active" && dns.DKIMStatus === "OK") return { code: "domain_verified" };
  const validateUrl = apiUrl(account, `/sender/${sender.ID}/validate`);
  const checkUrl = apiUrl(account, `/dns/${dns.ID}/check`);
  // 400: the DNS records are not there yet.
  const [validated, checked] = await Promise.all([
    account.api({ method: "POST", url: validateUrl, body: {}, accepts: [400] }),
    account.api({ method: "POST", url: checkUrl, body: {}, accepts: [400] }),
  ]);
  const Checked = z.object({ Data: z.array(z.object({ DKIMStatus: z.string().optional() })) });
  const status = Checked.safeParse(checked.json).data?.Data[0]?.DKIMStatus;
  const isVerified = validated.status < 400 && status === "OK";
  return { code: isVerified ? "domain_verified" : "domain_unverified" };
}

const toRecords = (domain: string, dns: Dns): ProviderRecord[] => [
  {
    purpose: "dkim",
    type: "TXT",
    name: fullRecordName(dns.DKIMRecordName, domain),
    value: dns.DKIMRecordValue,
  },
  {
    purpose: "verification",
    type: "TXT",
    name: fullRecordName(dns.OwnerShipTokenRecordName, domain),
    value: dns.OwnerShipToken,
  },
  { purpose: "spf", type: "TXT", name: domain, value: dns.SPFRecordValue },
];
