// Lanes: one runner at a time keeps the rate limit, and no mail stays in a lane.

import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { get, put, query, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as due from "../../shared/domain/due-work.ts";
import {
  NewSendingConfig,
  SendingConfigChanges,
} from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as chunks from "../../shared/domain/sending/bulk/chunks.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import { postponeChunk, type QueuedChunk } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import { cancelSend } from "../../shared/domain/sending/cancel-send.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import * as ids from "../../shared/ids.ts";
import { compress } from "../../shared/kernel/compressed-values.ts";
import { type DueWorkKind, keys, ranges } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import { startFakeProvider } from "../support/fake-provider.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as mailTest from "../support/sending.ts";
import { skippingPauses } from "../support/skipped-pauses.ts";

beforeAll(mailTest.useOwnTableAndQueues);
beforeEach(() => mailTest.pendingMessages.splice(0));
const senders: mailTest.TestSender[] = [];
afterEach(async () => {
  removePauses();
  for (const { provider } of senders.splice(0)) await provider.stop();
});

async function sender(
  ...args: Parameters<typeof mailTest.createSender>
): Promise<mailTest.TestSender> {
  const from = await mailTest.createSender(...args);
  senders.push(from);
  return from;
}

const batch = async (from: mailTest.TestSender, n: number) =>
  (await mailTest.sendBatch(from, mailTest.uniqueRecipients(n))).results.map(({ id }) => id!);
const run = ({ caller, configId }: mailTest.TestSender) => mailTest.runLane(caller.orgId, configId);
const lane = ({ caller, configId }: mailTest.TestSender) =>
  get<Record<string, number>>(keys.lane(caller.orgId, configId));
/** Seconds until the next message may be received. */
const secondsToNextMessage = () =>
  Math.round(
    (Math.min(...mailTest.pendingMessages.map(({ visibleAt }) => visibleAt)) -
      clock.now().getTime()) /
      1000,
  );

test("only one of three concurrent runners hands over the mail of a lane", async () => {
  const from = await sender("postmark");
  from.provider.latencyMs = 20;
  const ids = await batch(from, 250);
  await Promise.all([run(from), run(from), run(from)]);
  expect(from.provider.calls.map(({ recipients }) => recipients).sort()).toEqual([100, 100, 50]);
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 250 });
});

test("a batch that arrives after the runner's last read of the lane is sent", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  const arrive = async () => ids.push(...(await batch(from, 3)));
  await mailTest.whenLaneIsRead(
    (items) => items.length === 0,
    arrive,
    () => run(from),
  );
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 5 });
});

test("a runner that is stopping makes no call and enqueues a message for the rest", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 3);
  laneRunner.setStopping(true);
  mailTest.pendingMessages.length = 0;
  await run(from);
  laneRunner.setStopping(false);
  expect(from.provider.calls).toEqual([]);
  expect(mailTest.pendingMessages).toHaveLength(1);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 3 });
});

/**
 * Checks that no call came before its slot. On a busy machine it may come later. `mailsPerSlot` is
 * the number of mails that share a slot.
 */
function expectRateKept(
  { provider }: mailTest.TestSender,
  ratePerSecond: number,
  startedMs: number,
  mailsPerSlot = 1,
) {
  let before = 0;
  for (const { at, recipients } of provider.calls) {
    const turns = Math.floor(before / mailsPerSlot);
    // Our clock counts whole milliseconds.
    expect(at - startedMs).toBeGreaterThanOrEqual(
      ((turns * mailsPerSlot) / ratePerSecond) * 1000 - 2,
    );
    before += recipients;
  }
}

test.each([
  ["postmark", 20, 60, 3],
  ["ses", 20, 30, 30],
] as const)(
  "%s gets no more mails per second than the sending config allows",
  async (key, ratePerSecond, n, calls) => {
    const from = await sender(key, { ratePerSecond });
    const ids = await batch(from, n);
    const startedMs = clock.now().getTime();
    await skippingPauses(mailTest.runWorkers);
    expect(from.provider.calls).toHaveLength(calls);
    expectRateKept(from, ratePerSecond, startedMs, ratePerSecond);
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: n });
  },
);

