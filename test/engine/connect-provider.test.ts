// Connecting a provider creates its webhook, its domain and the secret, once, whatever crashes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import { getInboundConfig } from "../../shared/domain/delivery-events/receive-webhook.ts";
import {
  type ConnectedProvider,
  connectProvider,
} from "../../shared/domain/senders/connect-provider.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import * as sandboxes from "../support/provider-sandbox.ts";
import { recordRequests } from "../support/recorded-requests.ts";
import { useVirtualQueues } from "../support/virtual-queues.ts";

let sandbox: Sandbox;
let dns: DnsServer;
beforeAll(async () => {
  await useVirtualQueues();
  sandbox = await sandboxes.startSandbox();
  sandboxes.useSandbox(sandbox);
  dns = await startDnsServer({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
afterAll(async () => {
  await sandbox.stop();
  await dns.close();
});

let lastDomain = 0;
const freshDomain = () => `shop${++lastDomain}-${process.pid}.example.com`;

/** A config of a new account at the provider. */
async function addConfig(
  provider: string,
  fields: object = {},
): Promise<TestAccount & { id: number; domain: string }> {
  const account = await createAccount();
  const accountKeys = await sandboxes.createAccount(sandbox);
  const { configurationSet: _, ...credentials } = accountKeys[provider]!.credentials;
  const domain = freshDomain();
  const { id } = await sendingConfigs.create(
    account.caller,
    NewSendingConfig.parse({ provider, credentials, fromEmail: `hello@${domain}`, ...fields }),
  );
  return { ...account, id, domain };
}

const statesOf = ({ steps }: ConnectedProvider) =>
  Object.fromEntries(steps.map(({ step, state }) => [step, state]));
const codeOf = ({ steps }: ConnectedProvider, step: string) =>
  steps.find((one) => one.step === step)?.code;

/** Publishes the records of the domain that have a name and a value. */
async function publish({ caller }: TestAccount, domainId: number): Promise<void> {
  const { dnsRecords } = await domains.findDetail(caller, domainId);
  for (const { type, name, value } of dnsRecords) {
    if (name === null || value === null) continue;
    const entry = type === "MX" ? { preference: 10, exchange: value } : value;
    const key = `${type} ${name}`;
    dns.zone.records[key] = [...(dns.zone.records[key] ?? []), entry];
  }
}

/** One for each kind of secret: ours, the provider's, the account's; and SES, with many parts. */
const interrupted = new Set<string>(["postmark", "resend", "mailgun", "ses"]);

describe.each(webhookProviderKeys)("%s", (provider) => {
  test("is connected, and a second run changes nothing", async () => {
    const owner = await addConfig(provider);
    const first = await connectProvider(owner.caller, owner.id);
    expect(statesOf(first)).toMatchObject({ account: "done", webhook: "created", dns: "waiting" });
    const { secret } = (await getInboundConfig(owner.id))!;
    expect(secret).toMatch(/^\S{12,}$/);
    const requests = recordRequests();
    const second = await connectProvider(owner.caller, owner.id);
    requests.stop();
    // Nothing answers at the address here, so SNS cannot confirm it.
    const webhook = provider === "ses" ? "waiting" : "done";
    expect(statesOf(second)).toMatchObject({ account: "done", webhook });
    expect((await getInboundConfig(owner.id))!.secret).toBe(secret);
    expect(requests.creations()).toEqual([]);
  });

  test("names the records of the domain, which are then checked", async () => {
    const owner = await addConfig(provider);
    const first = await connectProvider(owner.caller, owner.id);
    const records = first.domain!.dnsRecords;
    const own = records.filter((record) => record.provider === provider);
    expect(own.length).toBeGreaterThan(0);
    for (const { name, value } of own) expect([name, value]).not.toContain(null);
    expect(records.map(({ purpose }) => purpose)).toEqual(
      expect.arrayContaining(["ownership", "dkim", "dmarc"]),
    );
    await publish(owner, first.domain!.id);
    const later = await connectProvider(owner.caller, owner.id);
    expect(later.domain!.dnsRecords.filter(({ state }) => state !== "found")).toEqual([]);
    expect(statesOf(later)).toMatchObject({ domain: "done", dns: "done" });
    expect(later.domain!.status).toBe("verified");
  });

  test.runIf(interrupted.has(provider)).each(interruptions)(
    "has one webhook with the stored secret when the worker %s",
    async (how) => {
      await interruptedAtSomeSteps(how, async (interrupt) => {
        const owner = await addConfig(provider);
        const connect = () =>
          connectProvider(owner.caller, owner.id).catch((error: { kind?: string }) => {
            if (error.kind !== "conflict") throw error;
          });
        await interrupt(connect, async () => {
          clock.advanceClock(120);
          await connect();
        });
        clock.advanceClock(120);
        const requests = recordRequests();
        const last = await connectProvider(owner.caller, owner.id);
        requests.stop();
        expect(codeOf(last, "webhook")).toMatch(/^webhook_(exists|unconfirmed)$/);
        expect(requests.creations()).toEqual([]);
        expect((await getInboundConfig(owner.id))!.secret).toBeTruthy();
      });
    },
  );
});

test("without the token of its account, a domain of Postmark is added by hand", async () => {
  const { caller, id } = await addConfig("postmark");
  const { credentials } = (await sandboxes.createAccount(sandbox)).postmark!;
  const { accountToken: _, ...others } = credentials;
  await sendingConfigs.update(caller, id, { credentials: others });
  const connected = await connectProvider(caller, id);
  expect(codeOf(connected, "domain")).toBe("domain_by_hand");
  const wrong = { ...credentials, accountToken: "wrong-token" };
  await sendingConfigs.update(caller, id, { credentials: wrong });
  const refused = await connectProvider(caller, id);
  expect(codeOf(refused, "domain")).toBe("not_permitted");
  expect(JSON.stringify(refused)).not.toContain("wrong-token");
});

test("records that another provider of the domain lacks are not missing", async () => {
  const { caller, id, domain } = await addConfig("brevo");
  const keysOfAccount = await sandboxes.createAccount(sandbox);
  const { credentials } = keysOfAccount.resend!;
  const other = { provider: "resend", credentials, fromEmail: `news@${domain}` };
  await sendingConfigs.create(caller, NewSendingConfig.parse(other));
  const connected = await connectProvider(caller, id);
  expect(connected.domain!.dnsRecords.map(({ provider }) => provider)).toContain("resend");
  const { detail } = connected.steps.find(({ step }) => step === "dns")!;
  expect(detail).toContain("_pennymail.");
  expect(detail).toContain("_domainkey.");
  expect(detail).not.toContain("resend._domainkey");
});
