// Lanes: one runner at a time, at the provider's pace, and no mail forgotten in them.
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as laneRunner from "../../shared/domain/sending/lane-runner.ts";
import * as lanes from "../../shared/domain/sending/lanes.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import * as sends from "../../shared/domain/sends.ts";
import { get, query } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { killed } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailroom.opened);
beforeEach(() => mailroom.messages.splice(0));
const open: mailroom.Sender[] = [];
afterEach(async () => {
  letGo();
  for (const { provider } of open.splice(0)) await provider.stop();
});

async function sender(...args: Parameters<typeof mailroom.sender>): Promise<mailroom.Sender> {
  const from = await mailroom.sender(...args);
  open.push(from);
  return from;
}

const batch = async (from: mailroom.Sender, n: number) =>
  (await mailroom.sendBatch(from, mailroom.recipients(n))).results.map(({ id }) => id!);
const run = ({ caller, configId }: mailroom.Sender) => mailroom.runLane(caller.orgId, configId);
const lane = ({ caller, configId }: mailroom.Sender) => get<Record<string, number>>(keys.lane(caller.orgId, configId));
/** Seconds until the next message may be received. */
const nextIn = () => Math.round((Math.min(...mailroom.messages.map(({ visibleAt }) => visibleAt)) - clock.now().getTime()) / 1000);

test("two runners at once: one works, the other goes away", async () => {
  const from = await sender("postmark");
  from.provider.slowMs = 20;
  const ids = await batch(from, 250);
  await Promise.all([run(from), run(from), run(from)]);
  expect(from.provider.calls.map(({ recipients }) => recipients).sort()).toEqual([100, 100, 50]);
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 250 });
});

test("a batch that arrives after the runner has looked and before it has left is not forgotten", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  const arrive = async () => ids.push(...(await batch(from, 3)));
  await mailroom.whenLookedInto(
    (items) => items.length === 0,
    arrive,
    () => run(from),
  );
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 5 });
});

test("a runner that is told to wind up leaves the rest to the queue at once", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 3);
  laneRunner.windUp(true);
  mailroom.messages.length = 0;
  await run(from);
  laneRunner.windUp(false);
  expect(from.provider.calls).toEqual([]);
  expect(mailroom.messages).toHaveLength(1);
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 3 });
});

/** No mail came before its turn, each for so many mails; later it may come on a busy machine. */
function paced({ provider }: mailroom.Sender, ratePerSecond: number, startedMs: number, mailsToTurn = 1) {
  let before = 0;
  for (const { at, recipients } of provider.calls) {
    const turns = Math.floor(before / mailsToTurn);
    // Our clock counts whole milliseconds.
    expect(at - startedMs).toBeGreaterThanOrEqual(((turns * mailsToTurn) / ratePerSecond) * 1000 - 2);
    before += recipients;
  }
}

test.each([
  ["postmark", 20, 60, 3],
  ["ses", 20, 30, 30],
] as const)("%s is given no more mails a second than the config says", async (key, ratePerSecond, n, calls) => {
  const from = await sender(key, { ratePerSecond });
  const ids = await batch(from, n);
  const startedMs = clock.now().getTime();
  await mailroom.settle();
  expect(from.provider.calls).toHaveLength(calls);
  paced(from, ratePerSecond, startedMs, ratePerSecond);
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: n });
});

test("single sends come at the same pace, and each takes its turn once however many wait", async () => {
  const from = await sender("postmark", { ratePerSecond: 10 });
  const sent = await Promise.all(mailroom.recipients(40).map((one) => mailroom.send(from, one)));
  const startedMs = clock.now().getTime();
  await Promise.all(sent.map(({ id }) => singles.deliver(from.caller.orgId, id)));
  const early = from.provider.calls.length;
  // Two seconds are slept through; a busy machine comes late for its turns, and gets further.
  expect(early).toBeGreaterThan(15);
  paced(from, 10, startedMs);
  const started = clock.now().getTime();
  mailroom.messages.splice(0, 40);
  expect(mailroom.messages).toHaveLength(40 - early);
  await mailroom.settle();
  expect(clock.now().getTime() - started).toBeLessThan(8000);
  expect(
    await mailroom.balanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 40 });
});

test("a pace of minutes is kept as well, by sends that wait further ahead than a message can", async () => {
  const from = await sender("ses", { ratePerSecond: 0.01 });
  const sent = await Promise.all(mailroom.recipients(12).map((one) => mailroom.send(from, one)));
  const startedMs = clock.now().getTime();
  await mailroom.settle();
  paced(from, 0.01, startedMs);
  expect(
    await mailroom.balanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 12 });
});

