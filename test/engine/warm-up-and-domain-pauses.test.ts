// Limits of bulk mail besides the rate limit of its config: the warm-up of a new account, and the
// pause of a recipient domain that defers.
import { beforeAll, expect, test, vi } from "vitest";
import { query, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { dailyLimit, WarmUp } from "../../shared/domain/senders/warm-up.ts";
import * as slowDomains from "../../shared/domain/sending/bulk/slow-domains.ts";
import { keys, ranges } from "../../shared/keys.ts";
import type { Recipient } from "../../shared/providers/provider-adapter.ts";
import { getProvider } from "../../shared/providers/registry.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

const day = 24 * 3600;

test("the limit grows by the same factor every day, and ends after the last day", () => {
  const warming = {
    firstDayMails: 100,
    lastDayMails: 1600,
    days: 5,
    startedAt: "2026-11-21T15:00:00.000Z",
  };
  const limits = Array.from({ length: 7 }, (_, i) =>
    dailyLimit(warming, new Date(Date.UTC(2026, 10, 20 + i, 3))),
  );
  expect(limits).toEqual([undefined, 100, 200, 400, 800, 1600, undefined]);
  expect(
    WarmUp.safeParse({ firstDayMails: 10, lastDayMails: 5, days: 3 }).error?.issues[0],
  ).toMatchObject({ path: ["lastDayMails"] });
});

test("holds bulk mail above the daily limit; a single send goes at once and counts", async () => {
  // Days begin at midnight UTC, so the test starts at 6:00.
  clock.advanceClock(day - ((clock.now().getTime() / 1000) % day) + 6 * 3600);
  const from = await mailTest.createSender("postmark");
  await sendingConfigs.update(from.caller, from.configId, {
    warmUp: { firstDayMails: 4, lastDayMails: 16, days: 3 },
  });
  await mailTest.send(from, mailTest.uniqueRecipients(1)[0]!);
  await mailTest.runWorkers({ forSeconds: 1 });
  const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(20));
  await mailTest.runWorkers({ forSeconds: 600 });
  const today = from.provider.mails.length;
  expect(today).toBeGreaterThanOrEqual(1);
  expect(today).toBeLessThanOrEqual(4);
  const waiting = results.find(
    ({ id }) => !from.provider.mails.some(({ sendId }) => sendId === id),
  )!;
  expect(await findDetail(from.caller, waiting.id!)).toMatchObject({ status: "queued" });
  await mailTest.send(from, mailTest.uniqueRecipients(1)[0]!);
  await mailTest.runWorkers({ forSeconds: 1 });
  expect(from.provider.mails.length).toBe(today + 1);
  await mailTest.runWorkers({ forSeconds: day });
  expect(from.provider.mails.length).toBeLessThanOrEqual(today + 1 + 8);
  expect(from.provider.mails.length).toBeGreaterThan(today + 1);
  await mailTest.runWorkers({ forSeconds: 4 * day });
  await mailTest.expectBalanced(
    from,
    results.map(({ id }) => id!),
  );
  expect(from.provider.mails.length).toBe(22);
  await from.provider.stop();
});

test("pauses mail to a domain that defers, while other mail goes on, and sends it once later", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const recipientsAt = (domain: string, n: number) =>
    mailTest.uniqueRecipients(n).map(({ to }) => ({ to: to.replace("example.com", domain) }));
  await mailTest.sendBatch(from, recipientsAt("slow.example", 6));
  await mailTest.runWorkers();
  const { results } = await mailTest.sendBatch(from, recipientsAt("slow.example", 3));
  const deferrals = from.provider.mails
    .slice(0, 5)
    .map(({ sendId }, i) => createEvent(sendId, "deferred", i));
  await applyMessages(await createEventMessage(orgId, deferrals.slice(0, 4)));
  expect(slowDomains.getPauseEnd(await laneOf(from), "slow.example")).toBeUndefined();
  await applyMessages(await createEventMessage(orgId, deferrals.slice(4)));
  expect(slowDomains.getPauseEnd(await laneOf(from), "slow.example")).toBeGreaterThan(
    clock.now().getTime(),
  );
  const mixed = await mailTest.sendBatch(from, [
    ...recipientsAt("slow.example", 2),
    ...recipientsAt("quick.example", 2),
  ]);
  await mailTest.runWorkers({ forSeconds: 60 });
  const mailed = () => new Set(from.provider.mails.map(({ sendId }) => sendId));
  expect(mixed.results.map(({ id }) => mailed().has(id!))).toEqual([false, false, true, true]);
  expect(results.map(({ id }) => mailed().has(id!))).toEqual([false, false, false]);
  await mailTest.runWorkers();
  await mailTest.expectBalanced(
    from,
    [...results, ...mixed.results].map(({ id }) => id!),
  );
  expect(from.provider.mails.length).toBe(6 + 3 + 4);
  await from.provider.stop();
});

