// Sets up the provider of a sending config by its API: webhook with its secret, domain of the
// sender with its DNS records. A repeated run, also after a crash at any line, finds what exists.
import { createHash } from "node:crypto";
import * as z from "zod";
import { present } from "../../adapters/dynamodb/conditions.ts";
import { get } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { config as settings } from "../../config.ts";
import { conflict, Problem } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import * as leases from "../../kernel/leases.ts";
import { findUrlFault } from "../../kernel/public-urls.ts";
import { keys } from "../../keys.ts";
import { checkCredentials } from "../../providers/check-credentials.ts";
import {
  type ConnectAccount,
  type Connector,
  createProviderApi,
  failureOf,
} from "../../providers/connect/connector.ts";
import { getConnector } from "../../providers/connect/lookup.ts";
import {
  type ConnectStep,
  connectStates,
  connectSteps,
  messageOf,
  outcomeCodes,
  type StepOutcome,
  stateOf,
} from "../../providers/connect/outcomes.ts";
import type { ProviderAdapter } from "../../providers/provider-adapter.ts";
import { getProvider } from "../../providers/registry.ts";
import { decryptCredentials, decryptWebhookSecret } from "./config-secrets.ts";
import * as domains from "./domains/domains.ts";
import { storeProviderRecords } from "./domains/provider-records.ts";
import type { SendingConfig } from "./sending-config-schema.ts";
import * as sendingConfigs from "./sending-configs.ts";
import { startPulls } from "./suppression-pull-times.ts";

const ConnectedStep = z
  .object({
    step: z
      .enum(connectSteps)
      .describe(
        "`account`: credentials and state of the account. `webhook`: the provider reports " +
          "events. `domain`: the provider knows the domain of `fromEmail`. `dns`: its records. " +
          "`events`: the provider has reported something. `suppressions`: its suppression list " +
          "is read every day; absent if it has no API for it.",
      ),
    state: z
      .enum(connectStates)
      .describe(
        "`done`: nothing to do. `created`: this request created or corrected it. `waiting`: it " +
          "comes by itself, or with the DNS records. `manual`: a person must do it, see " +
          "`message`. `failed`: see `message`, then try again.",
      ),
    code: z.enum(outcomeCodes).describe("How the step ended, for programs."),
    message: z.string().describe("How the step ended, for people, in English."),
    detail: z
      .string()
      .nullable()
      .describe("The part of `message` that differs, such as the provider's own words."),
    link: z
      .string()
      .nullable()
      .describe("Page of the provider where a person does the step, or `null`."),
  })
  .meta({ id: "ConnectedStep" });

export const ConnectedProvider = z.object({
  steps: z.array(ConnectedStep).describe("What was done, in order."),
  domain: domains.DomainDetail.nullable().describe(
    "Domain of `fromEmail`, with the DNS records of the provider and of the service in " +
      "`dnsRecords`. `null`: there is none yet.",
  ),
});
export type ConnectedProvider = z.output<typeof ConnectedProvider>;

/** Longer than a run: its last request starts at `runSeconds` and ends 7 seconds later. */
const leaseSeconds = 60;
const runSeconds = 14;

/**
 * Connects the provider and returns how each step ended. 409 while another request does so: two
 * could create the same twice.
 */
export async function connectProvider(caller: CallerScope, id: number): Promise<ConnectedProvider> {
  const config = await sendingConfigs.find(caller, id);
  const leased = await leases.take(keys.record(caller.orgId, "CONFIG", id), {
    seconds: leaseSeconds,
    if: present("id"),
  });
  if (!leased) throw conflict("The sending config is being connected already: wait a minute");
  try {
    return await connectLeased(caller, config, leased.lease);
  } finally {
    await leases.finish(leased.lease, {});
  }
}

interface Run {
  caller: CallerScope;
  config: SendingConfig;
  lease: leases.Lease;
  provider: ProviderAdapter;
  connector: Connector | undefined;
  account: ConnectAccount;
}

async function connectLeased(
  caller: CallerScope,
  config: SendingConfig,
  lease: leases.Lease,
): Promise<ConnectedProvider> {
  const run = await createRun(caller, config, lease);
  const account = await orFailure(() => readAccount(run));
  if (stateOf(account) === "failed") return toApi(run, { account }, undefined);
  const [webhook, { outcome: domain, domainId }] = await Promise.all([
    orFailure(() => connectWebhook(run)),
    connectDomain(run),
  ]);
  const detail = domainId ? await domains.checkNow(caller, domainId) : undefined;
  const stored = await sendingConfigs.find(caller, config.id);
  const suppressions = run.connector?.suppressionList && suppressionsOutcome(stored);
  if (suppressions && suppressions.code !== "suppressions_pulled")
    await startPulls(caller.orgId, stored);
  const events = stored.firstEventAt ? "events_received" : "events_missing";
  return toApi(
    run,
    {
      ...{ account, webhook, domain },
      ...(detail && { dns: dnsOutcome(config, detail) }),
      ...(run.connector && { events: { code: events } }),
      ...(suppressions && { suppressions }),
    },
    detail,
  );
}

