// Events without our send id are matched by the provider's message id; the others are listed.
import { beforeAll, describe, expect, test } from "vitest";
import { get, put, update, write, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import {
  listUnmatchedEvents,
  type UnmatchedEvent,
} from "../../shared/domain/delivery-events/unmatched-events.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { indexSingleWrites } from "../../shared/domain/sending/recipient-index/recipient-log.ts";
import { keys } from "../../shared/keys.ts";
import { getInboundAdapter } from "../../shared/providers/inbound/registry.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { newContact } from "../support/contacts.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  type SentMails,
  timeAfterStart,
} from "../support/delivery-events.ts";
import {
  createSender,
  runWorkers,
  sendBatch,
  uniqueRecipients,
  useOwnTableAndQueues,
} from "../support/sending.ts";

beforeAll(useOwnTableAndQueues);

/** Creates sent mails that are in the recipient index. Their message ids are `m-<id>`. */
async function createIndexedMails(n: number): Promise<SentMails> {
  const mails = await createSentMails(n);
  for (const id of mails.sendIds) {
    const item = mails.item(id);
    await writeMany(indexSingleWrites(mails.orgId, item, [item.toEmail]));
    const set = { providerMessageId: `m-${id}` };
    await write(update(keys.send(mails.orgId, id), { set }));
  }
  return mails;
}

/** An event as of SMTP2GO without the header, or of an identity of SES. */
const withoutSendId = (id: number, more: Partial<QueuedEvent> = {}) => ({
  ...createEvent(id, "delivered", 60, { providerMessageId: `m-${id}`, ...more }),
  sendId: undefined,
});

const list = async ({ caller }: Pick<SentMails, "caller">, limit = 50) =>
  (await listUnmatchedEvents(caller, { limit })).events;
const statusesOf = (events: UnmatchedEvent[]) =>
  events.map(({ status, reason }) => [status, reason]);

describe("an event without our send id", () => {
  test("is matched by address and message id", async () => {
    const mails = await createIndexedMails(3);
    const [first = 0, second = 0] = mails.sendIds;
    const events = [withoutSendId(first), withoutSendId(second, { type: "open" })];
    await applyMessages(await createEventMessage(mails.orgId, events));
    const detailOf = (id: number) => history.findDetail(mails.caller, id);
    expect(await detailOf(first)).toMatchObject({ events: [{ type: "delivered" }] });
    expect(await detailOf(second)).toMatchObject({ events: [{ type: "open" }] });
    expect(await list(mails)).toEqual([]);
  });

  test("is matched from the provider's request to the send: SMTP2GO and an SES identity", async () => {
    const mails = await createIndexedMails(2);
    const [clicked = 0, bounced = 0] = mails.sendIds;
    const bouncedEmail = mails.item(bounced).toEmail;
    const requests = [
      {
        provider: "smtp2go",
        id: clicked,
        body: {
          ...{ event: "click", time: timeAfterStart(60), email_id: `m-${clicked}` },
          ...{ rcpt: mails.item(clicked).toEmail, url: "https://shop.example/sale" },
          ...{ "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605" },
        },
      },
      {
        provider: "ses",
        id: bounced,
        body: {
          ...{ Type: "Notification", MessageId: "1", Timestamp: timeAfterStart(60) },
          TopicArn: "arn:aws:sns:us-east-1:123456789012:ses-identity",
          Message: JSON.stringify({
            notificationType: "Bounce",
            mail: { messageId: `m-${bounced}`, destination: [bouncedEmail] },
            bounce: {
              ...{ bounceType: "Permanent", feedbackId: "f1", timestamp: timeAfterStart(60) },
              bouncedRecipients: [{ emailAddress: bouncedEmail, diagnosticCode: "550 unknown" }],
            },
          }),
        },
      },
    ];
    for (const { provider, id, body } of requests) {
      await write(update(keys.send(mails.orgId, id), { set: { provider } }));
      const { events } = getInboundAdapter(provider)!.readEvents({
        headers: { "content-type": "application/json" },
        rawBody: Buffer.from(JSON.stringify(body)),
        ...{ url: "", querySecret: undefined },
      });
      expect(events).toHaveLength(1);
      expect(events[0]).not.toHaveProperty("sendId");
      const message = await createEventMessage(mails.orgId, events);
      await applyMessages({ ...message, body: { ...message.body, provider } });
    }
    const detailOf = (id: number) => history.findDetail(mails.caller, id);
    expect(await detailOf(clicked)).toMatchObject({
      events: [{ type: "click", data: { url: "https://shop.example/sale" } }],
    });
    expect(await detailOf(bounced)).toMatchObject({
      status: "failed",
      events: [{ type: "bounce", data: { bounceType: "hard", reason: "550 unknown" } }],
    });
    expect(await list(mails)).toEqual([]);
  });

  test("is counted once when its message comes again", async () => {
    const mails = await createIndexedMails(1);
    const message = await createEventMessage(mails.orgId, [withoutSendId(mails.sendIds[0]!)]);
    await applyMessages(message);
    await applyMessages({ ...message, attempt: 2 });
    const { events, pagination } = await history.listEvents(mails.caller, { limit: 50 }, {});
    expect([events.length, pagination.total]).toEqual([1, 1]);
  });

  test("is not matched with another address, message or provider", async () => {
    const mails = await createIndexedMails(1);
    const [id = 0] = mails.sendIds;
    const message = await createEventMessage(mails.orgId, [
      withoutSendId(id, { email: "other@example.com", providerEventId: "a" }),
      withoutSendId(id, { providerMessageId: "other", providerEventId: "b" }),
    ]);
    await applyMessages(message);
    const other = await createEventMessage(mails.orgId, [withoutSendId(id)]);
    await applyMessages({ ...other, body: { ...other.body, provider: "ses" } });
    expect(await history.findDetail(mails.caller, id)).toMatchObject({ events: [] });
    expect(statusesOf(await list(mails))).toEqual(Array(3).fill(["waiting", "unknown_message"]));
  });

  test("that precedes the response of the provider is matched at the next try", async () => {
    const mails = await createIndexedMails(1);
    const [id = 0] = mails.sendIds;
    await write(update(keys.send(mails.orgId, id), { remove: ["providerMessageId"] }));
    const message = await createEventMessage(mails.orgId, [withoutSendId(id)]);
    await applyMessages(message);
    const key = keys.unmatchedEvent(mails.orgId, message.body.events[0]!.id);
    const parked = await get<{ event: QueuedEvent }>(key);
    expect(parked?.event.parked?.tries).toBe(1);
    const set = { providerMessageId: `m-${id}` };
    await write(update(keys.send(mails.orgId, id), { set }));
    const body = { ...message.body, events: [parked!.event] };
    await applyMessages({ ...message, body });
    expect(await history.findDetail(mails.caller, id)).toMatchObject({ status: "delivered" });
    expect(await get(key)).toBeUndefined();
  });

  test("is matched with a mail of a batch", async () => {
    const sender = await createSender("postmark");
    const recipients = uniqueRecipients(10);
    await sendBatch(sender, recipients);
    await runWorkers({ forSeconds: 5 });
    const { to } = recipients[3]!;
    const [send] = (await listSends(sender.caller, { limit: 10 }, { email: to })).sends;
    const event = {
      ...createEvent(1, "delivered", 60, {
        email: to,
        providerMessageId: send!.providerMessageId!,
        timestamp: clock.now().toISOString(),
      }),
      sendId: undefined,
    };
    await applyMessages(await createEventMessage(sender.caller.orgId, [event]));
    expect((await listSends(sender.caller, { limit: 10 }, { email: to })).sends).toMatchObject([
      { id: send!.id, status: "delivered" },
    ]);
  });
});

