// Concurrent, crashed and repeated rounds of delivery events. Each event is counted once.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { get, remove, write } from "../../shared/adapters/dynamodb/table.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { applyBatch } from "../../shared/domain/delivery-events/apply-events.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import { keys } from "../../shared/keys.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import {
  crashAtSomeSteps,
  interceptClients,
  interruptedAtSomeSteps,
  interruptions,
  runUntilCrash,
} from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  readDayCounters,
  type SentMails,
  timeAfterStart,
} from "../support/delivery-events.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

interceptClients();

/** A send with so many events that further opens go to the overflow. */
async function createMailWithManyEvents(): Promise<SentMails & { id: number }> {
  const mail = await createSentMails(1);
  const id = mail.sendIds[0]!;
  await applyMessages(
    await createEventMessage(
      mail.orgId,
      Array.from({ length: 20 }, (_, i) => createEvent(id, "open", i)),
    ),
  );
  return { ...mail, id };
}

const createOpens = (id: number, from: number, n: number) =>
  Array.from({ length: n }, (_, i) => createEvent(id, "open", from + i));
const readEvents = async ({ caller, sendIds }: SentMails) =>
  (await history.findDetail(caller, sendIds[0]!)).events;

/**
 * A worker fails if another one has abandoned its round, and the queue delivers its messages again.
 */
const ignoreContention = (error: Error) => {
  if (!error.message.includes("too many requests at once")) throw error;
};

describe("overflow events", () => {
  test.each(interruptions)("are counted once when their worker %s at any step", async (how) => {
    const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
      const mail = await createMailWithManyEvents();
      const { orgId, siteId, id } = mail;
      const [one, two] = await Promise.all([
        createEventMessage(orgId, createOpens(id, 100, 3)),
        createEventMessage(orgId, createOpens(id, 200, 2)),
      ]);
      const rest = async () => {
        await applyMessages(two);
        await applyMessages(one);
      };
      await interrupt(() => applyMessages(one, two).catch(ignoreContention), rest);
      expect((await readDayCounters(orgId, siteId)).day).toMatchObject({
        opened: 25,
        uniqueOpened: 1,
      });
      expect(await readEvents(mail)).toHaveLength(25);
      const { events } = await history.listEvents(mail.caller, { limit: 100 }, { siteId });
      expect(new Set(events.map((event) => event.id)).size).toBe(25);
    });
    expect(steps.length).toBeGreaterThan(9);
  });

  test.each(interruptions)(
    "are counted once when their worker %s at any step while it stores many first events",
    async (how) => {
      await interruptedAtSomeSteps(how, async (interrupt) => {
        const mail = await createSentMails(1);
        const { orgId, siteId, sendIds } = mail;
        const [one, two] = await Promise.all(
          [0, 100].map((from) => createEventMessage(orgId, createOpens(sendIds[0]!, from, 15))),
        );
        const rest = async () => {
          await applyMessages(one!);
          await applyMessages(two!);
        };
        await interrupt(() => applyMessages(one!, two!).catch(ignoreContention), rest);
        expect((await readDayCounters(orgId, siteId)).day).toMatchObject({
          opened: 30,
          uniqueOpened: 1,
        });
        expect(await readEvents(mail)).toHaveLength(30);
      });
    },
    60_000,
  );

  test("are all counted when many rounds write to the send at once", async () => {
    const { orgId, siteId, id } = await createMailWithManyEvents();
    const messages = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        createEventMessage(orgId, [
          ...createOpens(id, 1000 + 10 * i, 5),
          createEvent(id, "deferred", 2000 + i),
        ]),
      ),
    );
    await Promise.all(messages.map((one) => applyMessages(one)));
    expect((await readDayCounters(orgId, siteId)).day).toMatchObject({ opened: 80, deferred: 12 });
  });
});

afterEach(removePauses);

