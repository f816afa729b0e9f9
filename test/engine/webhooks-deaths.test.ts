import { afterAll, beforeAll, expect, test } from "vitest";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import { announced, happened, type Listener, listener, workers } from "../support/forwarding.ts";
import { atSomeSteps, type Fate } from "../support/killer.ts";
import { dead, opened, settle, waiting } from "../support/virtual-queues.ts";

beforeAll(async () => {
  Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.2" });
  await opened();
});
afterAll(() => expect(dead).toEqual([]));

type Kill = (work: () => Promise<unknown>) => Promise<Fate>;
const hour = 3600;

/** Kills whoever works on the `turn`-th batch, and nobody else. */
function only(turn: number, kill: Kill) {
  let turns = 0;
  return (work: () => Promise<unknown>) => (++turns === turn ? kill(work) : work());
}

/** Everything was heard, under one id for each event, and is written down as delivered; nothing waits. */
async function allTold({ there, deliveries: list }: Listener, events: webhooks.Announcement[]) {
  const idsBySend = Map.groupBy(there.heard, ({ event }) => event.sendId);
  expect([...idsBySend.keys()].toSorted()).toEqual(events.map(({ sendId }) => sendId).toSorted());
  for (const heard of idsBySend.values()) expect(new Set(heard.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  const told = await list();
  expect(told.map(({ eventId, status }) => [eventId, status])).toEqual(events.map(({ id }) => [id, "delivered"]).toReversed());
  expect(waiting).toEqual([]);
}

test("a worker who dies at the first telling loses nothing", { timeout: 60_000 }, async () => {
  const told = await atSomeSteps(3, async (kill) => {
    const one = await listener();
    const events = happened(3);
    await webhooks.announce(one.caller.orgId, events);
    await settle(workers, { forSeconds: hour, kill: only(1, kill) });
    await allTold(one, events);
  });
  expect(told).toEqual(expect.arrayContaining(["before GetCommand", "before PutCommand", "after PutCommand"]));
});

test("a worker who dies when some were refused loses nothing, and nobody who heard is asked again without need", {
  timeout: 60_000,
}, async () => {
  const told = await atSomeSteps(3, async (kill) => {
    const refused = new Set<number>();
    const one = await listener(({ event }) => (event.sendId % 2 && !refused.has(event.sendId) && refused.add(event.sendId) ? 500 : 200));
    const events = happened(4);
    await webhooks.announce(one.caller.orgId, events);
    await settle(workers, { forSeconds: hour, kill: only(1, kill) });
    await allTold(one, events);
    expect(one.there.heard.length).toBeLessThanOrEqual(4 + 4 + 2);
  });
  expect(told).toEqual(expect.arrayContaining(["after PutCommand", "before SendMessageBatchCommand", "after SendMessageBatchCommand"]));
});

test("a worker who dies at a retry loses nothing", { timeout: 60_000 }, async () => {
  await atSomeSteps(3, async (kill) => {
    const one = await listener(500);
    const events = happened(2);
    await announced(one.caller, events);
    one.there.answer = 200;
    await settle(workers, { forSeconds: hour, kill: only(1, kill) });
    await allTold(one, events);
  });
});

test("a worker who dies while the endpoint hangs, or rests, loses nothing", { timeout: 60_000 }, async () => {
  await atSomeSteps(3, async (kill) => {
    const one = await listener("hang");
    const events = happened(7);
    await webhooks.announce(one.caller.orgId, events);
    await settle(workers, { kill: only(1, kill) });
    one.there.answer = 200;
    await settle(workers, { forSeconds: 2 * hour });
    await allTold(one, events);
  });
  await atSomeSteps(3, async (kill) => {
    const one = await listener("hang");
    const events = happened(7);
    await announced(one.caller, events);
    const more = happened(2);
    await webhooks.announce(one.caller.orgId, more);
    one.there.answer = 200;
    await settle(workers, { forSeconds: 2 * hour, kill: only(1, kill) });
    await allTold(one, [...events, ...more]);
  });
});

test("a worker who dies at an endpoint that is gone: it is inactive, its owner is told, what waited is dead", {
  timeout: 60_000,
}, async () => {
  await atSomeSteps(3, async (kill) => {
    const { caller, id, webhook, deliveries: list } = await listener(410);
    await webhooks.announce(caller.orgId, happened(2));
    await settle(workers, { forSeconds: hour, kill: only(1, kill) });
    expect(await webhook()).toMatchObject({ active: false, inactiveReason: "It answered 410 Gone" });
    const mails = waiting.splice(0).map(({ body }) => JSON.parse(body));
    expect(mails).toContainEqual({ mail: "webhook_inactive", orgId: caller.orgId, webhookId: id });
    expect(mails.length).toBeLessThanOrEqual(2);
    expect((await list()).map(({ status }) => status)).toEqual(["dead", "dead"]);
  });
});

test("whoever dies while asking for a redelivery, or announcing, may ask again", { timeout: 60_000 }, async () => {
  await atSomeSteps(3, async (kill) => {
    const one = await listener();
    const events = happened();
    await announced(one.caller, events);
    const [delivery] = await one.deliveries();
    const ask = () => deliveries.redeliver(one.caller, one.id, delivery!.id);
    if ((await kill(ask)).died) await ask();
    await settle(workers, { forSeconds: hour });
    await allTold(one, events);
    expect(one.there.heard.length).toBeGreaterThanOrEqual(2);
  });
  await atSomeSteps(3, async (kill) => {
    const one = await listener();
    const events = happened(150);
    const announce = () => webhooks.announce(one.caller.orgId, events);
    if ((await kill(announce)).died) await announce();
    await settle(workers, { forSeconds: hour });
    expect(new Set(one.there.heard.map(({ event }) => event.sendId)).size).toBe(150);
    expect(new Set(one.there.heard.map(({ headers }) => headers["webhook-id"])).size).toBe(150);
  });
});