describe("GET /events/unmatched", () => {
  test("says why an event has no send, and counts it once", async () => {
    const mails = await createIndexedMails(1);
    const lost = mails.sendIds[0]! + 500;
    const nothing = { ...withoutSendId(lost), providerMessageId: undefined };
    const unknownMessage = withoutSendId(lost);
    const unknownSend = createEvent(lost, "open", 61);
    const message = await createEventMessage(mails.orgId, [nothing, unknownMessage, unknownSend]);
    await applyMessages(message);
    await applyMessages({ ...message, attempt: 2 });
    expect(statusesOf(await list(mails))).toEqual([
      ["waiting", "unknown_send"],
      ["waiting", "unknown_message"],
      ["unmatched", "no_ids"],
    ]);
    expect(await get(keys.droppedEventCount(mails.orgId))).toMatchObject({ count: 1 });
    let body = message.body;
    for (const tries of [1, 2]) {
      const key = keys.unmatchedEvent(mails.orgId, message.body.events[1]!.id);
      const parked = await get<{ event: QueuedEvent }>(key);
      expect(parked?.event.parked?.tries).toBe(tries);
      body = { ...body, events: [parked!.event] };
      await applyMessages({ ...message, body });
    }
    await applyMessages({ ...message, body });
    const [, unmatched] = await list(mails);
    expect(unmatched).toMatchObject({
      status: "unmatched",
      reason: "unknown_message",
      explanation: expect.stringContaining("message id"),
      type: "delivered",
      sendId: null,
      providerMessageId: `m-${lost}`,
      provider: "postmark",
    });
    expect(await get(keys.droppedEventCount(mails.orgId))).toMatchObject({ count: 2 });
  });

  test("keeps at most 1,000 events of a day, and counts all", async () => {
    const mails = await createSentMails(1);
    const today = clock.now().toISOString().slice(0, 10);
    await write(put(keys.unmatchedEventsOfDay(mails.orgId, today), { count: 999 }));
    const events = ["a", "b", "c"].map((providerEventId) => ({
      ...withoutSendId(7, { providerEventId }),
      providerMessageId: undefined,
    }));
    await applyMessages(await createEventMessage(mails.orgId, events));
    expect(await list(mails)).toHaveLength(1);
    expect(await get(keys.droppedEventCount(mails.orgId))).toMatchObject({ count: 3 });
  });

  test("has pages, and no event of another organization", async () => {
    const [mails, others] = [await createSentMails(1), await createSentMails(1)];
    const events = ["a", "b", "c"].map((providerEventId) => withoutSendId(7, { providerEventId }));
    await applyMessages(await createEventMessage(mails.orgId, events));
    const first = await listUnmatchedEvents(mails.caller, { limit: 2 });
    const cursor = first.pagination.nextCursor!;
    const second = await listUnmatchedEvents(mails.caller, { limit: 2, cursor });
    expect([first.events.length, second.events.length]).toEqual([2, 1]);
    expect(second.pagination.nextCursor).toBeNull();
    expect(await list(others)).toEqual([]);
  });

  test("has no event about an erased contact", async () => {
    const mails = await createSentMails(1);
    const { caller, siteId } = mails;
    const { id } = await contacts.create(caller, { siteId, ...newContact("ada@example.com") });
    const nothing = {
      ...withoutSendId(7, { email: "Ada@example.com" }),
      providerMessageId: undefined,
    };
    await applyMessages(await createEventMessage(mails.orgId, [nothing]));
    expect(await list(mails)).toHaveLength(1);
    await erase(caller, id);
    expect(await list(mails)).toEqual([]);
  });
});

