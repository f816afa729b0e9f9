// Amazon SES: configuration set with an event destination, SNS topic with a subscription to our
// address, identity with DKIM and MAIL FROM (docs.aws.amazon.com/ses, API v2, and
// docs.aws.amazon.com/sns, query API). The names of what is created derive from the address of the
// config, so that a repeated run finds it.
import * as z from "zod";
import * as clock from "../../clock.ts";
import type { ProviderResponse } from "../provider-http.ts";
import { apiUrl, type SesCredentials, signRequest } from "../ses.ts";
import {
  type ConnectAccount,
  ConnectFailure,
  type Connector,
  isOurs,
  type ProviderRecord,
  readBody,
  shareOf,
} from "./connector.ts";

type Account = ConnectAccount<SesCredentials>;

const guideUrl = "https://docs.aws.amazon.com/ses/latest/dg";

const eventTypes = [
  "REJECT",
  "BOUNCE",
  "COMPLAINT",
  "DELIVERY",
  "OPEN",
  "CLICK",
  "RENDERING_FAILURE",
  "DELIVERY_DELAY",
  "SUBSCRIPTION",
];

const SesAccount = z.object({
  SendingEnabled: z.boolean().default(true),
  ProductionAccessEnabled: z.boolean().default(true),
  EnforcementStatus: z.string().default("HEALTHY"),
  SendQuota: z
    .object({ Max24HourSend: z.number(), SentLast24Hours: z.number() })
    .default({ Max24HourSend: -1, SentLast24Hours: 0 }),
});

const Destination = z.object({
  Name: z.string(),
  Enabled: z.boolean().default(false),
  MatchingEventTypes: z.array(z.string()).default([]),
  SnsDestination: z.object({ TopicArn: z.string() }).optional(),
});
type Destination = z.output<typeof Destination>;
const Destinations = z.object({ EventDestinations: z.array(Destination).default([]) });

const Identity = z.object({
  VerifiedForSendingStatus: z.boolean().default(false),
  DkimAttributes: z
    .object({
      Tokens: z.array(z.string()).default([]),
      SigningHostedZone: z.string().optional(),
    })
    .optional(),
  MailFromAttributes: z.object({ MailFromDomain: z.string().optional() }).optional(),
});

export const ses: Connector<SesCredentials> = {
  hasOwnSecret: true,
  links: {
    account: `${guideUrl}/request-production-access.html`,
    webhook: `${guideUrl}/monitor-using-event-publishing-setup.html`,
    domain: `${guideUrl}/creating-identities.html`,
  },
  // Each request is signed.
  headers: () => ({}),
  async readAccount(account) {
    const response = await callSes(account, { path: "/account", accepts: [403] });
    if (response.status === 403) return { code: "account_known" };
    const { SendingEnabled, ProductionAccessEnabled, EnforcementStatus, SendQuota } = readBody(
      SesAccount,
      response,
    );
    if (!SendingEnabled || EnforcementStatus === "SHUTDOWN")
      return { code: "account_paused", detail: "AWS has paused its sending" };
    if (!ProductionAccessEnabled)
      return {
        code: "account_restricted",
        detail: "it is in the sandbox of SES, which reaches verified addresses only",
      };
    const { Max24HourSend: max, SentLast24Hours: sent } = SendQuota;
    if (max >= 0 && sent >= max) return { code: "account_used_up", detail: shareOf(sent, max) };
    return { code: "account_active" };
  },
  async connectWebhook(account) {
    const set = account.credentials.configurationSet ?? account.webhook.name;
    const hasNewSet = await ensureConfigurationSet(account, set);
    const destinationsPath = `/configuration-sets/${set}/event-destinations`;
    const { EventDestinations: destinations } = readBody(
      Destinations,
      await callSes(account, { path: destinationsPath }),
    );
    const topic = await chooseTopic(account, destinations);
    const hasNewPolicy = await ensurePolicy(account, topic);
    const hasNewDestination = await ensureDestination(account, {
      path: destinationsPath,
      found: destinations.find(({ SnsDestination }) => SnsDestination?.TopicArn === topic),
      topic,
    });
    const subscription = await ensureSubscription(account, topic);
    const credentials =
      account.credentials.configurationSet === undefined ? { configurationSet: set } : {};
    const isChanged = hasNewSet || hasNewPolicy || hasNewDestination;
    if (subscription === "created" || isChanged) return { code: "webhook_created", credentials };
    const isConfirmed = subscription === "confirmed";
    return { code: isConfirmed ? "webhook_exists" : "webhook_unconfirmed", credentials };
  },
  async connectDomain(account, domain) {
    const path = `/identities/${domain}`;
    const response = await callSes(account, { path, accepts: [404] });
    const isNew = response.status === 404;
    if (isNew)
      await callSes(account, {
        method: "POST",
        path: "/identities",
        body: { EmailIdentity: domain },
      });
    const identity = readBody(Identity, isNew ? await callSes(account, { path }) : response);
    const mailFrom = identity.MailFromAttributes?.MailFromDomain ?? `bounces.${domain}`;
    if (!identity.MailFromAttributes?.MailFromDomain)
      await callSes(account, {
        method: "PUT",
        path: `${path}/mail-from`,
        body: { MailFromDomain: mailFrom, BehaviorOnMxFailure: "USE_DEFAULT_VALUE" },
      });
    const records = [
      ...dkimRecords(identity, domain),
      ...mailFromRecords(mailFrom, account.credentials),
    ];
    if (isNew) return { code: "domain_added", records };
    const isVerified = identity.VerifiedForSendingStatus;
    return { code: isVerified ? "domain_verified" : "domain_unverified", records };
  },
  suppressionList: {
    async readPage(account, cursor) {
      const query = new URLSearchParams({ PageSize: "1000", ...(cursor && { NextToken: cursor }) });
      const page = readBody(
        Listed,
        await callSes(account, { path: `/suppression/addresses?${query}` }),
      );
      return {
        addresses: page.SuppressedDestinationSummaries.map(({ EmailAddress, Reason }) => ({
          email: EmailAddress,
          reason: Reason === "COMPLAINT" ? "spam_report" : "bounce",
        })),
        next: page.NextToken ?? undefined,
      };
    },
    remove: (account, email) =>
      callSes(account, {
        method: "DELETE",
        path: `/suppression/addresses/${encodeURIComponent(email)}`,
        accepts: [404],
      }),
  },
};