test("a single send does not wait behind a batch", async () => {
  const from = await sender("ses", { ratePerSecond: 10 });
  const ids = await batch(from, 30);
  const running = run(from);
  await clock.sleep(300);
  const { id } = await mailroom.send(from, { to: "reset@example.com" });
  await singles.deliver(from.caller.orgId, id);
  const place = from.provider.mails.findIndex(({ sendId }) => sendId === id);
  expect(place).toBeGreaterThan(0);
  expect(place).toBeLessThan(25);
  await running;
  await mailroom.settle();
  expect(await mailroom.balanced(from, [...ids, id])).toEqual({ sent: 31 });
});

test("a provider that asks for a pause gets it from everyone, and nothing is lost", async () => {
  const from = await sender("postmark");
  from.provider.trouble = ({ n }) => (n === 1 ? { status: 429, headers: { "retry-after": "30" } } : undefined);
  const ids = await batch(from, 3);
  mailroom.messages.length = 0;
  await run(from);
  expect(nextIn()).toBe(30);
  await run(from);
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  mailroom.messages.length = 0;
  await singles.deliver(from.caller.orgId, id);
  expect(nextIn()).toBe(30);
  expect(from.provider.calls).toHaveLength(1);
  await mailroom.settle();
  expect(await mailroom.balanced(from, [...ids, id])).toEqual({ sent: 4 });
});

test("a pause of unheard-of length is cut to an hour", async () => {
  const from = await sender("postmark");
  from.provider.trouble = ({ n }) => (n === 1 ? { status: 429, headers: { "retry-after": "999999999999999" } } : undefined);
  const ids = await batch(from, 3);
  await mailroom.settle({ forSeconds: 4000 });
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 3 });
});

test("a provider that fails is asked after 1, 2, 4 and 8 seconds, then once a minute, until it takes mail again", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.trouble = () => (failing ? { status: 500 } : undefined);
  const ids = await batch(from, 3);
  const pauses: number[] = [];
  for (let n = 0; n < 7; n++) {
    mailroom.messages.length = 0;
    await run(from);
    pauses.push(nextIn());
    clock.advance(nextIn());
  }
  expect(pauses).toEqual([1, 2, 4, 8, 60, 60, 60]);
  failing = false;
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 3 });
  expect(await lane(from)).not.toHaveProperty("faults");
  expect(await lane(from)).not.toHaveProperty("heldSince");
});

test("five single sends that fail in a row open the breaker for all, and one that succeeds closes it", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.trouble = () => (failing ? { status: 503 } : undefined);
  const sent = await Promise.all(mailroom.recipients(6).map((one) => mailroom.send(from, one)));
  for (const { id } of sent) await singles.deliver(from.caller.orgId, id);
  expect(from.provider.calls).toHaveLength(5);
  failing = false;
  await mailroom.settle();
  expect(await lane(from)).not.toHaveProperty("faults");
  expect(
    await mailroom.balanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 6 });
});

test("a provider that does not answer is not asked again and again: the rest of the lane waits", async () => {
  const from = await sender("postmark");
  let failing = true;
  from.provider.trouble = () => (failing ? "lost" : undefined);
  const ids = await batch(from, 500);
  mailroom.messages.length = 0;
  await run(from);
  expect(from.provider.calls.length).toBeLessThan(5);
  failing = false;
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ uncertain: 400, sent: 100 });
});

test.each(["postmark", "resend"] as const)("mail that %s has not taken for 24 hours is given up", async (key) => {
  const from = await sender(key);
  from.provider.trouble = () => ({ status: 503, headers: { "retry-after": "3600" } });
  const ids = await batch(from, 3);
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  await mailroom.settle({ forSeconds: 100 });
  clock.advance(23 * 3600);
  await mailroom.settle({ forSeconds: 1000 });
  expect((await mailroom.listed(from)).map(({ status }) => status)).not.toContain("failed");
  await mailroom.settle();
  expect(await mailroom.balanced(from, [...ids, id])).toEqual({ failed: 4 });
  for (const { error } of await mailroom.listed(from)) expect(error).toMatch(/^Gave up after 24 hours: /);

  // Mail that comes then is not given up for what others have waited.
  from.provider.trouble = () => undefined;
  const later = await batch(from, 2);
  await mailroom.settle();
  expect(await mailroom.balanced(from, later)).toEqual({ failed: 4, sent: 2 });
});

test("an error of ours gives the lane back for a tick, and sends no message that would multiply", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  mailroom.messages.length = 0;
  const { orgId } = from.caller;
  const failing = laneRunner.run(orgId, from.configId, async () => {
    throw new Error("out of order");
  });
  await expect(failing).rejects.toThrow("out of order");
  expect(mailroom.messages).toEqual([]);
  clock.advance(95);
  for (const shard of [0, 1, 2, 3]) await due.drain("LANE", shard);
  expect(mailroom.messages).toHaveLength(1);
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 2 });
});

