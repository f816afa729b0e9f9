import { describe, expect, test } from "vitest";
import { get, insertMany, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { filterSuppressed } from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import { machineClickSeconds } from "../../shared/domain/delivery-events/send-outcome.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { getInboundAdapter } from "../../shared/providers/inbound/registry.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { crashAtSomeSteps, interceptClients, runUntilCrash } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  readDayCounters,
  timeAfterStart,
} from "../support/delivery-events.ts";

interceptClients();

/** Two messages about four sends that cause every reaction. */
const createStory = (sendIds: number[]) => {
  const [a = 0, b = 0, c = 0, d = 0] = sendIds;
  return [
    [
      createEvent(a, "delivered", 1),
      createEvent(b, "delivered", 1),
      createEvent(c, "bounce", 2, { data: { bounceType: "hard", reason: "550" } }),
    ],
    [
      createEvent(a, "open", 30),
      createEvent(a, "open", 60),
      createEvent(a, "click", 61),
      createEvent(b, "spam_report", 90),
      createEvent(d, "deferred", 5),
    ],
  ];
};
const counted = {
  delivered: 2,
  bouncedHard: 1,
  opened: 2,
  uniqueOpened: 1,
  clicked: 1,
  uniqueClicked: 1,
  complained: 1,
  deferred: 1,
};

describe("a round of events", () => {
  test("updates sends, suppressions and counters, and appears in the history", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(4);
    for (const events of createStory(sendIds))
      await applyMessages(await createEventMessage(orgId, events));
    const { day, totals, byDomain } = await readDayCounters(orgId, siteId);
    expect(day).toMatchObject(counted);
    expect(day).toMatchObject({ "g.5.delivered": 2, "g.5.opened": 2 });
    expect(byDomain.reduce((sum, { delivered = 0 }) => sum + delivered, 0)).toBe(2);
    expect(totals).toMatchObject({ all: 8, open: 2, delivered: 2 });
    const detail = await history.findDetail(caller, sendIds[0]!);
    expect(detail).toMatchObject({
      status: "delivered",
      deliveredAt: timeAfterStart(1),
      openedAt: timeAfterStart(30),
      clickedAt: timeAfterStart(61),
    });
    for (const id of [sendIds[0]!, sendIds[2]!]) {
      const { createdAt, updatedAt, sentAt } = await history.findDetail(caller, id);
      expect(updatedAt > (sentAt ?? createdAt)).toBe(true);
    }
    expect(detail.events.map(({ type }) => type)).toEqual(["delivered", "open", "open", "click"]);
    expect(await history.findDetail(caller, sendIds[2]!)).toMatchObject({
      status: "failed",
      error: "550",
    });
    const suppressed = await filterSuppressed(
      orgId,
      sendIds.map((id) => `p${id}@d${id % 3}.example`),
      { purpose: "transactional" },
    );
    expect(suppressed.size).toBe(2);
  });

  test("of system mail is stored in its send and not counted", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(4);
    await write(update(keys.send(orgId, sendIds[0]!), { set: { system: true } }));
    for (const events of createStory(sendIds))
      await applyMessages(await createEventMessage(orgId, events));
    const { totals } = await readDayCounters(orgId, siteId);
    const detail = await history.findDetail(caller, sendIds[0]!);
    expect(detail).toMatchObject({ status: "delivered", openedAt: timeAfterStart(30) });
    const { events } = await history.listEvents(caller, { limit: 50 }, {});
    expect(events.map(({ sendId }) => sendId)).not.toContain(sendIds[0]);
    expect(totals).toMatchObject({ all: events.length });
  });

  test("changes nothing when all or some events arrive again, in the same message or another", async () => {
    const { orgId, siteId, sendIds } = await createSentMails(4);
    const [one, two] = await Promise.all(
      createStory(sendIds).map((events) => createEventMessage(orgId, events)),
    );
    await applyMessages(one!, two!);
    const before = await readDayCounters(orgId, siteId);
    await applyMessages(two!, one!);
    await applyMessages(one!);
    await applyMessages(await createEventMessage(orgId, createStory(sendIds)[1]!));
    expect(await readDayCounters(orgId, siteId)).toEqual(before);
  });

  test("is counted once when its message is delivered twice at the same time", async () => {
    const { orgId, siteId, sendIds } = await createSentMails(4);
    const [one, two] = await Promise.all(
      createStory(sendIds).map((events) => createEventMessage(orgId, events)),
    );
    await Promise.allSettled([
      applyMessages(one!, two!),
      applyMessages(one!, two!),
      applyMessages(two!),
    ]);
    await applyMessages(one!, two!);
    expect((await readDayCounters(orgId, siteId)).day).toMatchObject(counted);
  });

  test("is counted once after a crash at any database call", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const { orgId, siteId, sendIds } = await createSentMails(4);
      const [one, two] = await Promise.all(
        createStory(sendIds).map((events) => createEventMessage(orgId, events)),
      );
      const { steps } = await crash(() => applyMessages(one!, two!));
      // The messages arrive one by one in another order; the first crashes again at the same step.
      await runUntilCrash(steps.length, "after", () => applyMessages(two!));
      await applyMessages(two!);
      await applyMessages(one!);
      const { day, totals } = await readDayCounters(orgId, siteId);
      expect(day).toMatchObject(counted);
      expect(totals).toMatchObject({ all: 8 });
    });
    expect(steps.length).toBeGreaterThan(16);
  });
});

