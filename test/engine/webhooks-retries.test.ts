import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import { endpoint, genuine, genuineByStandard, whsecOf } from "../support/endpoint.ts";
import { announced, another, happened, listener, workers } from "../support/forwarding.ts";
import { opened, settle, waiting } from "../support/virtual-queues.ts";

const [minute, hour, day] = [60, 3600, 24 * 3600];

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await opened();
});

test("each event is one call, with exactly the fields that the interface promises", async () => {
  const { caller, there, secret, deliveries } = await listener();
  const [first, second] = [...happened(1, "bounce"), { ...happened(1, "click")[0]!, contactId: null, data: { url: "https://x.example" } }];
  await announced(caller, [first!, second!]);
  const { id: _, ...payload } = first!;
  expect(there.heard.map(({ event }) => event).toSorted((a, b) => a.sendId - b.sendId)).toEqual([
    payload,
    { event: "click", sendId: second!.sendId, contactId: null, email: second!.email, timestamp: second!.timestamp },
  ]);
  for (const heard of there.heard) expect([genuine(heard, secret), genuineByStandard(heard, whsecOf(secret))]).toEqual([true, true]);
  expect(await deliveries()).toMatchObject([
    { eventId: second!.id, event: "click", sendId: second!.sendId, status: "delivered", attempts: 1, responseStatus: 200, error: null },
    { eventId: first!.id, status: "delivered", nextAttemptAt: null, lastAttemptAt: expect.any(String), latencyMs: expect.any(Number) },
  ]);
});

test("an endpoint hears of the types it asked for, while it is active", async () => {
  const { caller, id, there } = await listener();
  await webhooks.change(caller, id, { events: ["open", "bounce"] });
  await announced(caller, [...happened(2, "open"), ...happened(3, "delivered"), ...happened(1, "bounce")]);
  expect(there.heard.map(({ event }) => event.event).toSorted()).toEqual(["bounce", "open", "open"]);
  await webhooks.change(caller, id, { active: false });
  await announced(caller, happened(2, "open"));
  expect(there.heard).toHaveLength(3);
});

test("nothing is queued when nobody listens", async () => {
  const { caller, id } = await listener();
  await webhooks.change(caller, id, { events: ["spam_report"] });
  await webhooks.announce(caller.orgId, happened(250));
  expect(waiting).toEqual([]);
});

test("what failed is tried again by the schedule, then dead; the webhook-id stays, time and signature move on", async () => {
  const times: Date[] = [];
  const { caller, there, secret, deliveries, webhook } = await listener(() => {
    times.push(clock.now());
    return 503;
  });
  await announced(caller, happened(), 10 * day);
  const gaps = times.slice(1).map((time, i) => (time.getTime() - times[i]!.getTime()) / 1000);
  const schedule = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  expect(gaps).toHaveLength(schedule.length);
  for (const [i, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(0.9 * schedule[i]!);
    expect(gap).toBeLessThanOrEqual(1.1 * schedule[i]! + 2);
  }
  expect(new Set(there.heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(there.heard.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
  expect(new Set(there.heard.map(({ body }) => body)).size).toBe(1);
  expect(there.heard.every((heard) => genuineByStandard(heard, whsecOf(secret)))).toBe(true);
  expect(await deliveries()).toMatchObject([
    { status: "dead", attempts: 10, responseStatus: 503, error: "The endpoint answered 503", nextAttemptAt: null },
  ]);
  expect(await webhook()).toMatchObject({ active: true, failingSince: expect.any(String) });
});

test.each([
  ["a redirect", 302, 302],
  ["a refusal", 400, 400],
  ["a lost connection", "cut" as const, null],
])("%s is a failure", async (_, answer, responseStatus) => {
  const { caller, deliveries } = await listener(answer);
  await announced(caller, happened());
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 1, responseStatus, nextAttemptAt: expect.any(String) }]);
});

test("of many events only those that failed are told again", async () => {
  const failing = new Set<number>();
  const { caller, there, deliveries, webhook } = await listener(({ event }) => (failing.delete(event.sendId) ? 500 : 201));
  const events = happened(250);
  for (const { sendId } of events.filter((_, i) => i % 50 === 7)) failing.add(sendId);
  await announced(caller, events, hour);
  expect(there.heard).toHaveLength(255);
  expect(there.most).toBeLessThanOrEqual(50);
  const list = await deliveries();
  expect(list.map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id).toReversed());
  expect(new Set(list.map(({ id }) => id)).size).toBe(250);
  expect(list.filter(({ attempts }) => attempts === 2)).toHaveLength(5);
  expect(list.every(({ status }) => status === "delivered")).toBe(true);
  expect((await webhook()).failingSince).toBeNull();
});

