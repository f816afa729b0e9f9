// Messages with delivery events that an operator redrives from the dead-letter queue. SQS gives such
// a message a new id, and it counts its attempts from 1 again.
import type { SQSEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { worker } from "../../functions/queue/provider-events.ts";
import { insertMany } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { getOverview } from "../../shared/domain/analytics/overview.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { listLinkTotals } from "../../shared/domain/sending/clicked-links.ts";
import { getSourceTotals } from "../../shared/domain/sending/mail-sources.ts";
import { toMailingStats } from "../../shared/domain/sending/mailing-stats.ts";
import { keys } from "../../shared/keys.ts";
import { crashAtEveryStep, interceptClients, runUntilCrash } from "../support/crash-injection.ts";
import {
  createEvent,
  createEventMessage,
  createSentMails,
  readDayCounters,
  type SentMails,
} from "../support/delivery-events.ts";

interceptClients();

type EventMessage = Awaited<ReturnType<typeof createEventMessage>>;

let deliveries = 0;
/** Delivers a message to the worker. Every delivery has an id of its own unless one is given. */
async function deliver({ body }: EventMessage, messageId = `message ${++deliveries}`) {
  const record = {
    messageId,
    receiptHandle: messageId,
    body: JSON.stringify(body),
    attributes: { ApproximateReceiveCount: "1" },
  };
  const { batchItemFailures } = await worker.handler({ Records: [record] } as unknown as SQSEvent);
  if (batchItemFailures.length) throw new Error("The message failed");
}

let others = 0;
/**
 * The worker stores the events in their sends and crashes before it counts them. To find that step,
 * similar messages about `otherId` are processed first.
 */
async function crashBeforeCommit(message: EventMessage, otherId: number) {
  const { orgId, events } = message.body;
  const deliverSimilar = async () =>
    deliver(
      await createEventMessage(
        orgId,
        events.map((event) => ({
          ...event,
          sendId: otherId,
          providerEventId: `other ${++others}`,
        })),
      ),
    );
  await deliverSimilar();
  const { steps } = await runUntilCrash(Number.POSITIVE_INFINITY, "after", deliverSimilar);
  const commit = steps.lastIndexOf("TransactWriteItems") + 1;
  expect(await runUntilCrash(commit, "before", () => deliver(message))).toMatchObject({
    crashed: true,
  });
}

const createDeliveriesAndOpens = ({ orgId, sendIds }: SentMails) =>
  createEventMessage(
    orgId,
    sendIds.flatMap((id) => [createEvent(id, "delivered", 1), createEvent(id, "open", 60)]),
  );

test.each([
  ["the same message id", "one id"],
  ["a new message id", undefined],
])("events are counted once after a crash at any step and a redelivery with %s", async (_, id) => {
  const steps = await crashAtEveryStep(async (crash) => {
    const mails = await createSentMails(2);
    const message = await createDeliveriesAndOpens(mails);
    await crash(() => deliver(message, id).catch(() => {}));
    for (let i = 0; i < 2; i++) await deliver(message, id);
    const { orgId, siteId } = mails;
    const { day, totals } = await readDayCounters(orgId, siteId);
    expect(day).toMatchObject({ delivered: 2, opened: 2, uniqueOpened: 2 });
    expect(totals).toMatchObject({ all: 4, delivered: 2, open: 2 });
    const { events } = await history.listEvents(mails.caller, { limit: 100 }, { siteId });
    expect(events).toHaveLength(4);
  });
  expect(steps.length).toBeGreaterThan(9);
});

test("events are counted after two weeks and many later events of their send", async () => {
  const { orgId, siteId, sendIds } = await createSentMails(2);
  const [id, otherId] = sendIds as [number, number];
  const first = await createEventMessage(orgId, [createEvent(id, "delivered", 1)]);
  await crashBeforeCommit(first, otherId);
  for (let days = 1; days <= 14; days++) {
    clock.advanceClock(24 * 3600);
    if (days > 7) await deliver(await createEventMessage(orgId, [createEvent(id, "open", days)]));
  }
  await deliver(first);
  const today = await organizations.getToday(orgId);
  const { day, totals } = await readDayCounters(orgId, siteId, today);
  expect(day).toMatchObject({ delivered: 1 });
  expect(totals).toMatchObject({ all: 10, delivered: 3, open: 7 });
});

describe("no shown number is negative", () => {
  async function createCampaignMail() {
    const mails = await createSentMails(1);
    const { orgId, item } = mails;
    const id = mails.sendIds[0]! + 1;
    const campaignId = id;
    const send = { ...item(id), campaignId, variantId: null };
    await insertMany([{ key: keys.send(orgId, id), item: send }]);
    const readShown = async () => {
      const { all } = await getSourceTotals(orgId, { kind: "campaign", id: campaignId });
      const { totals } = await getOverview(mails.caller, { period: "7d", interval: "day" });
      const links = await listLinkTotals(orgId, campaignId);
      return { stats: toMailingStats(all), accounting: all, totals, links };
    };
    return { ...mails, id, readShown };
  }

  const listNumbers = (value: unknown): number[] => {
    if (typeof value === "number") return [value];
    return value !== null && typeof value === "object"
      ? Object.values(value).flatMap(listNumbers)
      : [];
  };

  test("while a click is not counted that a later delivery shows to be automated", async () => {
    const { orgId, id, sendIds, readShown } = await createCampaignMail();
    const click = await createEventMessage(orgId, [
      createEvent(id, "click", 5, { data: { url: "https://shop.example/" } }),
    ]);
    await crashBeforeCommit(click, sendIds[0]!);
    await deliver(await createEventMessage(orgId, [createEvent(id, "delivered", 1)]));
    expect(listNumbers(await readShown()).filter((n) => n < 0)).toEqual([]);
    await deliver(click);
    const { stats } = await readShown();
    expect(stats).toMatchObject({ delivered: 1, clicked: 0, clickedTotal: 1 });
  });

  test("while a delivery is not counted that a bounce follows", async () => {
    const { orgId, id, sendIds, readShown } = await createCampaignMail();
    const delivery = await createEventMessage(orgId, [createEvent(id, "delivered", 1)]);
    await crashBeforeCommit(delivery, sendIds[0]!);
    await deliver(await createEventMessage(orgId, [createEvent(id, "bounce", 60)]));
    const { accounting } = await readShown();
    expect(listNumbers(accounting).filter((n) => n < 0)).toEqual([]);
    expect(accounting).toMatchObject({ delivered: 0, failed: 1 });
  });
});