describe("an event", () => {
  test("does not change the send of another organization", async () => {
    const [victim, thief] = await Promise.all([createSentMails(1), createSentMails(1)]);
    await applyMessages(
      await createEventMessage(thief.orgId, [createEvent(victim.sendIds[0]!, "bounce", 1)]),
    );
    expect(await history.findDetail(victim.caller, victim.sendIds[0]!)).toMatchObject({
      status: "sent",
      events: [],
    });
    expect((await readDayCounters(victim.orgId, victim.siteId)).totals).toEqual({});
    expect((await readDayCounters(thief.orgId, thief.siteId)).totals).toEqual({});
  });

  test("that arrives before its send is stored is parked, and counted when the send appears", async () => {
    const { caller, orgId, siteId, item } = await createSentMails(1);
    const late = (await ids.nextSendBlock()) * 1000;
    const early = await createEventMessage(orgId, [createEvent(late, "delivered", 1)]);
    await applyMessages(early);
    await applyMessages(early);
    const parked = await get<{ event: QueuedEvent; provider: string }>(
      keys.unmatchedEvent(orgId, early.body.events[0]!.id),
    );
    expect(parked).toMatchObject({ provider: "postmark", event: { parked: { tries: 1 } } });
    await insertMany([{ key: keys.send(orgId, late), item: item(late) }]);
    await applyMessages({
      attempt: 1,
      body: { orgId, provider: "postmark", events: [parked!.event] },
    });
    expect(await history.findDetail(caller, late)).toMatchObject({ status: "delivered" });
    expect((await readDayCounters(orgId, siteId)).day).toMatchObject({ delivered: 1 });
    expect(await get(keys.unmatchedEvent(orgId, early.body.events[0]!.id))).toBeUndefined();
  });

  test("whose send never appears is dropped after a day and counted as dropped", async () => {
    const { orgId } = await createSentMails(1);
    let body = (
      await createEventMessage(orgId, [createEvent((await ids.nextSendBlock()) * 1000, "open", 1)])
    ).body;
    for (let tries = 1; tries <= 4; tries++) {
      await applyMessages({ attempt: 1, body });
      const parked = await get<{ event: QueuedEvent }>(
        keys.unmatchedEvent(orgId, body.events[0]!.id),
      );
      expect(parked?.event.parked?.tries).toBe(tries);
      body = { ...body, events: [parked!.event] };
    }
    await applyMessages({ attempt: 1, body });
    await applyMessages({ attempt: 1, body });
    const givenUp = { expires: expect.any(Number) };
    expect(await get(keys.unmatchedEvent(orgId, body.events[0]!.id))).toMatchObject(givenUp);
    expect(await get(keys.droppedEventCount(orgId))).toMatchObject({ count: 1 });
  });

  test("that arrives through two sending configs of one account is stored and counted once", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(1);
    const [sendId = 0] = sendIds;
    const data = {
      email_id: "e-1",
      to: [`p${sendId}@d${sendId % 3}.example`],
      tags: { send_id: String(sendId) },
    };
    const rawBody = Buffer.from(
      JSON.stringify({ type: "email.delivered", created_at: timeAfterStart(1), data }),
    );
    for (const id of ["msg_of_one_config", "msg_of_the_other"]) {
      const { events } = getInboundAdapter("resend")!.readEvents({
        headers: { "svix-id": id },
        rawBody,
        url: "",
        querySecret: undefined,
      });
      await applyMessages(await createEventMessage(orgId, events));
    }
    expect((await history.findDetail(caller, sendId)).events).toHaveLength(1);
    expect((await readDayCounters(orgId, siteId)).totals).toMatchObject({ all: 1, delivered: 1 });
  });

  test("of type unsubscribe without a send id unsubscribes contacts, or else suppresses the address", async () => {
    const { caller, orgId, siteId } = await createSentMails(1);
    const [ann, stranger] = [`ann-${orgId}@example.com`, `stranger-${orgId}@example.com`];
    const { id } = await contacts.create(caller, NewContact.parse({ siteId, email: ann }));
    const events = [ann, stranger].map((email) => {
      const { sendId: _, ...event } = { ...createEvent(1, "unsubscribe", 1), email };
      return event;
    });
    for (const _ of "12") await applyMessages(await createEventMessage(orgId, events));
    expect((await contacts.find(caller, id)).status).toBe("unsubscribed");
    expect(await suppressions.find(orgId, ann)).toBeUndefined();
    expect(await suppressions.find(orgId, stranger)).toMatchObject({ reason: "unsubscribe" });
  });

  test("is stored up to a limit per send, and beyond it if it changes the send", async () => {
    const { orgId, siteId, sendIds } = await createSentMails(1);
    const [id = 0] = sendIds;
    for (let from = 0; from < 1600; from += 200)
      await applyMessages(
        await createEventMessage(
          orgId,
          Array.from({ length: 200 }, (_, i) => createEvent(id, "open", 10 + from + i)),
        ),
      );
    const { all = 0 } = (await readDayCounters(orgId, siteId)).totals;
    expect(all).toBeGreaterThanOrEqual(1000);
    expect(all).toBeLessThan(1300);
    await applyMessages(await createEventMessage(orgId, [createEvent(id, "spam_report", 5000)]));
    expect((await readDayCounters(orgId, siteId)).totals).toMatchObject({ all: all + 1 });
  });

  test("that is automated is stored and listed, and does not raise unique counters", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(1);
    const [id = 0] = sendIds;
    const events = [
      createEvent(id, "delivered", 1),
      createEvent(id, "click", 1 + machineClickSeconds - 1),
      createEvent(id, "open", 40, { automated: true }),
      createEvent(id, "open", 50),
    ];
    await applyMessages(await createEventMessage(orgId, events));
    expect((await readDayCounters(orgId, siteId)).day).toMatchObject({
      opened: 2,
      openedByMachine: 1,
      uniqueOpened: 1,
      clicked: 1,
      clickedByMachine: 1,
    });
    const detail = await history.findDetail(caller, id);
    expect(detail.clickedAt).toBeNull();
    expect(detail.events.map(({ automated }) => automated)).toEqual([false, true, true, false]);
  });
});