test("what is dead can be delivered again, with the whole schedule before it; so can what was delivered", async () => {
  const { caller, id, there, deliveries: list } = await listener(500);
  await announced(caller, happened(), 10 * day);
  const [gone] = await list();
  expect(await deliveries.redeliver(caller, id, gone!.id)).toMatchObject({ id: gone!.id, status: "pending", attempts: 10 });
  await settle(workers, { forSeconds: minute });
  expect(await list()).toMatchObject([{ id: gone!.id, status: "pending", attempts: 12 }]);
  there.answer = 200;
  await settle(workers, { forSeconds: hour });
  expect(await list()).toMatchObject([{ id: gone!.id, status: "delivered", attempts: 13, responseStatus: 200, error: null }]);
  await deliveries.redeliver(caller, id, gone!.id);
  await settle(workers);
  expect(await list()).toMatchObject([{ id: gone!.id, status: "delivered", attempts: 14 }]);
  expect(new Set(there.heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("410 sets the endpoint inactive at once: nothing more is tried, the owner is told once, and may set it active again", async () => {
  const { caller, id, there, deliveries: list, webhook } = await listener(410);
  await announced(caller, happened(120), day);
  const called = there.heard.length;
  expect(called).toBeLessThanOrEqual(120);
  expect(await webhook()).toMatchObject({ active: false, inactiveReason: "It answered 410 Gone" });
  expect((await list()).every(({ status }) => status === "dead")).toBe(true);
  const mails = waiting.splice(0);
  expect(mails.map(({ queue, body }) => [queue, JSON.parse(body)])).toEqual([
    ["system-mail", { mail: "webhook_inactive", orgId: caller.orgId, webhookId: id }],
  ]);
  const [last] = await list();
  await expect(deliveries.redeliver(caller, id, last!.id)).rejects.toThrow("The endpoint is inactive");
  there.answer = 200;
  expect(await webhooks.change(caller, id, { active: true })).toMatchObject({ active: true, inactiveReason: null, failingSince: null });
  await deliveries.redeliver(caller, id, last!.id);
  await announced(caller, happened());
  expect(there.heard).toHaveLength(called + 2);
});

test("one 410 is enough, whatever the others of the same moment are answered", async () => {
  const events = happened(3);
  const { caller, deliveries: list, webhook } = await listener(({ event }) => (event.sendId === events[1]!.sendId ? 410 : 200));
  await announced(caller, events);
  expect(await webhook()).toMatchObject({ active: false, inactiveReason: "It answered 410 Gone" });
  expect((await list()).map(({ status, responseStatus }) => [status, responseStatus])).toEqual([
    ["delivered", 200],
    ["dead", 410],
    ["delivered", 200],
  ]);
  waiting.splice(0);
});

test("five days of nothing but failures set an endpoint inactive", async () => {
  const { caller, webhook } = await listener(500);
  for (let days = 0; days < 5; days++) {
    await announced(caller, happened(), day);
    expect((await webhook()).active).toBe(true);
  }
  await announced(caller, happened(), day);
  expect(await webhook()).toMatchObject({ active: false, inactiveReason: "It did nothing but fail for 5 days" });
  expect(waiting.splice(0).filter(({ queue }) => queue === "system-mail")).toHaveLength(1);
});

test("one success in between is a new start; and so is a long silence", async () => {
  const [{ caller, there, webhook }, seldom] = [await listener(500), await listener(500)];
  for (let days = 0; days < 8; days++) {
    there.answer = days === 4 ? 200 : 500;
    await announced(caller, happened(), day);
  }
  expect((await webhook()).active).toBe(true);
  for (let months = 0; months < 3; months++) {
    await announced(seldom.caller, happened(), 30 * day);
  }
  expect((await seldom.webhook()).active).toBe(true);
  waiting.splice(0);
});

test("while a rotation lasts both secrets sign, then the new one alone", async () => {
  const { caller, id, there, secret: old } = await listener();
  const { secret, previousSecretUntil } = await webhooks.rotateSecret(caller, id);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(secret).not.toBe(old);
  expect(Date.parse(previousSecretUntil!) - clock.now().getTime()).toBeGreaterThan(day * 1000 - 5000);
  await announced(caller, happened());
  clock.advance(day + 1);
  await announced(caller, happened());
  const [during, after] = there.heard;
  expect([genuine(during!, secret), genuine(during!, old, "x-webhook-signature-previous")]).toEqual([true, true]);
  expect([genuineByStandard(during!, whsecOf(secret)), genuineByStandard(during!, whsecOf(old))]).toEqual([true, true]);
  expect([genuine(after!, secret), genuineByStandard(after!, whsecOf(secret)), genuineByStandard(after!, whsecOf(old))]).toEqual([
    true,
    true,
    false,
  ]);
  expect(after!.headers["x-webhook-signature-previous"]).toBeUndefined();
});

test("two rotations at once: one is told that it came too late", async () => {
  const { caller, id, there } = await listener();
  const outcomes = await Promise.allSettled([webhooks.rotateSecret(caller, id), webhooks.rotateSecret(caller, id)]);
  const [won] = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await announced(caller, happened());
  expect(genuine(there.heard[0]!, won!.secret)).toBe(true);
});

test("what waits for an endpoint goes to its new URL, and nowhere once it is removed", async () => {
  const { caller, id, there } = await listener(500);
  await announced(caller, happened(2));
  const moved = await endpoint();
  await webhooks.change(caller, id, { url: moved.url });
  await settle(workers, { forSeconds: minute });
  expect([there.heard.length, moved.heard.length]).toEqual([2, 2]);
  moved.answer = 500;
  await announced(caller, happened(3));
  await webhooks.remove(caller, id);
  await settle(workers, { forSeconds: 10 * day });
  expect(moved.heard).toHaveLength(5);
  expect(waiting).toEqual([]);
});

test("every endpoint has its own webhook-id for an event, the same one when it is announced again", async () => {
  const { caller, there } = await listener();
  const other = await another(caller);
  const events = happened();
  await announced(caller, events);
  await announced(caller, events);
  const idsOf = ({ heard }: typeof there) => heard.map(({ headers }) => headers["webhook-id"]);
  expect([new Set(idsOf(there)).size, new Set([...idsOf(there), ...idsOf(other.there)]).size]).toEqual([1, 2]);
  expect(idsOf(there)).toHaveLength(2);
});