test.each([
  ["a batch", (from: mailTest.TestSender) => batch(from, 3)],
  [
    "a single send",
    async (from: mailTest.TestSender) => [(await mailTest.send(from, { to: "one@x.com" })).id],
  ],
])(
  "after %s that used up the provider's rate limit, mail waits for its reset",
  async (_, accept) => {
    const from = await sender("resend");
    from.provider.headers = { "ratelimit-remaining": "0", "ratelimit-reset": "30" };
    const ids = await accept(from);
    await mailTest.runWorkers({ forSeconds: 0 });
    expect(from.provider.calls).toHaveLength(1);
    const startedMs = from.provider.calls[0]!.at;
    from.provider.headers = {};
    ids.push(...(await batch(from, 2)), ...(await accept(from)));
    await mailTest.runWorkers();
    for (const { at } of from.provider.calls.slice(1))
      expect(at - startedMs).toBeGreaterThanOrEqual(30_000);
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: ids.length });
  },
);

test("a lane waits twice as long each time that the provider asks for a pause and names no time", async () => {
  const from = await sender("postmark");
  from.provider.faultFor = ({ n }) => (n <= 8 ? { status: 429 } : undefined);
  const ids = await batch(from, 3);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 3 });
  const calls = from.provider.calls.map(({ at }) => at);
  const pauses = calls.slice(1).map((at, i) => (at - calls[i]!) / 1000);
  for (const [i, least] of [1, 2, 4, 8, 16, 32, 60, 60].entries())
    expect(pauses[i]).toBeGreaterThanOrEqual(least);
  expect(pauses[7]).toBeLessThan(120);
});

test("single sends keep the rate limit, and each of them waits for one slot", async () => {
  const from = await sender("postmark", { ratePerSecond: 10 });
  const sent = await Promise.all(
    mailTest.uniqueRecipients(40).map((one) => mailTest.send(from, one)),
  );
  const startedMs = clock.now().getTime();
  await Promise.all(sent.map(({ id }) => handOverSingle(from.caller.orgId, id)));
  const earlyCalls = from.provider.calls.length;
  // A worker waits at most two seconds for its slot. On a busy machine more slots fall into them.
  expect(earlyCalls).toBeGreaterThan(15);
  expectRateKept(from, 10, startedMs);
  const started = clock.now().getTime();
  mailTest.pendingMessages.splice(0, 40);
  expect(mailTest.pendingMessages).toHaveLength(40 - earlyCalls);
  await mailTest.runWorkers();
  expect(from.provider.calls.at(-1)!.at - started).toBeLessThan(8000);
  expect(
    await mailTest.expectBalanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 40 });
});

test("single sends keep a rate of one mail in 100 seconds", async () => {
  const from = await sender("ses", { ratePerSecond: 0.01 });
  const sent = await Promise.all(
    mailTest.uniqueRecipients(12).map((one) => mailTest.send(from, one)),
  );
  const startedMs = clock.now().getTime();
  await mailTest.runWorkers();
  expectRateKept(from, 0.01, startedMs);
  expect(
    await mailTest.expectBalanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 12 });
});

test("a single send does not wait for the end of a batch", async () => {
  const from = await sender("ses", { ratePerSecond: 10 });
  const ids = await batch(from, 30);
  const running = run(from);
  while (!from.provider.mails.length) await clock.sleep(5);
  const { id } = await mailTest.send(from, { to: "reset@example.com" });
  await handOverSingle(from.caller.orgId, id);
  const position = from.provider.mails.findIndex(({ sendId }) => sendId === id);
  expect(position).toBeGreaterThan(0);
  expect(position).toBeLessThan(25);
  await running;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [...ids, id])).toEqual({ sent: 31 });
});

