import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import {
  hasStandardSignature,
  hasValidSignature,
  startCustomerEndpoint,
  toWhsec,
} from "../support/customer-endpoint.ts";
import {
  addEndpoint,
  createEvents,
  createListener,
  enqueueAndDeliver,
  workers,
} from "../support/outgoing-webhooks.ts";
import { pendingMessages, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

const [minute, hour, day] = [60, 3600, 24 * 3600];

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
});

test("delivers each event in one call, with exactly the documented fields", async () => {
  const { caller, endpoint, secret, deliveries } = await createListener();
  endpoint.answerText = `\u0007${"x".repeat(400)}`;
  const [first, second] = [
    ...createEvents(1, "bounce"),
    { ...createEvents(1, "click")[0]!, contactId: null, data: { url: "https://x.example" } },
  ];
  await enqueueAndDeliver(caller, [first!, second!]);
  const { id: _, details: __, ...payload } = first!;
  expect(
    endpoint.deliveries.map(({ event }) => event).toSorted((a, b) => a.sendId - b.sendId),
  ).toEqual([
    payload,
    {
      event: "click",
      sendId: second!.sendId,
      contactId: null,
      email: second!.email,
      timestamp: second!.timestamp,
    },
  ]);
  for (const delivery of endpoint.deliveries)
    expect([
      hasValidSignature(delivery, secret),
      hasStandardSignature(delivery, toWhsec(secret)),
    ]).toEqual([true, true]);
  expect(await deliveries()).toMatchObject([
    {
      eventId: second!.id,
      event: "click",
      sendId: second!.sendId,
      status: "delivered",
      attempts: 1,
      responseStatus: 200,
      requestBody: endpoint.deliveries.find(({ body }) => body.includes('"click"'))!.body,
      responseBody: "x".repeat(300),
      error: null,
    },
    {
      eventId: first!.id,
      status: "delivered",
      nextAttemptAt: null,
      lastAttemptAt: expect.any(String),
      latencyMs: expect.any(Number),
    },
  ]);
});

test("delivers only the event types of the endpoint, and only while it is active", async () => {
  const { caller, id, endpoint } = await createListener();
  await webhooks.change(caller, id, { events: ["open", "bounce"] });
  await enqueueAndDeliver(caller, [
    ...createEvents(2, "open"),
    ...createEvents(3, "delivered"),
    ...createEvents(1, "bounce"),
  ]);
  expect(endpoint.deliveries.map(({ event }) => event.event).toSorted()).toEqual([
    "bounce",
    "open",
    "open",
  ]);
  await webhooks.change(caller, id, { active: false });
  await enqueueAndDeliver(caller, createEvents(2, "open"));
  expect(endpoint.deliveries).toHaveLength(3);
});

test("queues nothing without a matching endpoint", async () => {
  const { caller, id } = await createListener();
  await webhooks.change(caller, id, { events: ["spam_report"] });
  await enqueueEvents(caller.orgId, createEvents(250));
  expect(pendingMessages).toEqual([]);
});