async function createRun(
  caller: CallerScope,
  config: SendingConfig,
  lease: leases.Lease,
): Promise<Run> {
  const provider = getProvider(config.provider)!;
  const connector = getConnector(config.provider);
  const [decrypted, storedSecret, pointer] = await Promise.all([
    decryptCredentials(caller.orgId, config),
    decryptWebhookSecret(caller.orgId, config),
    get<{ source?: string }>(keys.inboundConfig(config.id)),
  ]);
  const credentials = decrypted as Record<string, string>;
  const secret =
    storedSecret ??
    (connector?.hasOwnSecret ? await storeNewSecret(caller, config, lease) : undefined);
  const headers = connector?.headers(credentials) ?? {};
  const api = createProviderApi(
    provider,
    { credentials, headers, webhookSecret: secret },
    addSeconds(runSeconds),
  );
  const bareUrl = sendingConfigs.webhookUrl(config) ?? "";
  const webhook = {
    url: bareUrl.replace("YOUR_SECRET", encodeURIComponent(secret ?? "")),
    secret,
    name: `pennymail-${shortHash(settings.publicUrl)}-${config.id}`,
    snsTopic: pointer?.source,
  };
  return { caller, config, lease, provider, connector, account: { credentials, api, webhook } };
}

const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);

/** Stored before the provider gets it, so that a crash in between leaves one secret. */
async function storeNewSecret(
  caller: CallerScope,
  config: SendingConfig,
  lease: leases.Lease,
): Promise<string> {
  const webhookSecret = randomBase62(32);
  await sendingConfigs.storeConnection(caller, config, { lease, webhookSecret });
  return webhookSecret;
}

async function orFailure(step: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await step();
  } catch (error) {
    const outcome = failureOf(error);
    if (outcome) return outcome;
    throw error;
  }
}

async function readAccount({ provider, connector, account }: Run): Promise<StepOutcome> {
  const check = await checkCredentials(provider, account.credentials as never);
  if (check.status === "refused") return { code: "key_refused", detail: check.error };
  if (check.status === "unknown") return { code: "no_answer" };
  return connector ? connector.readAccount(account) : { code: "login_accepted" };
}

async function connectWebhook(run: Run): Promise<StepOutcome> {
  const { caller, config, lease, connector, account } = run;
  const { url, secret: storedSecret } = account.webhook;
  if (!connector) return readBounceMailbox(caller, config);
  if (settings.providerUrl(config.provider) === undefined && findUrlFault(url, false))
    return { code: "not_public", detail: settings.publicUrl };
  const { secret, credentials, ...outcome } = await connector.connectWebhook(account);
  const hasNewSecret = secret !== undefined && secret !== storedSecret;
  const hasNewCredentials = credentials !== undefined && Object.keys(credentials).length > 0;
  if (hasNewSecret || hasNewCredentials)
    await sendingConfigs.storeConnection(caller, config, {
      lease,
      ...(hasNewSecret && { webhookSecret: secret }),
      ...(hasNewCredentials && { credentials: { ...account.credentials, ...credentials } }),
    });
  return outcome;
}

/** How an SMTP server reports bounces. */
async function readBounceMailbox(
  { orgId }: CallerScope,
  { id }: SendingConfig,
): Promise<StepOutcome> {
  const mailbox = await get<{ lastError?: string }>(keys.bounceMailbox(orgId, id));
  if (!mailbox) return { code: "no_webhooks" };
  const { lastError: detail } = mailbox;
  return detail === undefined ? { code: "bounces_read" } : { code: "bounces_failing", detail };
}

interface ConnectedDomain {
  outcome: StepOutcome;
  domainId: number | undefined;
}

/** Adds the domain of the sender here and at the provider. */
async function connectDomain(run: Run): Promise<ConnectedDomain> {
  const { caller, config, connector, account } = run;
  if (config.fromEmail === null) return { outcome: { code: "no_sender" }, domainId: undefined };
  let domain: domains.DomainDetail;
  try {
    domain = await domains.findOrAdd(caller, domainOf(config.fromEmail));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const outcome: StepOutcome = { code: "domain_not_added", detail: error.message };
    return { outcome, domainId: undefined };
  }
  if (!connector) return { outcome: { code: "domain_listed" }, domainId: domain.id };
  const outcome = await orFailure(async () => {
    const { records, ...rest } = await connector.connectDomain(account, domain.name);
    if (records.length)
      await storeProviderRecords(caller, domain.id, { provider: config.provider, records });
    return rest;
  });
  return { outcome, domainId: domain.id };
}

/** Records of other providers do not matter here. */
function dnsOutcome(config: SendingConfig, { dnsRecords }: domains.DomainDetail): StepOutcome {
  const missing = dnsRecords
    .filter(({ provider }) => provider === null || provider === config.provider)
    .flatMap(({ name, state }) => (name === null || state === "found" ? [] : [name]));
  if (missing.length === 0) return { code: "dns_found" };
  return { code: "dns_missing", detail: [...new Set(missing)].join(", ") };
}

/** How the latest pull ended. Pulls with other credentials do not count. */
function suppressionsOutcome({ suppressionPull: pull, revision }: SendingConfig): StepOutcome {
  if (pull?.revision !== revision) return { code: "suppressions_pending" };
  return pull.failure ?? { code: "suppressions_pulled", detail: pull.readAt };
}

const linkedSteps = ["account", "webhook", "domain"] as const;

function toApi(
  { provider, connector }: Run,
  outcomes: Partial<Record<ConnectStep, StepOutcome>>,
  domain: domains.DomainDetail | undefined,
): ConnectedProvider {
  const steps = connectSteps.flatMap((step) => {
    const outcome = outcomes[step];
    if (!outcome) return [];
    const state = stateOf(outcome);
    const link = linkedSteps.includes(step as never)
      ? connector?.links[step as keyof Connector["links"]]
      : undefined;
    return [
      {
        step,
        state,
        code: outcome.code,
        message: messageOf(outcome, provider.name),
        detail: outcome.detail ?? null,
        link: (state === "done" ? undefined : link) ?? null,
      },
    ];
  });
  return { steps, domain: domain ?? null };
}