test("a 429 with Retry-After pauses the lane and single sends, and no mail is lost", async () => {
  const from = await sender("postmark");
  from.provider.faultFor = ({ n }) =>
    n === 1 ? { status: 429, headers: { "retry-after": "30" } } : undefined;
  const ids = await batch(from, 3);
  mailTest.pendingMessages.length = 0;
  await run(from);
  expect(secondsToNextMessage()).toBe(30);
  await run(from);
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  mailTest.pendingMessages.length = 0;
  await handOverSingle(from.caller.orgId, id);
  expect(secondsToNextMessage()).toBe(30);
  expect(from.provider.calls).toHaveLength(1);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [...ids, id])).toEqual({ sent: 4 });
});

test("a Retry-After of more than an hour counts as an hour", async () => {
  const from = await sender("postmark");
  from.provider.faultFor = ({ n }) =>
    n === 1 ? { status: 429, headers: { "retry-after": "999999999999999" } } : undefined;
  const ids = await batch(from, 3);
  await mailTest.runWorkers({ forSeconds: 4000 });
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 3 });
});

test("a provider that fails is called again after 1, 2, 4 and 8 seconds, then once a minute", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.faultFor = () =>
    failing ? { status: 503, headers: { "retry-after": "1" } } : undefined;
  const ids = await batch(from, 3);
  const pauses: number[] = [];
  for (let n = 0; n < 7; n++) {
    mailTest.pendingMessages.length = 0;
    await run(from);
    pauses.push(secondsToNextMessage());
    clock.advanceClock(secondsToNextMessage());
  }
  expect(pauses).toEqual([1, 2, 4, 8, 60, 60, 60]);
  failing = false;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 3 });
  expect(await lane(from)).not.toHaveProperty("faults");
  expect(await lane(from)).not.toHaveProperty("heldSince");
});

test("five failed single sends in a row open the circuit breaker, and one success closes it", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.faultFor = () =>
    failing ? { status: 503, headers: { "retry-after": "1" } } : undefined;
  const sent = await Promise.all(
    mailTest.uniqueRecipients(6).map((one) => mailTest.send(from, one)),
  );
  for (const { id } of sent) await handOverSingle(from.caller.orgId, id);
  expect(from.provider.calls).toHaveLength(5);
  failing = false;
  await mailTest.runWorkers();
  expect(await lane(from)).not.toHaveProperty("faults");
  expect(
    await mailTest.expectBalanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 6 });
});

