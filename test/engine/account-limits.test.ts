// Rate and 24-hour quota that Amazon SES reports for an account.
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { get, query } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as accountLimits from "../../shared/domain/senders/account-limits.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { verifyConfig } from "../../shared/domain/senders/verify-config.ts";
import { prepareChunk } from "../../shared/domain/sending/bulk/prepared-chunk.ts";
import type { QueuedChunk } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { crashAtEveryStep } from "../support/crash-injection.ts";
import * as mailTest from "../support/sending.ts";
import { skippingPauses } from "../support/skipped-pauses.ts";

beforeAll(async () => {
  await mailTest.useOwnTableAndQueues();
  process.env.SYSTEM_SENDER = "ses:no-reply@pennymail.test";
});
beforeEach(() => mailTest.pendingMessages.splice(0));
const senders: mailTest.TestSender[] = [];
afterEach(async () => {
  for (const { provider } of senders.splice(0)) await provider.stop();
});

/** A config of SES. The account may send 50 mails a second and 1,000 in 24 hours. */
async function createSender(more: { ratePerSecond?: number } = {}): Promise<mailTest.TestSender> {
  const from = await mailTest.createSender("ses", more);
  senders.push(from);
  from.provider.sendQuota = { MaxSendRate: 50, Max24HourSend: 1000, SentLast24Hours: 12 };
  return from;
}
async function verify({ caller, configId, provider }: mailTest.TestSender) {
  const { config } = await verifyConfig(caller, configId, "someone@pennymail.test");
  provider.mails.length = 0;
  return config;
}
const find = ({ caller, configId }: mailTest.TestSender) => sendingConfigs.find(caller, configId);
const refresh = async (from: mailTest.TestSender) =>
  accountLimits.refresh(from.caller.orgId, await find(from));
const messages = (queue: string) =>
  mailTest.pendingMessages.filter((one) => one.queue === queue).map(({ body }) => body);
const takeWarnings = () => {
  const warnings = messages("system-mail");
  mailTest.pendingMessages.splice(0);
  return warnings;
};

test("the limits are read when a config is verified, and forgotten with its credentials", async () => {
  const from = await createSender();
  expect((await find(from)).accountLimits).toBeNull();
  const config = await verify(from);
  expect(config.accountLimits).toEqual({
    emailsPerSecond: 50,
    emailsPer24Hours: 1000,
    sentLast24Hours: 12,
    readAt: expect.any(String),
  });
  const changed = await sendingConfigs.update(from.caller, from.configId, {
    credentials: { accessKeyId: "AKIB", secretAccessKey: "other", region: "eu-west-1" },
  });
  expect(changed.accountLimits).toBeNull();
});

test("a config is verified without the permission to read the limits, and -1 is no limit", async () => {
  const from = await createSender();
  from.provider.sendQuota = undefined;
  expect(await verify(from)).toMatchObject({ verified: true, accountLimits: null });
  from.provider.sendQuota = { MaxSendRate: 14, Max24HourSend: -1, SentLast24Hours: 9e9 };
  await refresh(from);
  expect((await find(from)).accountLimits).toMatchObject({ emailsPer24Hours: null });
  expect(takeWarnings()).toEqual([]);
});

test.each([
  ["of the account", {}, 50],
  ["of the config, if it is lower", { ratePerSecond: 25 }, 25],
  ["of the account, if it is lower", { ratePerSecond: 500 }, 50],
])("email is handed over at the rate %s", async (_, more, ratePerSecond) => {
  const from = await createSender(more);
  await verify(from);
  const [{ id }, batch] = [
    await mailTest.send(from, { to: "one@example.com" }),
    await mailTest.sendBatch(from, mailTest.uniqueRecipients(60)),
  ];
  const startedMs = clock.now().getTime();
  await skippingPauses(mailTest.runWorkers);
  const ids = [id, ...batch.results.map((one) => one.id!)];
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 61 });
  // Each mail took its part of a second.
  const { clock: slotsEnd } = (await get<{ clock: number }>(
    keys.lane(from.caller.orgId, from.configId),
  ))!;
  expect(slotsEnd - startedMs).toBeGreaterThanOrEqual((60 / ratePerSecond) * 1000);
});

test("the calls in flight follow the rate of the account", async () => {
  const from = await createSender();
  const { caller, configId } = from;
  await mailTest.sendBatch(from, mailTest.uniqueRecipients(100));
  const { items } = await query<QueuedChunk>(ranges.queuedChunks(caller.orgId, configId));
  const limitCalls = async () =>
    (await prepareChunk(caller.orgId, configId, items[0]!))!.transport!.limitCalls(25);
  const { sendQuota } = from.provider;
  from.provider.sendQuota = undefined;
  const withoutRate = await limitCalls();
  from.provider.sendQuota = { ...sendQuota!, MaxSendRate: 700 };
  await refresh(from);
  expect(await limitCalls()).toBeGreaterThan(withoutRate);
});

test("the limits are read again every hour while email is sent", async () => {
  const from = await createSender();
  await verify(from);
  const send = async () => {
    await mailTest.send(from, { to: "one@example.com" });
    await mailTest.runWorkers({ forSeconds: 0 });
    return (await find(from)).accountLimits!.sentLast24Hours;
  };
  from.provider.sendQuota!.SentLast24Hours = 13;
  expect(await send()).toBe(12);
  clock.advanceClock(3601);
  expect(await send()).toBe(13);
  from.provider.sendQuota!.SentLast24Hours = 14;
  expect(await send()).toBe(13);
});

test("the owner gets one mail a day when 80 % of the quota is used up", async () => {
  const from = await createSender();
  const { caller, configId } = from;
  from.provider.sendQuota!.SentLast24Hours = 799;
  await verify(from);
  expect(takeWarnings()).toEqual([]);
  from.provider.sendQuota!.SentLast24Hours = 800;
  await refresh(from);
  await refresh(from);
  const warning = { mail: "sending_quota", orgId: caller.orgId, configId };
  expect(takeWarnings()).toEqual([warning]);
  clock.advanceClock(24 * 3600);
  await Promise.all([refresh(from), refresh(from)]);
  expect(takeWarnings()).toEqual([warning]);
});

test("the owner gets the warning also if the worker crashes", async () => {
  await crashAtEveryStep(async (crash) => {
    const from = await createSender();
    from.provider.sendQuota!.SentLast24Hours = 900;
    await crash(() => refresh(from));
    await refresh(from);
    expect(takeWarnings().length).toBeGreaterThan(0);
  });
});