test("sends mail to a domain that keeps deferring after a day", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(2));
  const hours = 3600;
  const deferring = () =>
    write(
      update(keys.lane(orgId, from.configId), {
        set: { "slow.example.com": clock.addSeconds(4 * hours).getTime() },
      }),
    );
  for (let waited = 0; waited < 7; waited++) {
    await deferring();
    await mailTest.runWorkers({ forSeconds: 3.9 * hours });
    expect(from.provider.mails).toEqual([]);
  }
  await deferring();
  await mailTest.runWorkers({ forSeconds: hours });
  expect(from.provider.mails).toHaveLength(2);
  expect(
    await mailTest.expectBalanced(
      from,
      results.map(({ id }) => id!),
    ),
  ).toEqual({ sent: 2 });
  await from.provider.stop();
});

/** The mail of this recipient is deferred so often; the mail of others goes out. */
function deferRecipient(slow: string, times: number) {
  const adapter = getProvider("postmark")!;
  const send = adapter.send;
  const deferred: number[] = [];
  const isDeferred = ({ to }: Recipient) => to.email === slow && deferred.length < times;
  const spy = vi.spyOn(adapter, "send").mockImplementation(async (call) => {
    const { recipients } = call.mailing;
    const others = recipients.filter((one) => !isDeferred(one));
    const sent = others.length
      ? await send({ ...call, mailing: { ...call.mailing, recipients: others } })
      : [];
    const outcomes = recipients.map((one) =>
      others.includes(one)
        ? sent.shift()!
        : { status: "held" as const, why: "recipient" as const, error: "451 4.7.1 Greylisted" },
    );
    if (others.length < recipients.length) deferred.push(clock.now().getTime());
    return outcomes;
  });
  return { deferred, restore: () => spy.mockRestore() };
}

test("holds the mail of a deferred recipient only, and tries it again less and less often", async () => {
  const from = await mailTest.createSender("postmark");
  const recipients = mailTest.uniqueRecipients(4);
  const slow = recipients[1]!.to;
  const { deferred, restore } = deferRecipient(slow, 5);
  const { results } = await mailTest.sendBatch(from, recipients);
  await mailTest.runWorkers({ forSeconds: 5 });
  expect(from.provider.mails.length).toBe(3);
  const later = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  await mailTest.runWorkers({ forSeconds: 5 });
  expect(from.provider.mails.length).toBe(6);
  expect(await laneOf(from)).not.toHaveProperty("faults");
  await mailTest.runWorkers({ forSeconds: 3600 });
  expect(from.provider.mails.filter(({ to }) => to.includes(slow))).toHaveLength(1);
  const waits = deferred.slice(1).map((at, i) => at - deferred[i]!);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(59_000);
  await mailTest.expectBalanced(
    from,
    [...results, ...later.results].map(({ id }) => id!),
  );
  restore();
  await from.provider.stop();
});

test("gives a deferred recipient up after a day, in a batch and alone", async () => {
  const from = await mailTest.createSender("postmark");
  const recipients = mailTest.uniqueRecipients(2);
  const { restore } = deferRecipient(recipients[0]!.to, 10_000);
  const { results } = await mailTest.sendBatch(from, recipients);
  await mailTest.runWorkers({ forSeconds: 60 });
  await mailTest.runWorkers({ forSeconds: 26 * 3600 });
  expect(await findDetail(from.caller, results[0]!.id!)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("24 hours"),
  });
  expect(from.provider.mails.length).toBe(1);
  restore();
  await from.provider.stop();
});

async function laneOf({ caller, configId }: mailTest.TestSender): Promise<object> {
  const { items } = await query<{ sk: string }>({
    ...ranges.queuedChunks(caller.orgId, configId),
    prefix: "~LANE",
  });
  return items[0]!;
}