describe("a fallback", () => {
  const failure = { status: 503, headers: { "retry-after": "1" } };

  // The other tests share the due index, so no due work may remain.
  afterEach(async () => {
    for (const { provider } of senders) provider.faultFor = () => undefined;
    await mailTest.runWorkers();
  });

  /** A Postmark config whose fallback is a Resend config with another sender address. */
  async function senderWithFallback() {
    const from = await sender("postmark");
    const fallbackProvider = await startFakeProvider("resend");
    senders.push({ ...from, provider: fallbackProvider });
    const fallback = await sendingConfigs.create(
      from.caller,
      NewSendingConfig.parse({
        provider: "resend",
        credentials: { apiKey: "re_token" },
        fromEmail: "spare@example.org",
      }),
    );
    const own = await sendingConfigs.find(from.caller, from.configId);
    for (const config of [own, fallback])
      await sendingConfigs.setVerified(from.caller, config, true);
    await change(from, from.configId, { fallbackConfigId: fallback.id });
    return { from, fallback: { ...from, configId: fallback.id, provider: fallbackProvider } };
  }
  const change = ({ caller }: mailTest.TestSender, id: number, changes: object) =>
    sendingConfigs.update(caller, id, SendingConfigChanges.parse(changes));

  const sendOne = (from: mailTest.TestSender, fields: object = {}) =>
    mailTest.send(from, { ...mailTest.uniqueRecipients(1)[0]!, ...fields });
  const handOver = ({ caller }: mailTest.TestSender, id: number) =>
    handOverSingle(caller.orgId, id);

  /** Returns the sends that failed. They wait for their own config. */
  async function openBreaker(from: mailTest.TestSender): Promise<number[]> {
    const ids: number[] = [];
    for (let n = 0; n < 5; n++) ids.push((await sendOne(from)).id);
    for (const id of ids) await handOver(from, id);
    return ids;
  }
  const sentWith = async ({ caller }: mailTest.TestSender, id: number) => {
    const { sendingConfigId, fromEmail } = await findDetail(caller, id);
    return [sendingConfigId, fromEmail];
  };
  const mailedBy = ({ provider }: mailTest.TestSender) =>
    provider.mails.map(({ sendId }) => sendId);

  test("takes new mail while the circuit breaker is open; accepted mail keeps its config", async () => {
    const { from, fallback } = await senderWithFallback();
    const before = await sendOne(from);
    expect(before.warnings).toEqual([]);
    expect(await sentWith(from, before.id)).toEqual([from.configId, "shop@example.com"]);
    from.provider.faultFor = () => failure;
    const waiting = [before.id, ...(await openBreaker(from))];

    const single = await sendOne(from);
    const named = await sendOne(from, { fromEmail: "me@example.com" });
    const batched = await mailTest.sendBatch(from, mailTest.uniqueRecipients(2));
    const warning = `The provider of sending config ${from.configId} fails, so its fallback takes this mail: sending config ${fallback.configId}`;
    for (const { warnings } of [single, named, batched]) expect(warnings).toEqual([warning]);
    expect(await sentWith(from, single.id)).toEqual([fallback.configId, "spare@example.org"]);
    expect(await sentWith(from, named.id)).toEqual([fallback.configId, "me@example.com"]);
    const moved = [single.id, named.id, ...batched.results.map(({ id }) => id!)];
    for (const id of moved.slice(2))
      expect(await sentWith(from, id)).toEqual([fallback.configId, "spare@example.org"]);
    const later = new Date(clock.now().getTime() + 3_600_000).toISOString();
    const scheduled = await sendOne(from, { scheduledAt: later });
    expect(await sentWith(from, scheduled.id)).toEqual([from.configId, "shop@example.com"]);

    from.provider.faultFor = () => undefined;
    await mailTest.runWorkers();
    const closed = await sendOne(from);
    expect(await sentWith(from, closed.id)).toEqual([from.configId, "shop@example.com"]);
    await mailTest.runWorkers();
    const own = [...waiting, scheduled.id, closed.id];
    expect(mailedBy(from).sort()).toEqual(own.sort());
    expect(mailedBy(fallback).sort()).toEqual(moved.sort());
    for (const id of [...own, ...moved])
      expect(await findDetail(from.caller, id)).toMatchObject({ status: "sent" });
  });

  test("takes no mail after the pause of the breaker", async () => {
    const { from, fallback } = await senderWithFallback();
    from.provider.faultFor = () => failure;
    await openBreaker(from);
    expect(await sentWith(from, (await sendOne(from)).id)).toContain(fallback.configId);
    clock.advanceClock(61);
    expect(await sentWith(from, (await sendOne(from)).id)).toContain(from.configId);
  });

  test("does not take a mail that the config's own provider may have accepted", async () => {
    const { from, fallback } = await senderWithFallback();
    let lostResponses = 1;
    from.provider.faultFor = () => (lostResponses-- > 0 ? "lost" : failure);
    const lostSend = await sendOne(from);
    await handOver(from, lostSend.id);
    await openBreaker(from);
    expect(await sentWith(from, (await sendOne(from)).id)).toContain(fallback.configId);
    from.provider.faultFor = () => undefined;
    await mailTest.runWorkers();
    expect(mailedBy(fallback)).not.toContain(lostSend.id);
    expect(mailedBy(from).filter((id) => id === lostSend.id)).toHaveLength(1);
    expect(await sentWith(from, lostSend.id)).toEqual([from.configId, "shop@example.com"]);
  });

  test.each<[string, (pair: Awaited<ReturnType<typeof senderWithFallback>>) => Promise<unknown>]>([
    [
      "fails too, although it has a fallback of its own",
      async ({ from, fallback }) => {
        const third = await sendingConfigs.create(
          from.caller,
          NewSendingConfig.parse({
            provider: "ses",
            credentials: { accessKeyId: "AKIA", secretAccessKey: "secret", region: "us-east-1" },
            fromEmail: "third@example.net",
          }),
        );
        await sendingConfigs.setVerified(from.caller, third, true);
        await change(from, fallback.configId, { fallbackConfigId: third.id });
        fallback.provider.faultFor = () => failure;
        await openBreaker(fallback);
      },
    ],
    [
      "is not verified",
      ({ from, fallback }) => change(from, fallback.configId, { fromEmail: "new@example.org" }),
    ],
    ["was deleted", ({ from, fallback }) => sendingConfigs.remove(from.caller, fallback.configId)],
    [
      "was removed from the config",
      ({ from }) => change(from, from.configId, { fallbackConfigId: null }),
    ],
  ])("that %s takes no mail: new mail waits for its own config", async (_, breakFallback) => {
    const pair = await senderWithFallback();
    const { from } = pair;
    from.provider.faultFor = () => failure;
    await openBreaker(from);
    await breakFallback(pair);
    const { id } = await sendOne(from);
    expect(await sentWith(from, id)).toEqual([from.configId, "shop@example.com"]);
  });

  test("is not used when the provider responds 429 with Retry-After", async () => {
    const { from } = await senderWithFallback();
    from.provider.faultFor = () => ({ status: 429, headers: { "retry-after": "30" } });
    await openBreaker(from);
    expect(await sentWith(from, (await sendOne(from)).id)).toContain(from.configId);
  });

  test("sends the content of a repeated request, not the content that a crashed one has stored", async () => {
    const { from, fallback } = await senderWithFallback();
    from.provider.faultFor = () => failure;
    await openBreaker(from);
    const id = await ids.nextSendId();
    const html = Array.from({ length: 400 }, () => crypto.randomUUID()).join(" ");
    const leftBehind = await compress(keys.singleContent(from.caller.orgId, id + 1), {});
    await write(put(keys.singleContent(from.caller.orgId, id + 1), leftBehind));
    const repeated = await sendOne(from, { html });
    expect(repeated.id).toBe(id + 1);
    await handOver(from, repeated.id);
    expect(fallback.provider.mails).toMatchObject([{ sendId: repeated.id, html }]);
  });
});

