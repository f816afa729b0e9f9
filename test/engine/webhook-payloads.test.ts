import { beforeAll, describe, expect, test } from "vitest";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import { applyBatch } from "../../shared/domain/delivery-events/apply-events.ts";
import { emailEventPayloads } from "../../shared/domain/delivery-events/webhook-payload-schemas.ts";
import { keys } from "../../shared/keys.ts";
import { type EventType, eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import {
  createEvent,
  createEventMessage,
  createSentMails,
  timeAfterStart,
} from "../support/delivery-events.ts";
import { addEndpoint, type WebhookListener, workers } from "../support/outgoing-webhooks.ts";
import { pendingMessages, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
});

const sendFields = {
  contactId: 5,
  campaignId: 7,
  variantId: 8,
  batchId: 9,
  providerMessageId: "m-1",
  tags: ["receipt"],
  metadata: { orderId: "A-1042", paid: true },
};

/** Applies one event to a new send. Returns the bodies that the endpoint gets. */
async function bodiesOf(
  type: EventType,
  more: Partial<QueuedEvent> = {},
  fields: Record<string, unknown> = sendFields,
) {
  const mails = await createSentMails(1);
  const [sendId = 0] = mails.sendIds;
  if (Object.keys(fields).length)
    await write(update(keys.send(mails.orgId, sendId), { set: fields }));
  const listener = await addEndpoint(mails.caller);
  const message = await createEventMessage(mails.orgId, [createEvent(sendId, type, 60, more)]);
  expect(await applyBatch([message])).toEqual([undefined]);
  await runWorkers(workers);
  return { ...mails, sendId, eventId: message.body.events[0]!.id, bodies: bodiesAt(listener) };
}

const bodiesAt = ({ endpoint }: WebhookListener) =>
  endpoint.deliveries.map(({ body }) => JSON.parse(body) as Record<string, unknown>);

const client = { userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605" };
const url = "https://shop.example/offer";
const reason = "452 4.2.2 The mailbox is full";
const ipAddress = "203.0.113.9";

const cases: Record<EventType, { given?: Partial<QueuedEvent>; own: object }> = {
  delivered: { own: { data: {} } },
  open: {
    given: { data: client, ipAddress },
    own: { automated: false, ipAddress, data: client },
  },
  click: {
    given: { data: { ...client, url }, automated: true },
    own: { automated: true, ipAddress: null, data: { ...client, url } },
  },
  bounce: {
    given: { data: { bounceType: "soft", reason } },
    own: { data: { bounceType: "soft", bounceClass: "mailbox_full", reason } },
  },
  spam_report: { own: { data: {} } },
  unsubscribe: { given: { ipAddress }, own: { ipAddress, data: {} } },
  dropped: { given: { data: { reason } }, own: { data: { reason } } },
  deferred: { given: { data: { reason } }, own: { data: { reason } } },
};

describe("the body of a webhook request about an email", () => {
  test.each(eventTypes)("has all that a receiver needs: %s", async (type) => {
    const { given, own } = cases[type];
    const { bodies, sendId, siteId, eventId } = await bodiesOf(type, given);
    expect(bodies).toEqual([
      {
        event: type,
        sendId,
        email: `p${sendId}@d${sendId % 3}.example`,
        timestamp: timeAfterStart(60),
        eventId,
        siteId,
        provider: "postmark",
        ...{ sequenceId: null, stepId: null, holidayId: null },
        ...sendFields,
        ...own,
      },
    ]);
    const schema = emailEventPayloads[type].strict();
    expect(schema.parse(bodies[0])).toEqual(bodies[0]);
  });

  test("has null or an empty list for what a send does not have", async () => {
    const { bodies } = await bodiesOf("delivered", {}, {});
    expect(bodies).toMatchObject([
      { contactId: null, campaignId: null, providerMessageId: null, metadata: null, tags: [] },
    ]);
  });
});

test("events with long texts are split into messages that a queue takes", async () => {
  const mails = await createSentMails(90);
  const listener = await addEndpoint(mails.caller);
  // A character has up to 3 bytes.
  const long = "€".repeat(1000);
  const events = mails.sendIds.map((sendId) =>
    createEvent(sendId, "click", 60, { data: { url: long, userAgent: long } }),
  );
  expect(await applyBatch([await createEventMessage(mails.orgId, events)])).toEqual([undefined]);
  const sizes = pendingMessages.map(({ body }) => Buffer.byteLength(body));
  expect([sizes.length > 1, Math.max(...sizes) < 256_000]).toEqual([true, true]);
  await runWorkers(workers);
  expect(new Set(bodiesAt(listener).map(({ sendId }) => sendId))).toEqual(new Set(mails.sendIds));
});
