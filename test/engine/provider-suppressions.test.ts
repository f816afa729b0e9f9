// The suppression lists of providers are pulled after a config is connected, and daily.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { createTable } from "../../infra/local/engines/table.ts";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import type { CallerScope } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import {
  pullSuppressions,
  removeAtProviders,
} from "../../shared/domain/delivery-events/provider-suppressions.ts";
import * as due from "../../shared/domain/due-work.ts";
import { connectProvider } from "../../shared/domain/senders/connect-provider.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { savePull, startPulls } from "../../shared/domain/senders/suppression-pull-times.ts";
import { verifyConfig } from "../../shared/domain/senders/verify-config.ts";
import { dueShards } from "../../shared/keys.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { createAccount } from "../support/accounts.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { startLimitedProvider } from "../support/limited-provider.ts";
import * as sandboxes from "../support/provider-sandbox.ts";
import { pendingMessages, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

let sandbox: Sandbox;
let dns: DnsServer;
beforeAll(async () => {
  await useVirtualQueues();
  sandbox = await sandboxes.startSandbox();
  sandboxes.useSandbox(sandbox);
  dns = await startDnsServer({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
// Each test has its own table, so that it can move the clock without making other work due.
beforeEach(async () => {
  pendingMessages.length = 0;
  process.env.TABLE_NAME = `pulls-${randomUUID()}`;
  await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
});
afterAll(async () => {
  await sandbox.stop();
  await dns.close();
});

const settle = () =>
  runWorkers([jobs], {
    runSchedules: async () => {
      for (const kind of ["PULL", "DOMAIN"] as const)
        await Promise.all(Array.from({ length: dueShards }, (_, shard) => due.drain(kind, shard)));
    },
  });

/** A verified config of a new account, whose mails to `kinds` failed at the provider. */
async function addConfig(provider: string, kinds: string[]) {
  const { caller } = await createAccount();
  const accountKeys = await sandboxes.createAccount(sandbox);
  const { id } = await sendingConfigs.create(
    caller,
    NewSendingConfig.parse({
      provider,
      credentials: accountKeys[provider]!.credentials,
      fromEmail: "hello@pennymail.test",
    }),
  );
  const addresses = kinds.map((kind) => `${kind}+${provider}-${id}@simulator.pennymail.test`);
  for (const to of addresses) await verifyConfig(caller, id, to);
  return { caller, id, addresses };
}

/** Starts the pulls as connecting does. */
const connectLater = async (caller: CallerScope, id: number) =>
  startPulls(caller.orgId, await sendingConfigs.find(caller, id));

const hasNoList = new Set<string>(["mailjet"]);
const listing = webhookProviderKeys.filter((key) => !hasNoList.has(key));

describe.each(listing)("%s", (provider) => {
  test("its list is pulled after it is connected, with reasons and source", async () => {
    const { caller, id, addresses } = await addConfig(provider, ["bounced", "complained"]);
    await connectProvider(caller, id);
    await settle();
    const [bounced, complained] = await Promise.all(
      addresses.map((email) => suppressions.find(caller.orgId, email)),
    );
    expect(bounced).toMatchObject({ reason: "bounce", bounceType: "hard", source: provider });
    expect(complained).toMatchObject({ reason: "spam_report", source: provider });
    const { steps } = await connectProvider(caller, id);
    const { readAt } = (await sendingConfigs.find(caller, id)).suppressionPull!;
    expect(steps.at(-1)).toMatchObject({ code: "suppressions_pulled", detail: readAt });
  });

  test("an address that is removed there does not come back", async () => {
    const { caller, id, addresses } = await addConfig(provider, ["bounced"]);
    await pullSuppressions(caller.orgId, id);
    await suppressions.remove(caller.orgId, addresses[0]!);
    expect(await removeAtProviders(caller.orgId, addresses[0]!)).toEqual([]);
    // A second removal finds nothing there, which is no fault.
    expect(await removeAtProviders(caller.orgId, addresses[0]!)).toEqual([]);
    await pullSuppressions(caller.orgId, id);
    expect(await suppressions.find(caller.orgId, addresses[0]!)).toBeUndefined();
  });
});

test("a pull is repeated after a day", async () => {
  const { caller, id } = await addConfig("postmark", []);
  await connectProvider(caller, id);
  await settle();
  const later = `bounced+later-${id}@simulator.pennymail.test`;
  await verifyConfig(caller, id, later);
  await settle();
  expect(await suppressions.find(caller.orgId, later)).toBeUndefined();
  clock.advanceClock(86_400 + 60);
  await settle();
  expect(await suppressions.find(caller.orgId, later)).toMatchObject({ source: "postmark" });
});

test.each(interruptions)("nothing is lost or counted twice when the worker %s", async (how) => {
  await interruptedAtSomeSteps(how, async (interrupt) => {
    const { caller, id, addresses } = await addConfig("sendgrid", ["bounced", "complained"]);
    await connectProvider(caller, id);
    const pull = () => pullSuppressions(caller.orgId, id);
    await interrupt(pull, pull);
    await pull();
    const { bounce, spam_report } = await suppressions.getCounts(caller.orgId);
    expect([bounce, spam_report]).toEqual([1, 1]);
    for (const email of addresses)
      expect(await suppressions.find(caller.orgId, email)).toMatchObject({ source: "sendgrid" });
  });
});

test("a pull goes on at its page after the provider asked for a pause", async () => {
  const { caller, id } = await addConfig("brevo", []);
  const pageOf = (name: string, n: number) => ({
    status: 200,
    json: {
      contacts: Array.from({ length: n }, (_, i) => ({
        email: `${name}${i}@example.net`,
        reason: { code: "hardBounce" },
      })),
    },
  });
  const pause = { status: 429, headers: { "x-sib-ratelimit-reset": "1800" }, json: {} };
  const provider = await startLimitedProvider("brevo", [
    pageOf("first", 100),
    pause,
    pageOf("second", 1),
  ]);
  await connectLater(caller, id);
  await settle();
  expect((await sendingConfigs.find(caller, id)).suppressionPull).toMatchObject({
    cursor: "100",
    failure: { code: "rate_limited" },
  });
  clock.advanceClock(3660);
  await settle();
  provider.stop();
  expect(provider.urls.map((url) => /offset=(\d+)/.exec(url)![1])).toEqual(["0", "100", "100"]);
  expect(await suppressions.find(caller.orgId, "second0@example.net")).toMatchObject({
    reason: "bounce",
  });
  expect((await sendingConfigs.find(caller, id)).suppressionPull).toMatchObject({ cursor: null });
});

test("credentials that may not read the list change nothing, and tomorrow it is tried again", async () => {
  const { caller, id } = await addConfig("resend", []);
  await sendingConfigs.update(caller, id, { credentials: { apiKey: "re_unknown_key" } });
  await pullSuppressions(caller.orgId, id);
  const { suppressionPull } = await sendingConfigs.find(caller, id);
  expect(suppressionPull).toMatchObject({ cursor: null, failure: { code: "not_permitted" } });
  const [fault] = await removeAtProviders(caller.orgId, "ada@example.com");
  expect(fault).toMatch(/^ada@example.com was not removed there/);
  expect(fault).not.toContain("re_unknown_key");
});

test("a list that could not be read is a step to do, and is read again at once", async () => {
  const { caller, id, addresses } = await addConfig("brevo", ["bounced"]);
  const stepOf = async () => (await connectProvider(caller, id)).steps.at(-1);
  expect(await stepOf()).toMatchObject({ step: "suppressions", state: "waiting" });
  const failure = { code: "not_permitted", detail: "contacts" } as const;
  const pull = { cursor: null, readAt: clock.now().toISOString(), failure };
  await savePull(caller.orgId, await sendingConfigs.find(caller, id), { pull, seconds: 86_400 });
  expect(await stepOf()).toMatchObject({ step: "suppressions", state: "manual", ...failure });
  await settle();
  expect(await suppressions.find(caller.orgId, addresses[0]!)).toMatchObject({ source: "brevo" });
  expect(await stepOf()).toMatchObject({ step: "suppressions", state: "done" });
});

test("a complaint that the provider keeps is named as not removed", async () => {
  const { caller, addresses } = await addConfig("postmark", ["complained"]);
  const [fault] = await removeAtProviders(caller.orgId, addresses[0]!);
  expect(fault).toMatch(/was not removed there .* Spam complaints cannot be removed/);
});

test("a cursor that the provider does not know any more ends no later pull", async () => {
  const { caller, id, addresses } = await addConfig("sendgrid", ["bounced"]);
  const config = await sendingConfigs.find(caller, id);
  const pull = { cursor: "bounces:-1", readAt: clock.now().toISOString() };
  await savePull(caller.orgId, config, { pull, seconds: 0 });
  await pullSuppressions(caller.orgId, id);
  expect((await sendingConfigs.find(caller, id)).suppressionPull).toMatchObject({ cursor: null });
  await pullSuppressions(caller.orgId, id);
  expect(await suppressions.find(caller.orgId, addresses[0]!)).toMatchObject({ reason: "bounce" });
});