test("ticks that overlap bring each send on its way once, however many are due", async () => {
  const from = await sender("postmark");
  const sent = await Promise.all(mailroom.recipients(130).map((one) => mailroom.send(from, one)));
  mailroom.messages.length = 0;
  clock.advance(300);
  await Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map((shard) => due.drain("SEND", shard)));
  expect(mailroom.messages.map(({ body }) => body.sendId).sort()).toEqual(sent.map(({ id }) => id).sort());
  await mailroom.settle();
  expect(
    await mailroom.balanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 130 });
});

test("one send delivered by two workers at once goes out once", async () => {
  const from = await sender("ses");
  from.provider.slowMs = 20;
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const deliver = () => singles.deliver(from.caller.orgId, id);
  await Promise.all([deliver(), deliver(), deliver()]);
  await deliver();
  await mailroom.settle();
  expect(from.provider.calls).toHaveLength(1);
  expect(await mailroom.balanced(from, [id])).toEqual({ sent: 1 });
});

const claimedMeanwhile = async (from: mailroom.Sender) => {
  from.provider.trouble = () => "lost";
  await run(from);
  from.provider.trouble = () => undefined;
};
const cancelledMeanwhile = async (from: mailroom.Sender, ids: number[]) => {
  // A request that is a little behind: it sees the chunk as still to come.
  clock.advance(-2);
  await sends.cancel(from.caller, ids[0]!).finally(() => clock.advance(2));
};

test.each([
  ["a call of it was claimed", claimedMeanwhile, { sent: 2 }],
  ["a line of it was cancelled", cancelledMeanwhile, { cancelled: 1, sent: 1 }],
])("a chunk is not set aside as it was before %s", async (_, meanwhile, end) => {
  const from = await sender("resend");
  const { results } = await mailroom.sendBatch(from, mailroom.recipients(2), { scheduledAt: clock.after(60).toISOString() });
  const ids = results.map(({ id }) => id!);
  clock.advance(61);
  const { orgId } = from.caller;
  const { items } = await query<lanes.Waiting>(ranges.waiting(orgId, from.configId), { consistent: true });
  const holding = heldUp(TransactWriteCommand);
  const aside = lanes.setAside(orgId, from.configId, items[0]!, 600);
  await holding.reached;
  await meanwhile(from, ids);
  holding.release();
  expect(await aside).toBe(false);
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual(end);
  expect(from.provider.mails).toHaveLength(end.sent);
});

test("a runner whose lease is over takes nothing from the one who has the lane now", async () => {
  const from = await sender("postmark");
  const ids = await batch(from, 2);
  const { orgId } = from.caller;
  const [looked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const others = { done: false, moved: false, wait: { why: "turn" as const, seconds: 1 } };
  let second: Promise<void> | undefined;
  await laneRunner.run(orgId, from.configId, async () => {
    clock.advance(queues.lane.timeoutSeconds * 2);
    second = laneRunner.run(orgId, from.configId, async () => {
      looked.resolve();
      await told.promise;
      return others;
    });
    await looked.promise;
    return others;
  });
  expect(await lane(from)).toHaveProperty("owner");
  told.resolve();
  await second;
  expect(await lane(from)).not.toHaveProperty("owner");
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 2 });
});

test("batches of callers go one after the other", async () => {
  const from = await sender("postmark");
  from.provider.slowMs = 50;
  const ids = [...(await batch(from, 1)), ...(await batch(from, 1)), ...(await batch(from, 1))];
  await run(from);
  expect(from.provider.mails.map(({ sendId }) => sendId)).toEqual(ids);
  expect(from.provider.busiest).toBe(1);
});

test("of two who take up the send of one who died, one asks the provider", async () => {
  const from = await sender("resend");
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const { orgId } = from.caller;
  const status = async () => (await sends.detail(from.caller, id)).status;
  for (let steps = 1; (await status()) !== "sending"; steps++) await killed(steps, "after", () => singles.deliver(orgId, id));
  clock.advance(queues.send.timeoutSeconds * 2 + 90);
  from.provider.slowMs = 50;
  const { length } = from.provider.calls;
  await Promise.all([singles.deliver(orgId, id), singles.deliver(orgId, id)]);
  expect(from.provider.calls).toHaveLength(length + 1);
  await mailroom.settle();
  expect(await mailroom.balanced(from, [id])).toEqual({ sent: 1 });
});

test("a send that somebody is handing over is left alone", async () => {
  const from = await sender("postmark");
  from.provider.slowMs = 100;
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const deliver = () => singles.deliver(from.caller.orgId, id);
  const first = deliver();
  while (!from.provider.calls.length) await clock.sleep(5);
  await deliver();
  await first;
  expect(await mailroom.balanced(from, [id])).toEqual({ sent: 1 });
});