describe("events about a contact that were not matched", () => {
  const email = "ada@example.com";
  const address = "192.0.2.7";

  async function createContactWithEvent() {
    const mails = await createSentMails(1);
    const { caller, siteId } = mails;
    const { id } = await contacts.create(caller, { siteId, ...newContact(email) });
    const waiting = withoutSendId(7, {
      type: "open",
      email: "Ada@example.com",
      ipAddress: address,
    });
    const other = withoutSendId(8, { email: "bob@example.com" });
    const message = await createEventMessage(mails.orgId, [waiting, other]);
    await applyMessages(message);
    const key = keys.unmatchedEvent(mails.orgId, message.body.events[0]!.id);
    const parked = (await get<{ event: QueuedEvent }>(key))!.event;
    const retry = (event = parked) =>
      applyMessages({ ...message, body: { ...message.body, events: [event] } });
    return { caller, mails, id, key, parked, retry };
  }

  test("are in the export of its data, but not for callers limited to sites", async () => {
    const { caller, mails, id } = await createContactWithEvent();
    const { unmatchedEvents, complete } = await getPersonalData(caller, id);
    expect(unmatchedEvents).toMatchObject([{ type: "open", status: "waiting" }]);
    expect(complete).toBe(true);
    const limited = { ...caller, siteIds: [mails.siteId] };
    expect((await getPersonalData(limited, id)).unmatchedEvents).toEqual([]);
  });

  test("lose the address when the person is erased while they wait", async () => {
    const { caller, mails, id, key } = await createContactWithEvent();
    await erase(caller, id);
    const stored = JSON.stringify(await get(key));
    expect(stored).toContain('"type":"open"');
    expect(stored.toLowerCase()).not.toContain(email);
    expect(stored).not.toContain(address);
    expect((await list(mails)).map((event) => event.email)).toContain("bob@example.com");
  });

  test("lose the address when they are given up after the person was erased", async () => {
    const { caller, mails, id, key, parked, retry } = await createContactWithEvent();
    await erase(caller, id);
    // Another worker has read the event before the erasure.
    await retry({ ...parked, parked: { ...parked.parked!, tries: 2 } });
    const stored = JSON.stringify(await get(key));
    expect(stored).toContain("expires");
    expect(stored.toLowerCase()).not.toContain(email);
    expect(stored).not.toContain(address);
    expect(await list(mails)).toHaveLength(1);
    expect(await get(keys.droppedEventCount(mails.orgId))).toMatchObject({ count: 1 });
  });
});

test("GET /sends?messageId= finds the send, with an address at once", async () => {
  const mails = await createIndexedMails(2);
  const [id = 0] = mails.sendIds;
  const find = async (messageId: string, email = mails.item(id).toEmail) =>
    (await listSends(mails.caller, { limit: 10 }, { messageId, email })).sends;
  expect(await find(`m-${id}`)).toMatchObject([{ id, providerMessageId: `m-${id}` }]);
  expect(await find("other")).toEqual([]);
  const { caller: stranger } = await createSentMails(1);
  const filter = { messageId: `m-${id}`, email: mails.item(id).toEmail };
  expect((await listSends(stranger, { limit: 10 }, filter)).sends).toEqual([]);
});
