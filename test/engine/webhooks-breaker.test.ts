import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import type { Heard } from "../support/endpoint.ts";
import { announced, another, happened, listener, workers } from "../support/forwarding.ts";
import { dead, opened, settle, waiting } from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await opened();
});
beforeEach(() => {
  process.env.WEBHOOK_TIMEOUT_SECONDS = "0.2";
});
afterAll(() => expect(dead).toEqual([]));

const sendIds = (heard: Heard[]) => heard.map(({ event }) => event.sendId);
const [minute, hour, day] = [60, 3600, 24 * 3600];

test("of 2,000 events each, an endpoint that hangs delays none of a healthy one's, and spends none of its own tries", {
  timeout: 60_000,
}, async () => {
  process.env.WEBHOOK_TIMEOUT_SECONDS = "2";
  const [hanging, healthy] = [await listener("hang"), await listener()];
  const [lost, fine] = [happened(2000), happened(2000)];
  let [healthyMs, hungMs] = [0, 0];
  const started = performance.now();
  healthy.there.answer = () => {
    healthyMs = performance.now() - started;
    return 200;
  };
  hanging.there.answer = async (): Promise<"hang"> => {
    await clock.sleep(1900);
    hungMs = performance.now() - started;
    return "hang";
  };
  await webhooks.announce(hanging.caller.orgId, lost);
  await webhooks.announce(healthy.caller.orgId, fine);
  await settle(workers);
  const hung = hanging.there.heard.length;

  expect(new Set(sendIds(healthy.there.heard)).size).toBe(2000);
  expect(healthy.there.heard).toHaveLength(2000);
  expect(healthyMs).toBeLessThan(hungMs);
  // Ten batches of messages at the same time, with five calls each: no call followed one that hung.
  expect(hung).toBeLessThanOrEqual(50);
  expect((await hanging.webhook()).coolUntil! > clock.now().toISOString()).toBe(true);
  const left = await hanging.deliveries();
  expect(left.filter(({ status }) => status === "pending")).toHaveLength(2000);
  expect(left.filter(({ attempts }) => attempts === 0)).toHaveLength(2000 - hung);

  hanging.there.answer = 200;
  await settle(workers, { forSeconds: hour });
  expect(new Set(sendIds(hanging.there.heard.slice(hung))).size).toBe(2000);
  const told = await hanging.deliveries();
  expect(told.every(({ status }) => status === "delivered")).toBe(true);
  expect(told.filter(({ attempts }) => attempts === 1)).toHaveLength(2000 - hung);
  expect(await hanging.webhook()).toMatchObject({ active: true, failingSince: null });
});

test("while it hangs, one call at a time finds out whether it is back, at growing intervals of at most half an hour", async () => {
  const { caller, there, deliveries, webhook } = await listener("hang");
  await announced(caller, happened(300), 3 * hour);
  // Five at once, then one after 1, 2, 4, 8, 16, 30, 30, ... minutes.
  const calls = there.heard.length - 5;
  expect(calls).toBeGreaterThanOrEqual(8);
  expect(calls).toBeLessThanOrEqual(12);
  const list = await deliveries();
  expect(list.filter(({ status }) => status === "pending")).toHaveLength(300);
  expect(Math.max(...list.map(({ attempts }) => attempts))).toBeLessThan(10);
  expect((await webhook()).failingSince).not.toBeNull();
  there.answer = 200;
  await settle(workers, { forSeconds: 2 * day });
  expect((await deliveries()).every(({ status }) => status === "delivered")).toBe(true);
});

test("single events that hang add up: the sixth is not tried", async () => {
  const { caller, there, deliveries } = await listener("hang");
  for (let i = 0; i < 6; i++) {
    await webhooks.announce(caller.orgId, happened());
    // Their own retries come later.
    await settle(workers);
  }
  expect(there.heard).toHaveLength(5);
  expect((await deliveries()).map(({ attempts }) => attempts)).toEqual([0, 1, 1, 1, 1, 1]);
});

test("an answer, even a bad one, ends the row of those that hang", async () => {
  const { caller, there } = await listener("hang");
  for (const answer of ["hang", "hang", "hang", "hang", 500, "hang", "hang", 200, "hang", "hang"] as const) {
    there.answer = answer;
    await announced(caller, happened());
  }
  expect(there.heard).toHaveLength(10);
});

test("five days of hanging set an endpoint inactive, and what waited for it is dead", async () => {
  const { caller, deliveries, webhook } = await listener("hang");
  await announced(caller, happened(20), minute);
  for (let days = 0; days < 5; days += 1.25) {
    expect((await webhook()).active).toBe(true);
    clock.advance(1.25 * day);
    await settle(workers, { forSeconds: minute });
  }
  expect(await webhook()).toMatchObject({ active: false, inactiveReason: "It did nothing but fail for 5 days" });
  expect((await deliveries()).map(({ status }) => status)).toEqual(Array(20).fill("dead"));
  waiting.splice(0);
});

test("another endpoint of the same organization does not feel it", async () => {
  const hanging = await listener("hang");
  const healthy = await another(hanging.caller);
  await announced(hanging.caller, happened(20));
  await announced(hanging.caller, happened(20));
  expect([hanging.there.heard.length, healthy.there.heard.length]).toEqual([5, 40]);
});

test("set active again, or with another URL, an endpoint that hung is called at once", async () => {
  const { caller, id, there } = await listener("hang");
  await announced(caller, happened(10));
  there.answer = 200;
  await webhooks.change(caller, id, { active: true });
  await announced(caller, happened(10));
  expect(there.heard).toHaveLength(5 + 10);
  await settle(workers, { forSeconds: 2 * minute });
  expect(there.heard).toHaveLength(5 + 20);
});