test("after lost responses the runner stops calling the provider, and the rest of the lane waits", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.faultFor = () => (failing ? "lost" : undefined);
  const ids = await batch(from, 500);
  mailTest.pendingMessages.length = 0;
  await run(from);
  expect(from.provider.calls.length).toBeLessThan(5);
  failing = false;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ uncertain: 400, sent: 100 });
});

test.each(["postmark", "resend"] as const)(
  "mail that %s has not accepted for 24 hours fails",
  async (key) => {
    const from = await sender(key);
    from.provider.faultFor = () => ({ status: 503, headers: { "retry-after": "3600" } });
    const ids = await batch(from, 3);
    const { id } = await mailTest.send(from, { to: "one@example.com" });
    await mailTest.runWorkers({ forSeconds: 100 });
    clock.advanceClock(23 * 3600);
    await mailTest.runWorkers({ forSeconds: 1000 });
    expect((await mailTest.listAllSends(from)).map(({ status }) => status)).not.toContain("failed");
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, [...ids, id])).toEqual({ failed: 4 });
    for (const { error } of await mailTest.listAllSends(from))
      expect(error).toMatch(/^The mail could not be sent within 24 hours: /);

    // The wait of the failed mail does not count for new mail.
    from.provider.faultFor = () => undefined;
    const later = await batch(from, 2);
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, later)).toEqual({ failed: 4, sent: 2 });
  },
);