describe("clicks on several links within a second", () => {
  const click = (id: number, link: string, seconds: number) =>
    createEvent(id, "click", seconds, { data: { url: `https://shop.example/${link}` } });

  test.each([["in one message"], ["in a message each"]])("are automated, %s", async (arrival) => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(1);
    const [id = 0] = sendIds;
    const burst = [
      createEvent(id, "delivered", 1),
      ...["a", "b", "c"].map((x) => click(id, x, 40)),
    ].map((event, i) => ({ ...event, providerEventId: `burst ${i}` }));
    const messages = arrival === "in one message" ? [burst] : burst.map((event) => [event]);
    for (const events of messages) await applyMessages(await createEventMessage(orgId, events));
    const { day } = await readDayCounters(orgId, siteId);
    expect(day).toMatchObject({ clicked: 3, clickedByMachine: 3 });
    expect(day.uniqueClicked ?? 0).toBe(0);
    expect((await history.findDetail(caller, id)).clickedAt).toBeNull();
  });

  test("differ from clicks of a person", async () => {
    const { orgId, siteId, sendIds } = await createSentMails(2);
    const [first = 0, second = 0] = sendIds;
    const events = [
      click(first, "a", 40),
      { ...click(first, "a", 40), providerEventId: "a double click" },
      click(first, "b", 42),
      click(second, "c", 42),
    ];
    await applyMessages(await createEventMessage(orgId, events));
    const { day } = await readDayCounters(orgId, siteId);
    expect(day).toMatchObject({ clicked: 4, uniqueClicked: 2 });
    expect(day.clickedByMachine).toBeUndefined();
  });
});