test("retries with the same webhook-id and a new signature until the delivery is dead", async () => {
  const times: Date[] = [];
  const { caller, endpoint, secret, deliveries, webhook } = await createListener(() => {
    times.push(clock.now());
    return 503;
  });
  await enqueueAndDeliver(caller, createEvents(), 10 * day);
  const gaps = times.slice(1).map((time, i) => (time.getTime() - times[i]!.getTime()) / 1000);
  const schedule = [
    5,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ];
  expect(gaps).toHaveLength(schedule.length);
  for (const [i, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(0.9 * schedule[i]!);
    expect(gap).toBeLessThanOrEqual(1.1 * schedule[i]! + 2);
  }
  expect(new Set(endpoint.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(endpoint.deliveries.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(
    10,
  );
  expect(new Set(endpoint.deliveries.map(({ body }) => body)).size).toBe(1);
  expect(
    endpoint.deliveries.every((delivery) => hasStandardSignature(delivery, toWhsec(secret))),
  ).toBe(true);
  expect(await deliveries()).toMatchObject([
    {
      status: "dead",
      attempts: 10,
      responseStatus: 503,
      error: "The endpoint responded with status 503",
      nextAttemptAt: null,
    },
  ]);
  expect(await webhook()).toMatchObject({ active: true, failingSince: expect.any(String) });
});

test.each([
  ["a redirect", 302, 302],
  ["a refusal", 400, 400],
  ["a lost connection", "cut" as const, null],
])("%s is a failure", async (_, answer, responseStatus) => {
  const { caller, deliveries } = await createListener(answer);
  await enqueueAndDeliver(caller, createEvents());
  expect(await deliveries()).toMatchObject([
    { status: "pending", attempts: 1, responseStatus, nextAttemptAt: expect.any(String) },
  ]);
});

test("retries only the failed events of a batch", async () => {
  const failing = new Set<number>();
  const { caller, endpoint, deliveries, webhook } = await createListener(({ event }) =>
    failing.delete(event.sendId) ? 500 : 201,
  );
  const events = createEvents(250);
  for (const { sendId } of events.filter((_, i) => i % 50 === 7)) failing.add(sendId!);
  await enqueueAndDeliver(caller, events, hour);
  expect(endpoint.deliveries).toHaveLength(255);
  expect(endpoint.maxConcurrent).toBeLessThanOrEqual(50);
  const list = await deliveries();
  expect(list.map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id).toReversed());
  expect(new Set(list.map(({ id }) => id)).size).toBe(250);
  expect(list.filter(({ attempts }) => attempts === 2)).toHaveLength(5);
  expect(list.every(({ status }) => status === "delivered")).toBe(true);
  expect((await webhook()).failingSince).toBeNull();
});

test("redelivers dead and delivered events, with all retries", async () => {
  const { caller, id, endpoint, deliveries: list } = await createListener(500);
  await enqueueAndDeliver(caller, createEvents(), 10 * day);
  const [dead] = await list();
  expect(await deliveries.redeliver(caller, id, dead!.id)).toMatchObject({
    id: dead!.id,
    status: "pending",
    attempts: 10,
  });
  await runWorkers(workers, { forSeconds: minute });
  expect(await list()).toMatchObject([{ id: dead!.id, status: "pending", attempts: 12 }]);
  endpoint.answer = 200;
  await runWorkers(workers, { forSeconds: hour });
  expect(await list()).toMatchObject([
    { id: dead!.id, status: "delivered", attempts: 13, responseStatus: 200, error: null },
  ]);
  await deliveries.redeliver(caller, id, dead!.id);
  await runWorkers(workers);
  expect(await list()).toMatchObject([{ id: dead!.id, status: "delivered", attempts: 14 }]);
  expect(new Set(endpoint.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("410 sets the endpoint inactive and sends its owner one mail", async () => {
  const { caller, id, endpoint, deliveries: list, webhook } = await createListener(410);
  await enqueueAndDeliver(caller, createEvents(120), day);
  const called = endpoint.deliveries.length;
  expect(called).toBeLessThanOrEqual(120);
  expect(await webhook()).toMatchObject({
    active: false,
    inactiveReason: "The endpoint responded with 410 Gone",
  });
  expect((await list()).every(({ status }) => status === "dead")).toBe(true);
  const mails = pendingMessages.splice(0);
  expect(mails.map(({ queue, body }) => [queue, JSON.parse(body)])).toEqual([
    ["system-mail", { mail: "webhook_inactive", orgId: caller.orgId, webhookId: id }],
  ]);
  const [last] = await list();
  await expect(deliveries.redeliver(caller, id, last!.id)).rejects.toThrow(
    "The endpoint is inactive: set active to true first",
  );
  endpoint.answer = 200;
  expect(await webhooks.change(caller, id, { active: true })).toMatchObject({
    active: true,
    inactiveReason: null,
    failingSince: null,
  });
  await deliveries.redeliver(caller, id, last!.id);
  await enqueueAndDeliver(caller, createEvents());
  expect(endpoint.deliveries).toHaveLength(called + 2);
});

test("one 410 sets the endpoint inactive even if other calls succeed at the same time", async () => {
  const events = createEvents(3);
  const {
    caller,
    deliveries: list,
    webhook,
  } = await createListener(({ event }) => (event.sendId === events[1]!.sendId ? 410 : 200));
  await enqueueAndDeliver(caller, events);
  expect(await webhook()).toMatchObject({
    active: false,
    inactiveReason: "The endpoint responded with 410 Gone",
  });
  expect((await list()).map(({ status, responseStatus }) => [status, responseStatus])).toEqual([
    ["delivered", 200],
    ["dead", 410],
    ["delivered", 200],
  ]);
  pendingMessages.splice(0);
});

test("five days without a success set an endpoint inactive", async () => {
  const { caller, webhook } = await createListener(500);
  for (let days = 0; days < 5; days++) {
    await enqueueAndDeliver(caller, createEvents(), day);
    expect((await webhook()).active).toBe(true);
  }
  await enqueueAndDeliver(caller, createEvents(), day);
  expect(await webhook()).toMatchObject({
    active: false,
    inactiveReason: "Every delivery failed for 5 days",
  });
  expect(pendingMessages.splice(0).filter(({ queue }) => queue === "system-mail")).toHaveLength(1);
});

test("one success or a long time without events starts the five days again", async () => {
  const [{ caller, endpoint, webhook }, seldom] = [
    await createListener(500),
    await createListener(500),
  ];
  for (let days = 0; days < 8; days++) {
    endpoint.answer = days === 4 ? 200 : 500;
    await enqueueAndDeliver(caller, createEvents(), day);
  }
  expect((await webhook()).active).toBe(true);
  for (let months = 0; months < 3; months++) {
    await enqueueAndDeliver(seldom.caller, createEvents(), 30 * day);
  }
  expect((await seldom.webhook()).active).toBe(true);
  pendingMessages.splice(0);
});

test("both secrets sign for 24 hours after a rotation, then only the new one", async () => {
  const { caller, id, endpoint, secret: old } = await createListener();
  const { secret, previousSecretUntil } = await webhooks.rotateSecret(caller, id);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(secret).not.toBe(old);
  expect(Date.parse(previousSecretUntil!) - clock.now().getTime()).toBeGreaterThan(
    day * 1000 - 5000,
  );
  await enqueueAndDeliver(caller, createEvents());
  clock.advanceClock(day + 1);
  await enqueueAndDeliver(caller, createEvents());
  const [during, after] = endpoint.deliveries;
  expect([
    hasValidSignature(during!, secret),
    hasValidSignature(during!, old, "x-webhook-signature-previous"),
  ]).toEqual([true, true]);
  expect([
    hasStandardSignature(during!, toWhsec(secret)),
    hasStandardSignature(during!, toWhsec(old)),
  ]).toEqual([true, true]);
  expect([
    hasValidSignature(after!, secret),
    hasStandardSignature(after!, toWhsec(secret)),
    hasStandardSignature(after!, toWhsec(old)),
  ]).toEqual([true, true, false]);
  expect(after!.headers["x-webhook-signature-previous"]).toBeUndefined();
});

test("one of two simultaneous rotations gets a conflict", async () => {
  const { caller, id, endpoint } = await createListener();
  const outcomes = await Promise.allSettled([
    webhooks.rotateSecret(caller, id),
    webhooks.rotateSecret(caller, id),
  ]);
  const [won] = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [outcome.value] : [],
  );
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await enqueueAndDeliver(caller, createEvents());
  expect(hasValidSignature(endpoint.deliveries[0]!, won!.secret)).toBe(true);
});

test("pending deliveries go to the new URL of an endpoint, and nowhere after it is deleted", async () => {
  const { caller, id, endpoint } = await createListener(500);
  await enqueueAndDeliver(caller, createEvents(2));
  const newEndpoint = await startCustomerEndpoint();
  await webhooks.change(caller, id, { url: newEndpoint.url });
  await runWorkers(workers, { forSeconds: minute });
  expect([endpoint.deliveries.length, newEndpoint.deliveries.length]).toEqual([2, 2]);
  newEndpoint.answer = 500;
  await enqueueAndDeliver(caller, createEvents(3));
  await webhooks.remove(caller, id);
  await runWorkers(workers, { forSeconds: 10 * day });
  expect(newEndpoint.deliveries).toHaveLength(5);
  expect(pendingMessages).toEqual([]);
});

test("an event has a different webhook-id per endpoint, and the same one when it is queued again", async () => {
  const { caller, endpoint } = await createListener();
  const other = await addEndpoint(caller);
  const events = createEvents();
  await enqueueAndDeliver(caller, events);
  await enqueueAndDeliver(caller, events);
  const idsOf = ({ deliveries }: typeof endpoint) =>
    deliveries.map(({ headers }) => headers["webhook-id"]);
  expect([
    new Set(idsOf(endpoint)).size,
    new Set([...idsOf(endpoint), ...idsOf(other.endpoint)]).size,
  ]).toEqual([1, 2]);
  expect(idsOf(endpoint)).toHaveLength(2);
});