test("after an internal error, the lane waits for the next drain and no message is enqueued", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  mailTest.pendingMessages.length = 0;
  const { orgId } = from.caller;
  const failing = laneRunner.runLane(orgId, from.configId, async () => {
    throw new Error("out of order");
  });
  await expect(failing).rejects.toThrow("out of order");
  expect(mailTest.pendingMessages).toEqual([]);
  clock.advanceClock(95);
  for (const shard of [0, 1, 2, 3]) await due.drain("LANE", shard);
  expect(mailTest.pendingMessages).toHaveLength(1);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 2 });
});

test("overlapping drains enqueue each of 130 due sends once", async () => {
  const from = await sender("postmark");
  const sent = await Promise.all(
    mailTest.uniqueRecipients(130).map((one) => mailTest.send(from, one)),
  );
  mailTest.pendingMessages.length = 0;
  clock.advanceClock(700);
  const drainTwice = (kind: DueWorkKind) =>
    Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map((shard) => due.drain(kind, shard)));
  // The sweeps put the sends on the due index.
  await drainTwice("SWEEP");
  clock.advanceClock(1);
  await drainTwice("SEND");
  expect(mailTest.pendingMessages.map(({ body }) => body.sendId).sort()).toEqual(
    sent.map(({ id }) => id).sort(),
  );
  await mailTest.runWorkers();
  expect(
    await mailTest.expectBalanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 130 });
});

test("three workers hand over one send concurrently: only one calls the provider", async () => {
  const from = await sender("ses");
  from.provider.latencyMs = 20;
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const deliver = () => handOverSingle(from.caller.orgId, id);
  await Promise.all([deliver(), deliver(), deliver()]);
  await deliver();
  await mailTest.runWorkers();
  expect(from.provider.calls).toHaveLength(1);
  expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 1 });
});

const claimedMeanwhile = async (from: mailTest.TestSender) => {
  from.provider.faultFor = () => "lost";
  await run(from);
  from.provider.faultFor = () => undefined;
};
const cancelledMeanwhile = async (from: mailTest.TestSender, ids: number[]) => {
  // The clock of this request is behind, so it sees the chunk as scheduled.
  clock.advanceClock(-2);
  await cancelSend(from.caller, ids[0]!).finally(() => clock.advanceClock(2));
};

test.each([
  ["one of its calls was claimed", claimedMeanwhile, { sent: 2 }],
  ["one of its lines was cancelled", cancelledMeanwhile, { cancelled: 1, sent: 1 }],
])("a chunk that was read before %s is not postponed", async (_, meanwhile, expected) => {
  const from = await sender("resend");
  const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(2), {
    scheduledAt: clock.addSeconds(60).toISOString(),
  });
  const ids = results.map(({ id }) => id!);
  clock.advanceClock(61);
  const { orgId } = from.caller;
  const { items } = await query<QueuedChunk>(ranges.queuedChunks(orgId, from.configId), {
    consistent: true,
  });
  const holding = pauseCall("TransactWriteItems");
  const postponing = postponeChunk({ orgId, configId: from.configId }, items[0]!, 600);
  await holding.reached;
  await meanwhile(from, ids);
  holding.release();
  expect(await postponing).toBe(false);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual(expected);
  expect(from.provider.mails).toHaveLength(expected.sent);
});

test("a runner whose lease has expired does not release the lease of the next runner", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  const { orgId } = from.caller;
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const result = {
    done: false,
    hasProgress: false,
    delay: { reason: "turn" as const, seconds: 1 },
  };
  let second: Promise<void> | undefined;
  await laneRunner.runLane(orgId, from.configId, async () => {
    clock.advanceClock(queues.lane.timeoutSeconds * 2);
    second = laneRunner.runLane(orgId, from.configId, async () => {
      started.resolve();
      await finish.promise;
      return result;
    });
    await started.promise;
    return result;
  });
  expect(await lane(from)).toHaveProperty("owner");
  finish.resolve();
  await second;
  expect(await lane(from)).not.toHaveProperty("owner");
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 2 });
});