describe("GET /events", () => {
  test("returns every event once, by page number and by cursor, while new events arrive", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(60);
    for (let i = 0; i < 6; i++) {
      clock.advanceClock(1);
      await applyMessages(
        await createEventMessage(
          orgId,
          sendIds
            .slice(i * 10, i * 10 + 10)
            .flatMap((id) => [createEvent(id, "delivered", i), createEvent(id, "open", i + 20)]),
        ),
      );
    }
    const seenIds: number[] = [];
    let cursor: string | undefined;
    do {
      const { events, pagination } = await history.listEvents(
        caller,
        { limit: 7, cursor },
        { siteId },
      );
      seenIds.push(...events.map(({ id }) => id));
      expect(pagination.total).toBeGreaterThanOrEqual(120);
      cursor = pagination.nextCursor ?? undefined;
      if (seenIds.length === 21)
        await applyMessages(
          await createEventMessage(orgId, [createEvent(sendIds[0]!, "click", 300)]),
        );
    } while (cursor);
    expect(seenIds).toHaveLength(120);
    expect(new Set(seenIds).size).toBe(120);
    const opens = await history.listEvents(
      caller,
      { limit: 50, page: 2 },
      { siteId, type: "open" },
    );
    expect(opens.events).toHaveLength(10);
    expect(opens.pagination).toMatchObject({ total: 60, totalPages: 2, nextCursor: null });
  });

  test("searches a limited number of pages for a rare type, and returns a cursor to continue", async () => {
    const { caller, orgId, siteId, sendIds } = await createSentMails(1);
    await applyMessages(
      await createEventMessage(orgId, [createEvent(sendIds[0]!, "spam_report", 1)]),
    );
    const many = Array.from({ length: 1500 }, (_, i) => ({
      key: keys.eventCommit(
        orgId,
        siteId,
        `2099-01-01T00:00:00.000Z#${String(i).padStart(4, "0")}#${siteId}#0`,
      ),
      item: { n: 1, types: { open: 1 } },
    }));
    await insertMany(many);
    const first = await history.listEvents(caller, { limit: 10 }, { siteId, type: "spam_report" });
    expect(first).toMatchObject({
      events: [],
      pagination: { total: 1, nextCursor: expect.any(String) },
    });
    const second = await history.listEvents(
      caller,
      { limit: 10, cursor: first.pagination.nextCursor! },
      { siteId, type: "spam_report" },
    );
    expect(second).toMatchObject({
      events: [{ type: "spam_report" }],
      pagination: { nextCursor: null },
    });
  });
});
