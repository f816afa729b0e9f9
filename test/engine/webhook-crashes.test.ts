import { afterAll, beforeAll, expect, test } from "vitest";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import type { OutgoingEvent } from "../../shared/queues.ts";
import {
  type CrashResult,
  crashAtSomeSteps,
  interruptedAtSomeSteps,
} from "../support/crash-injection.ts";
import {
  createEvents,
  createListener,
  enqueueAndDeliver,
  type WebhookListener,
  workers,
} from "../support/outgoing-webhooks.ts";
import {
  deadLetters,
  pendingMessages,
  runWorkers,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

beforeAll(async () => {
  Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.2" });
  await useVirtualQueues();
});
afterAll(() => expect(deadLetters).toEqual([]));

type Kill = (work: () => Promise<unknown>) => Promise<CrashResult>;
const hour = 3600;

/** Crashes the worker of the `turn`-th batch only. */
function only(turn: number, crash: Kill) {
  let turns = 0;
  return (work: () => Promise<unknown>) => (++turns === turn ? crash(work) : work());
}

/**
 * Expects every event to be received under one id and stored as delivered, with nothing pending.
 */
async function allTold({ endpoint, deliveries: list }: WebhookListener, events: OutgoingEvent[]) {
  const idsBySend = Map.groupBy(endpoint.deliveries, ({ event }) => event.sendId);
  expect([...idsBySend.keys()].toSorted()).toEqual(events.map(({ sendId }) => sendId).toSorted());
  for (const received of idsBySend.values())
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  const stored = await list();
  expect(stored.map(({ eventId, status }) => [eventId, status])).toEqual(
    events.map(({ id }) => [id, "delivered"]).toReversed(),
  );
  expect(pendingMessages).toEqual([]);
}

test("a crash during the first attempt loses nothing", async () => {
  const steps = await crashAtSomeSteps(async (crash) => {
    const one = await createListener();
    const events = createEvents(3);
    await enqueueEvents(one.caller.orgId, events);
    await runWorkers(workers, { forSeconds: hour, crashHook: only(1, crash) });
    await allTold(one, events);
  });
  expect(steps).toEqual(
    expect.arrayContaining(["before GetItem", "before PutItem", "after PutItem"]),
  );
});

test("a crash after some failed calls loses nothing and repeats no delivered event", async () => {
  const steps = await crashAtSomeSteps(async (crash) => {
    const refused = new Set<number>();
    const one = await createListener(({ event }) =>
      event.sendId % 2 && !refused.has(event.sendId) && refused.add(event.sendId) ? 500 : 200,
    );
    const events = createEvents(4);
    await enqueueEvents(one.caller.orgId, events);
    await runWorkers(workers, { forSeconds: hour, crashHook: only(1, crash) });
    await allTold(one, events);
    expect(one.endpoint.deliveries.length).toBeLessThanOrEqual(4 + 4 + 2);
  });
  expect(steps).toEqual(
    expect.arrayContaining(["after PutItem", "before SendMessageBatch", "after SendMessageBatch"]),
  );
});

test("a crash during a retry loses nothing", async () => {
  await crashAtSomeSteps(async (crash) => {
    const one = await createListener(500);
    const events = createEvents(2);
    await enqueueAndDeliver(one.caller, events);
    one.endpoint.answer = 200;
    await runWorkers(workers, { forSeconds: hour, crashHook: only(1, crash) });
    await allTold(one, events);
  });
});

test("a crash while the endpoint hangs or its breaker is open loses nothing", async () => {
  await crashAtSomeSteps(async (crash) => {
    const one = await createListener("hang");
    const events = createEvents(7);
    await enqueueEvents(one.caller.orgId, events);
    await runWorkers(workers, { crashHook: only(1, crash) });
    one.endpoint.answer = 200;
    await runWorkers(workers, { forSeconds: 2 * hour });
    await allTold(one, events);
  });
  await crashAtSomeSteps(async (crash) => {
    const one = await createListener("hang");
    const events = createEvents(7);
    await enqueueAndDeliver(one.caller, events);
    const more = createEvents(2);
    await enqueueEvents(one.caller.orgId, more);
    one.endpoint.answer = 200;
    await runWorkers(workers, { forSeconds: 2 * hour, crashHook: only(1, crash) });
    await allTold(one, [...events, ...more]);
  });
});

test("after a crash at 410 Gone the endpoint is inactive, and its owner gets a mail", async () => {
  await crashAtSomeSteps(async (crash) => {
    const { caller, id, webhook, deliveries: list } = await createListener(410);
    await enqueueEvents(caller.orgId, createEvents(2));
    await runWorkers(workers, { forSeconds: hour, crashHook: only(1, crash) });
    expect(await webhook()).toMatchObject({
      active: false,
      inactiveReason: "The endpoint responded with 410 Gone",
    });
    const mails = pendingMessages.splice(0).map(({ body }) => JSON.parse(body));
    expect(mails).toContainEqual({ mail: "webhook_inactive", orgId: caller.orgId, webhookId: id });
    expect(mails.length).toBeLessThanOrEqual(2);
    expect((await list()).map(({ status }) => status)).toEqual(["dead", "dead"]);
  });
});

test.each(["at the first attempt", "at a retry"])(
  "a worker that is paused %s does not change what other workers deliver meanwhile",
  async (moment) => {
    const steps = await interruptedAtSomeSteps("is paused", async (interrupt) => {
      const refused = new Set<number>();
      const one = await createListener(({ event }) =>
        event.sendId % 2 && !refused.has(event.sendId) && refused.add(event.sendId) ? 500 : 200,
      );
      const events = createEvents(4);
      await enqueueEvents(one.caller.orgId, events);
      if (moment === "at a retry") await runWorkers(workers);
      // The queue delivers the messages again after the visibility timeout.
      const messages = pendingMessages.map((message) => ({
        ...message,
        receives: message.receives + 1,
      }));
      const runOthers = async () => {
        pendingMessages.push(...messages.filter((message) => !pendingMessages.includes(message)));
        await runWorkers(workers, { forSeconds: hour });
      };
      await runWorkers(workers, {
        forSeconds: hour,
        crashHook: only(1, (work) => interrupt(work, runOthers)),
      });
      await runWorkers(workers, { forSeconds: hour });
      await allTold(one, events);
      // Events whose result the paused worker has not stored are delivered again under the same id.
      expect(one.endpoint.deliveries.length).toBeLessThanOrEqual(4 + 4);
    });
    expect(steps).toEqual(expect.arrayContaining(["after PutItem"]));
  },
);

test("redelivering and queueing events can be repeated after a crash", async () => {
  await crashAtSomeSteps(async (crash) => {
    const one = await createListener();
    const events = createEvents();
    await enqueueAndDeliver(one.caller, events);
    const [delivery] = await one.deliveries();
    const ask = () => deliveries.redeliver(one.caller, one.id, delivery!.id);
    if ((await crash(ask)).crashed) await ask();
    await runWorkers(workers, { forSeconds: hour });
    await allTold(one, events);
    expect(one.endpoint.deliveries.length).toBeGreaterThanOrEqual(2);
  });
  await crashAtSomeSteps(async (crash) => {
    const one = await createListener();
    const events = createEvents(150);
    const announce = () => enqueueEvents(one.caller.orgId, events);
    if ((await crash(announce)).crashed) await announce();
    await runWorkers(workers, { forSeconds: hour });
    expect(new Set(one.endpoint.deliveries.map(({ event }) => event.sendId)).size).toBe(150);
    expect(new Set(one.endpoint.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(
      150,
    );
  });
});
