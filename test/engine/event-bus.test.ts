// The event bus: each event at least once, with one id, also when calls or single entries fail.
import type { PutEventsCommandInput, PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import { createContact } from "../support/contacts.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
} from "../support/delivery-events.ts";
import { createEvents, createListener } from "../support/outgoing-webhooks.ts";
import { deadLetters, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

/** What the bus accepted. */
const accepted: PutEventsRequestEntry[] = [];
const calls: PutEventsRequestEntry[][] = [];
/** The error of an entry, or undefined to accept it. */
let refuse: (entry: PutEventsRequestEntry) => string | undefined;
let failCall: () => void;

beforeAll(async () => {
  process.env.EVENT_BUS_NAME = "pennymail-test";
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
  interceptCalls("eventBridge", async ({ input }) => {
    const { Entries = [] } = input as unknown as PutEventsCommandInput;
    calls.push(Entries);
    failCall();
    const errors = Entries.map(refuse);
    accepted.push(...Entries.filter((_, i) => !errors[i]));
    return { Entries: errors.map((ErrorCode) => (ErrorCode ? { ErrorCode } : { EventId: "1" })) };
  });
});
afterAll(() => {
  delete process.env.EVENT_BUS_NAME;
});
beforeEach(() => {
  for (const all of [accepted, calls, deadLetters]) all.length = 0;
  refuse = () => undefined;
  failCall = () => {};
});

const run = (forSeconds = 0) => runWorkers([forward, drain], { forSeconds });
const detailOf = ({ Detail = "" }: PutEventsRequestEntry) => JSON.parse(Detail);
const acceptedIds = () => accepted.map((entry) => detailOf(entry).eventId).toSorted();
let lastOrgId = 2_000_000;

test("gets delivery events and events about records, without a webhook endpoint", async () => {
  const mails = await createSentMails(1);
  const message = await createEventMessage(mails.orgId, [
    createEvent(mails.sendIds[0]!, "bounce", 5),
  ]);
  await applyMessages(message);
  const contact = await createContact({ ...mails }, "ada@example.com");
  await run();
  const bounce = accepted.find(({ DetailType }) => DetailType === "bounce")!;
  expect(bounce).toMatchObject({ EventBusName: "pennymail-test", Source: "pennymail" });
  expect(bounce.Time?.toISOString()).toBe(detailOf(bounce).timestamp);
  expect(detailOf(bounce)).toMatchObject({
    eventId: message.body.events[0]!.id,
    organizationId: mails.orgId,
    siteId: mails.siteId,
    event: "bounce",
    sendId: mails.sendIds[0],
    data: { bounceType: "hard" },
  });
  const created = accepted.filter(({ DetailType }) => DetailType === "contact.created");
  expect(created.map(detailOf)).toMatchObject([
    { eventId: expect.any(Number), organizationId: mails.orgId, contactId: contact.id },
  ]);
});

test("gets what an endpoint gets, in calls of at most ten events and 256 KB", async () => {
  const { caller, endpoint } = await createListener();
  const events = createEvents(35).map((event, i) => ({
    ...event,
    details: { data: { reason: "x".repeat(i < 20 ? 10 : 60_000) } },
  }));
  await enqueueEvents(caller.orgId, events);
  await run();
  expect(acceptedIds()).toEqual(events.map(({ id }) => id).toSorted());
  expect(endpoint.deliveries).toHaveLength(35);
  for (const entries of calls) {
    expect(entries.length).toBeLessThanOrEqual(10);
    const bytes = entries.reduce((sum, { Detail = "" }) => sum + Buffer.byteLength(Detail), 0);
    expect(bytes).toBeLessThan(256 * 1024);
  }
});

test("gets entries again that failed, and no others", async () => {
  const orgId = ++lastOrgId;
  const events = createEvents(30);
  const stubborn = new Map(events.filter((_, i) => i % 7 === 0).map(({ id }, i) => [id, 1 + i]));
  refuse = (entry) => {
    const { eventId } = detailOf(entry);
    const left = stubborn.get(eventId) ?? 0;
    stubborn.set(eventId, left - 1);
    return left > 0 ? "ThrottlingException" : undefined;
  };
  await enqueueEvents(orgId, events);
  await run(900);
  expect(acceptedIds()).toEqual(events.map(({ id }) => id).toSorted());
  expect(deadLetters).toEqual([]);
});

test("gets all events after calls failed", async () => {
  const orgId = ++lastOrgId;
  let failures = 3;
  failCall = () => {
    if (failures-- > 0) throw new Error("InternalFailure");
  };
  const events = createEvents(25);
  await enqueueEvents(orgId, events);
  await run(900);
  expect([...new Set(acceptedIds())]).toEqual(events.map(({ id }) => id).toSorted());
});

test("messages that always fail go to the dead-letter queue with their events", async () => {
  const orgId = ++lastOrgId;
  refuse = () => "NotAuthorizedForSourceException";
  const events = createEvents(3);
  await enqueueEvents(orgId, events);
  await run(7200);
  expect(accepted).toEqual([]);
  expect(deadLetters.map(({ body }) => JSON.parse(body))).toMatchObject([
    { orgId, bus: true, events: events.map(({ id }) => ({ id })) },
  ]);
});

test.each(["before", "after"] as const)(
  "gets entries that failed when the worker crashes %s it enqueues them again",
  async (when) => {
    const orgId = ++lastOrgId;
    const [first, second] = createEvents(2);
    refuse = (entry) => (detailOf(entry).eventId === second!.id ? "InternalFailure" : undefined);
    await enqueueEvents(orgId, [first!, second!]);
    const steps: string[] = [];
    await runWorkers([forward], {
      crashHook: async (work) => {
        const result = await runUntilCrash(1, when, work);
        steps.push(...result.steps);
        refuse = () => undefined;
        return result;
      },
    });
    expect(steps).toEqual(["SendMessageBatch"]);
    await run(7200);
    expect(new Set(acceptedIds())).toEqual(new Set([first!.id, second!.id]));
  },
);

test("an event that is too long for the bus comes without its data", async () => {
  const orgId = ++lastOrgId;
  const [event] = createEvents(1, "delivered");
  const data = { fields: { text: "x".repeat(300_000) } };
  await enqueueEvents(orgId, [{ ...event!, details: { siteId: 3, data } }]);
  await run();
  expect(accepted.map(detailOf)).toMatchObject([{ eventId: event!.id, siteId: 3, data: null }]);
});