test("batches of a lane are sent one after the other", async () => {
  const from = await sender("postmark");
  from.provider.latencyMs = 50;
  const ids = [...(await batch(from, 1)), ...(await batch(from, 1)), ...(await batch(from, 1))];
  await run(from);
  expect(from.provider.mails.map(({ sendId }) => sendId)).toEqual(ids);
  expect(from.provider.maxConcurrentCalls).toBe(1);
});

test("two workers take over a crashed worker's send: only one calls the provider", async () => {
  const from = await sender("resend");
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const { orgId } = from.caller;
  const status = async () => (await findDetail(from.caller, id)).status;
  for (let steps = 1; (await status()) !== "sending"; steps++)
    await runUntilCrash(steps, "after", () => handOverSingle(orgId, id));
  clock.advanceClock(queues.send.timeoutSeconds * 2 + 90);
  from.provider.latencyMs = 50;
  const { length } = from.provider.calls;
  await Promise.all([handOverSingle(orgId, id), handOverSingle(orgId, id)]);
  expect(from.provider.calls).toHaveLength(length + 1);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 1 });
});

test("a worker that was slow to give up a send does not reset one that waits for its repeat", async () => {
  const from = await sender("postmark");
  const { orgId } = from.caller;
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const key = keys.send(orgId, id);
  // The first worker may have handed the mail over, and its lease has expired.
  const claimed = { status: "sending", attempt: 2, by: "worker1", doubt: true };
  await write(update(key, { set: { ...claimed, lease: clock.now().toISOString() } }));
  clock.advanceClock(queues.send.timeoutSeconds + 90);
  const settling = pauseCall("any", (input) => JSON.stringify(input).includes('"uncertain"'));
  const second = handOverSingle(orgId, id);
  await settling.reached;
  await write(update(key, { set: { status: "queued" }, remove: ["lease"] }));
  settling.release();
  await second;
  removePauses();
  expect(await get(key)).toMatchObject({
    ...claimed,
    status: "queued",
    content: expect.anything(),
  });
  await mailTest.runWorkers();
  expect(from.provider.calls).toEqual([]);
  expect(await findDetail(from.caller, id)).toMatchObject({ status: "uncertain" });
});

test("a second worker leaves a send alone while the first one hands it over", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const deliver = () => handOverSingle(from.caller.orgId, id);
  await mailTest.whileProviderWaits(from, deliver, deliver);
  expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 1 });
});

describe("a lane is not blocked", () => {
  test("by a value that DynamoDB cannot store: its chunk and later chunks are sent", async () => {
    const from = await sender("postmark");
    const { orgId } = from.caller;
    const { batchId, results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
    const { head, lines } = (await chunks.getChunk(orgId, batchId, 0))!;
    const poisoned = lines.map((line) =>
      line.i === 1 ? { ...line, metadata: { n: 2 ** 53 } } : line,
    );
    const [item] = await chunks.buildChunkItems({ orgId, block: batchId }, head, poisoned);
    await write(put(item!.key, item!.item));
    const ids = [...results.map(({ id }) => id!), ...(await batch(from, 2))];
    await run(from);
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 5 });
  });

  test("by a chunk that fails three times: later chunks are sent, and it is sent once it works again", async () => {
    const from = await sender("postmark");
    const { orgId } = from.caller;
    const { batchId, results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
    const address = keys.chunk(orgId, batchId, 0);
    const whole = await get<{ gz: Uint8Array }>(address);
    await write(put(address, { ...whole!, gz: new Uint8Array([1, 2, 3]) }));
    clock.advanceClock(1);
    const laterIds = await batch(from, 2);
    for (const _ of [1, 2]) await expect(run(from)).rejects.toThrow();
    expect(from.provider.mails).toEqual([]);
    await run(from);
    expect(from.provider.mails.map(({ sendId }) => sendId).toSorted()).toEqual(laterIds.toSorted());
    await write(put(address, whole!));
    await mailTest.runWorkers();
    expect(
      await mailTest.expectBalanced(from, [...results.map(({ id }) => id!), ...laterIds]),
    ).toEqual({ sent: 5 });
  });
});