const Listed = z.object({
  SuppressedDestinationSummaries: z
    .array(z.object({ EmailAddress: z.string(), Reason: z.string() }))
    .default([]),
  NextToken: z.string().nullish(),
});

const dkimRecords = (
  { DkimAttributes }: z.output<typeof Identity>,
  domain: string,
): ProviderRecord[] =>
  (DkimAttributes?.Tokens ?? []).map((token) => ({
    purpose: "dkim",
    type: "CNAME",
    name: `${token}._domainkey.${domain}`,
    value: `${token}.${DkimAttributes?.SigningHostedZone ?? "dkim.amazonses.com"}`,
  }));

const mailFromRecords = (name: string, { region }: SesCredentials): ProviderRecord[] => [
  { purpose: "return_path", type: "MX", name, value: `feedback-smtp.${region}.amazonses.com` },
  { purpose: "spf", type: "TXT", name, value: "v=spf1 include:amazonses.com ~all" },
];

// SES

interface SesRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: object;
  accepts?: number[];
}

async function callSes(
  { api, credentials: keys }: Account,
  { method = "GET", path, body, accepts = [] }: SesRequest,
): Promise<ProviderResponse> {
  const url = `${apiUrl(keys)}${path}`;
  const text = body && JSON.stringify(body);
  const headers = await signRequest(url, text ?? "", { method, keys, at: clock.now() });
  return api({ method, url, headers, ...(text && { body: text }), accepts });
}

async function ensureConfigurationSet(account: Account, set: string): Promise<boolean> {
  const path = `/configuration-sets/${set}`;
  const { status } = await callSes(account, { path, accepts: [404] });
  if (status !== 404) return false;
  await callSes(account, {
    method: "POST",
    path: "/configuration-sets",
    body: { ConfigurationSetName: set },
  });
  return true;
}

/** The topic that the config knows, or that calls it already, or a new one. */
async function chooseTopic(account: Account, destinations: Destination[]): Promise<string> {
  const { webhook } = account;
  if (webhook.snsTopic) return webhook.snsTopic;
  const topics = destinations.flatMap(({ SnsDestination }) => SnsDestination?.TopicArn ?? []);
  for (const topic of new Set(topics)) {
    const subscriptions = await listSubscriptions(account, topic);
    if (subscriptions.some(({ endpoint }) => isOurs(endpoint, webhook))) return topic;
  }
  const response = await callSns(account, { Action: "CreateTopic", Name: webhook.name });
  return requireTag(response, "TopicArn");
}

async function ensureDestination(
  account: Account,
  { path, found, topic }: { path: string; found: Destination | undefined; topic: string },
): Promise<boolean> {
  const isComplete =
    found?.Enabled && eventTypes.every((type) => found.MatchingEventTypes.includes(type));
  if (isComplete) return false;
  const MatchingEventTypes = [...new Set([...(found?.MatchingEventTypes ?? []), ...eventTypes])];
  const destination = {
    Enabled: true,
    MatchingEventTypes,
    SnsDestination: { TopicArn: topic },
  };
  const name = found?.Name ?? account.webhook.name;
  await callSes(account, {
    method: found ? "PUT" : "POST",
    path: found ? `${path}/${name}` : path,
    body: { ...(!found && { EventDestinationName: name }), EventDestination: destination },
  });
  return true;
}

