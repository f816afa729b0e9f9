import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import type { ReceivedDelivery } from "../support/customer-endpoint.ts";
import {
  addEndpoint,
  createEvents,
  createListener,
  enqueueAndDeliver,
  workers,
} from "../support/outgoing-webhooks.ts";
import { manualTimeouts } from "../support/timeouts.ts";
import {
  deadLetters,
  pendingMessages,
  runWorkers,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
});
beforeEach(() => {
  process.env.WEBHOOK_TIMEOUT_SECONDS = "0.2";
});
afterAll(() => expect(deadLetters).toEqual([]));

const sendIds = (received: ReceivedDelivery[]) => received.map(({ event }) => event.sendId);
const [minute, hour, day] = [60, 3600, 24 * 3600];

test("an endpoint that hangs delays no event of a healthy one, and uses up no attempts", async () => {
  const timeouts = manualTimeouts();
  onTestFinished(timeouts.expire);
  const [hanging, healthy] = [await createListener("hang"), await createListener()];
  const [lost, fine] = [createEvents(2000), createEvents(2000)];
  // No hanging call times out before the healthy endpoint has all its events.
  healthy.endpoint.answer = () => {
    if (healthy.endpoint.deliveries.length === 2000) timeouts.expire();
    return 200;
  };
  await enqueueEvents(hanging.caller.orgId, lost);
  await enqueueEvents(healthy.caller.orgId, fine);
  await runWorkers(workers);
  const hung = hanging.endpoint.deliveries.length;

  expect(new Set(sendIds(healthy.endpoint.deliveries)).size).toBe(2000);
  expect(healthy.endpoint.deliveries).toHaveLength(2000);
  // Ten concurrent batches with five calls each: no call followed a hanging one.
  expect(hung).toBeLessThanOrEqual(50);
  expect((await hanging.webhook()).coolUntil! > clock.now().toISOString()).toBe(true);
  const remaining = await hanging.deliveries();
  expect(remaining.filter(({ status }) => status === "pending")).toHaveLength(2000);
  expect(remaining.filter(({ attempts }) => attempts === 0)).toHaveLength(2000 - hung);

  hanging.endpoint.answer = 200;
  // On a busy machine, 50 calls at a time can take longer than the time limit of hanging calls.
  const hangingLimit = process.env.WEBHOOK_TIMEOUT_SECONDS!;
  process.env.WEBHOOK_TIMEOUT_SECONDS = "60";
  await runWorkers(workers, { forSeconds: hour });
  process.env.WEBHOOK_TIMEOUT_SECONDS = hangingLimit;
  expect(new Set(sendIds(hanging.endpoint.deliveries.slice(hung))).size).toBe(2000);
  const delivered = await hanging.deliveries();
  expect(delivered.every(({ status }) => status === "delivered")).toBe(true);
  expect(delivered.filter(({ attempts }) => attempts === 1)).toHaveLength(2000 - hung);
  expect(await hanging.webhook()).toMatchObject({ active: true, failingSince: null });
});

test("an open breaker makes single probe calls at growing intervals of at most half an hour", async () => {
  const { caller, endpoint, deliveries, webhook } = await createListener("hang");
  await enqueueAndDeliver(caller, createEvents(300), 3 * hour);
  // Five at once, then one after 1, 2, 4, 8, 16, 30, 30, ... minutes.
  const calls = endpoint.deliveries.length - 5;
  expect(calls).toBeGreaterThanOrEqual(8);
  expect(calls).toBeLessThanOrEqual(12);
  const list = await deliveries();
  expect(list.filter(({ status }) => status === "pending")).toHaveLength(300);
  expect(Math.max(...list.map(({ attempts }) => attempts))).toBeLessThan(10);
  expect((await webhook()).failingSince).not.toBeNull();
  endpoint.answer = 200;
  await runWorkers(workers, { forSeconds: 2 * day });
  expect((await deliveries()).every(({ status }) => status === "delivered")).toBe(true);
});

test("timeouts of single events add up, so the sixth event is not tried", async () => {
  const { caller, endpoint, deliveries } = await createListener("hang");
  for (let i = 0; i < 6; i++) {
    await enqueueEvents(caller.orgId, createEvents());
    // Their retries are due later.
    await runWorkers(workers);
  }
  expect(endpoint.deliveries).toHaveLength(5);
  expect((await deliveries()).map(({ attempts }) => attempts)).toEqual([0, 1, 1, 1, 1, 1]);
});

test("any response resets the count of timeouts, even an error", async () => {
  const { caller, endpoint } = await createListener("hang");
  for (const answer of [
    "hang",
    "hang",
    "hang",
    "hang",
    500,
    "hang",
    "hang",
    200,
    "hang",
    "hang",
  ] as const) {
    endpoint.answer = answer;
    await enqueueAndDeliver(caller, createEvents());
  }
  expect(endpoint.deliveries).toHaveLength(10);
});

test("five days of timeouts set an endpoint inactive and its pending deliveries dead", async () => {
  const { caller, deliveries, webhook } = await createListener("hang");
  await enqueueAndDeliver(caller, createEvents(20), minute);
  for (let days = 0; days < 5; days += 1.25) {
    expect((await webhook()).active).toBe(true);
    clock.advanceClock(1.25 * day);
    await runWorkers(workers, { forSeconds: minute });
  }
  expect(await webhook()).toMatchObject({
    active: false,
    inactiveReason: "Every delivery failed for 5 days",
  });
  expect((await deliveries()).map(({ status }) => status)).toEqual(Array(20).fill("dead"));
  pendingMessages.splice(0);
});

test("does not affect another endpoint of the same organization", async () => {
  const hanging = await createListener("hang");
  const healthy = await addEndpoint(hanging.caller);
  await enqueueAndDeliver(hanging.caller, createEvents(20));
  await enqueueAndDeliver(hanging.caller, createEvents(20));
  expect([hanging.endpoint.deliveries.length, healthy.endpoint.deliveries.length]).toEqual([5, 40]);
});

test("an endpoint that is set active again or gets a new URL is called at once", async () => {
  const { caller, id, endpoint } = await createListener("hang");
  await enqueueAndDeliver(caller, createEvents(10));
  endpoint.answer = 200;
  await webhooks.change(caller, id, { active: true });
  await enqueueAndDeliver(caller, createEvents(10));
  expect(endpoint.deliveries).toHaveLength(5 + 10);
  await runWorkers(workers, { forSeconds: 2 * minute });
  expect(endpoint.deliveries).toHaveLength(5 + 20);
});