describe("a message that two workers process at once", () => {
  test("a round fails if another has abandoned it, even if it abandoned that one", async () => {
    const { orgId, siteId, sendIds } = await createSentMails(30);
    const message = await createEventMessage(
      orgId,
      sendIds.map((id) => createEvent(id, "delivered", 1)),
    );
    // The second round takes over the 25 of 30 sends that the first has written, and writes the
    // other five.
    const writing = pauseCall("BatchExecuteStatement", 2);
    const first = applyBatch([message]);
    await writing.reached;
    await sleep(100);
    const closing = pauseCall("TransactWriteItems");
    const second = applyBatch([message]);
    await closing.reached;
    writing.release();
    const errors = await first;
    closing.release();
    errors.push(...(await second));
    // In SQS, the worker that succeeds deletes the message for both.
    if (errors.every((error) => error !== undefined)) await applyMessages(message);
    expect((await readDayCounters(orgId, siteId)).totals).toMatchObject({ all: 30, delivered: 30 });
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "is counted once for each interleaving of the two workers (%i)",
    async (n) => {
      const { orgId, siteId, sendIds } = await createSentMails(30);
      const message = await createEventMessage(
        orgId,
        sendIds.map((id) => createEvent(id, "delivered", 1)),
      );
      const writing = pauseCall("BatchExecuteStatement", n % 4 || 1);
      const first = applyBatch([message]);
      await Promise.race([writing.reached, first]);
      const second = n > 4 ? applyBatch([message]) : await applyBatch([message]);
      if (n > 4) await sleep(5 * (n - 4));
      writing.release();
      const errors = [await first, await second].flat();
      if (errors.every((error) => error !== undefined)) await applyMessages(message);
      expect((await readDayCounters(orgId, siteId)).totals).toMatchObject({
        all: 30,
        delivered: 30,
      });
    },
  );
});

test("the changes of an abandoned round count even after five later rounds", async () => {
  const { orgId, siteId, sendIds } = await createSentMails(1);
  const id = sendIds[0]!;
  const first = await createEventMessage(orgId, [createEvent(id, "delivered", 1)]);
  // The round crashes before its commit.
  const { steps } = await runUntilCrash(Number.POSITIVE_INFINITY, "after", async () =>
    applyMessages(await createEventMessage(orgId, [createEvent(id, "deferred", 0)])),
  );
  const closing = steps.lastIndexOf("TransactWriteItems") + 1;
  expect(await runUntilCrash(closing - 2, "before", () => applyMessages(first))).toMatchObject({
    crashed: true,
  });
  for (let i = 1; i <= 6; i++)
    await applyMessages(await createEventMessage(orgId, [createEvent(id, "open", 60 * i)]));
  await applyMessages(first);
  expect((await readDayCounters(orgId, siteId)).day).toMatchObject({
    delivered: 1,
    opened: 6,
    uniqueOpened: 1,
  });
});

test("a message that always fails is processed alone from the third attempt on", async () => {
  const { orgId, siteId, sendIds } = await createSentMails(2);
  const good = await createEventMessage(orgId, [createEvent(sendIds[0]!, "delivered", 1)]);
  const poison = await createEventMessage(orgId, [
    createEvent(sendIds[1]!, "delivered", 1, { data: { reason: "x".repeat(500_000) } }),
  ]);
  const attempts = [];
  for (let attempt = 1; attempt <= 3; attempt++)
    attempts.push(
      (await applyBatch([good, poison].map((one) => ({ ...one, attempt })))).map(
        (error) => error === undefined,
      ),
    );
  expect(attempts).toEqual([
    [false, false],
    [false, false],
    [true, false],
  ]);
  expect((await readDayCounters(orgId, siteId)).day).toMatchObject({ delivered: 1 });
});

describe("the suppression after a complaint", () => {
  /**
   * One worker processes two messages of a send and crashes before the reactions; then each is
   * processed alone.
   */
  test.each([
    [0, 1],
    [1, 0],
  ])(
    "is written although its worker crashed and the messages are repeated in order %i, %i",
    async (first, second) => {
      await crashAtSomeSteps(async (crash) => {
        const { orgId, sendIds } = await createSentMails(1);
        const id = sendIds[0]!;
        const messages = [
          await createEventMessage(orgId, [createEvent(id, "delivered", 1)]),
          await createEventMessage(orgId, [createEvent(id, "spam_report", 2)]),
        ];
        await crash(() => applyMessages(...messages));
        await applyMessages(messages[first]!);
        await applyMessages(messages[second]!);
        expect(await suppressions.find(orgId, `p${id}@d${id % 3}.example`)).toMatchObject({
          reason: "spam_report",
        });
      });
    },
  );
});

describe("an event", () => {
  test("of type click without a delivered event counts as a person's click, also in the API", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(1);
    await applyMessages(await createEventMessage(orgId, [createEvent(sendIds[0]!, "click", 5)]));
    expect((await readDayCounters(orgId, siteId)).day).toMatchObject({ uniqueClicked: 1 });
    const { events, clickedAt } = await history.findDetail(caller, sendIds[0]!);
    expect(clickedAt).toBe(timeAfterStart(5));
    expect(events).toMatchObject([{ type: "click", automated: false }]);
  });

  test("without a send suppresses its address once, and not again after the suppression is removed", async () => {
    const { orgId } = await createSentMails(1);
    const email = `stranger-${orgId}@example.com`;
    const stray = await createEventMessage(orgId, [
      { ...createEvent(987_654_000, "bounce", 1), email },
    ]);
    await applyMessages(stray);
    expect(await suppressions.find(orgId, email)).toBeDefined();
    await write(remove(keys.suppression(orgId, email)));
    const parked = await get<{ event: QueuedEvent }>(
      keys.unmatchedEvent(orgId, stray.body.events[0]!.id),
    );
    await applyMessages({
      attempt: 1,
      body: { ...stray.body, events: [parked!.event] },
    });
    expect(await suppressions.find(orgId, email)).toBeUndefined();
  });
});