// SNS. Its responses are XML.

const formType = "application/x-www-form-urlencoded";

async function callSns(
  { api, credentials: keys }: Account,
  parameters: Record<string, string>,
): Promise<string> {
  const { region } = keys;
  const url = `https://sns.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/`;
  const body = new URLSearchParams({ ...parameters, Version: "2010-03-31" }).toString();
  const headers = await signRequest(url, body, {
    service: "sns",
    contentType: formType,
    keys,
    at: clock.now(),
  });
  const { text } = await api({ method: "POST", url, headers, body, accepts: [] });
  return text;
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"' };
const unescapeXml = (text: string): string =>
  text.replace(/&(#34|amp|lt|gt|quot);/g, (_, name: string) => entities[name]!);

const tagOf = (xml: string, tag: string): string | undefined => {
  const [, value] = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml) ?? [];
  return value === undefined ? undefined : unescapeXml(value);
};

function requireTag(xml: string, tag: string): string {
  const value = tagOf(xml, tag);
  if (value) return value;
  throw new ConnectFailure({ code: "provider_failed", detail: "the response cannot be read" });
}

/** Lets SES publish to the topic. A policy that names SES stays as it is. */
async function ensurePolicy(account: Account, topic: string): Promise<boolean> {
  const xml = await callSns(account, { Action: "GetTopicAttributes", TopicArn: topic });
  const attributes = new Map(
    [...xml.matchAll(/<key>([^<]*)<\/key>\s*<value>([^<]*)<\/value>/g)].map(([, key, value]) => [
      key!,
      unescapeXml(value!),
    ]),
  );
  const policy = attributes.get("Policy") ?? "";
  if (policy.includes("ses.amazonaws.com")) return false;
  const [, , , , owner = ""] = topic.split(":");
  const statement = {
    Sid: "PennymailEvents",
    Effect: "Allow",
    Principal: { Service: "ses.amazonaws.com" },
    Action: "SNS:Publish",
    Resource: topic,
    Condition: { StringEquals: { "AWS:SourceAccount": owner } },
  };
  await callSns(account, {
    Action: "SetTopicAttributes",
    TopicArn: topic,
    AttributeName: "Policy",
    AttributeValue: JSON.stringify(withStatement(policy, statement)),
  });
  return true;
}

const Policy = z.looseObject({ Statement: z.array(z.unknown()) });

function withStatement(policy: string, statement: object): object {
  try {
    const parsed = Policy.parse(JSON.parse(policy));
    return { ...parsed, Statement: [...parsed.Statement, statement] };
  } catch {
    return { Version: "2012-10-17", Statement: [statement] };
  }
}

interface Subscription {
  arn: string;
  endpoint: string;
}

async function listSubscriptions(account: Account, topic: string): Promise<Subscription[]> {
  const xml = await callSns(account, { Action: "ListSubscriptionsByTopic", TopicArn: topic });
  return [...xml.matchAll(/<member>([\s\S]*?)<\/member>/g)].map(([, member]) => ({
    arn: tagOf(member!, "SubscriptionArn") ?? "",
    endpoint: tagOf(member!, "Endpoint") ?? "",
  }));
}

/** SNS subscribes an address once, however often it is asked. */
async function ensureSubscription(
  account: Account,
  topic: string,
): Promise<"created" | "pending" | "confirmed"> {
  const { webhook } = account;
  const ours = (await listSubscriptions(account, topic)).filter(({ endpoint }) =>
    isOurs(endpoint, webhook),
  );
  // An address with an earlier secret only gets refusals.
  const outdated = ours.filter(
    ({ arn, endpoint }) => endpoint !== webhook.url && arn.startsWith("arn:"),
  );
  for (const { arn } of outdated)
    await callSns(account, { Action: "Unsubscribe", SubscriptionArn: arn });
  const found = ours.find(({ endpoint }) => endpoint === webhook.url);
  if (found?.arn.startsWith("arn:")) return "confirmed";
  // SNS asks a pending address again for its confirmation.
  await callSns(account, {
    Action: "Subscribe",
    TopicArn: topic,
    Protocol: webhook.url.startsWith("https:") ? "https" : "http",
    Endpoint: webhook.url,
    ReturnSubscriptionArn: "true",
  });
  return found ? "pending" : "created";
}
