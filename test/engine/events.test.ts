import { describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as history from "../../shared/domain/events/history.ts";
import { machineClickSeconds } from "../../shared/domain/events/timeline.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { get, insertMany } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import type { InboundEvent } from "../../shared/queues.ts";
import { armed, atEveryStep, killed } from "../support/killer.ts";
import { at, counters, eventOf, message, sentMail, work } from "../support/sent-mail.ts";

armed();

/** Two messages over four sends: every kind of effect. */
const story = (sendIds: number[]) => {
  const [a = 0, b = 0, c = 0, d = 0] = sendIds;
  return [
    [eventOf(a, "delivered", 1), eventOf(b, "delivered", 1), eventOf(c, "bounce", 2, { data: { bounceType: "hard", reason: "550" } })],
    [eventOf(a, "open", 30), eventOf(a, "open", 60), eventOf(a, "click", 61), eventOf(b, "spam_report", 90), eventOf(d, "deferred", 5)],
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

describe("a run of events", () => {
  test("moves sends, suppressions and counters, and is read back as history", async () => {
    const { caller, orgId, siteId, sendIds } = await sentMail(4);
    for (const events of story(sendIds)) await work(await message(orgId, events));
    const { day, totals, byDomain } = await counters(orgId, siteId);
    expect(day).toMatchObject(counted);
    expect(day).toMatchObject({ "g.5.delivered": 2, "g.5.opened": 2 });
    expect(byDomain.reduce((sum, { delivered = 0 }) => sum + delivered, 0)).toBe(2);
    expect(totals).toMatchObject({ all: 8, open: 2, delivered: 2 });
    const detail = await sends.detail(caller, sendIds[0]!);
    expect(detail).toMatchObject({ status: "delivered", deliveredAt: at(1), openedAt: at(30), clickedAt: at(61) });
    expect(detail.events.map(({ type }) => type)).toEqual(["delivered", "open", "open", "click"]);
    expect(await sends.detail(caller, sendIds[2]!)).toMatchObject({ status: "failed", error: "550" });
    const suppressed = await suppressions.among(
      orgId,
      sendIds.map((id) => `p${id}@d${id % 3}.example`),
      "transactional",
    );
    expect(suppressed.size).toBe(2);
  });

  test("that comes again, whole or in part, with the same message or another, changes nothing", async () => {
    const { orgId, siteId, sendIds } = await sentMail(4);
    const [one, two] = await Promise.all(story(sendIds).map((events) => message(orgId, events)));
    await work(one!, two!);
    const before = await counters(orgId, siteId);
    await work(two!, one!);
    await work(one!);
    await work(await message(orgId, story(sendIds)[1]!));
    expect(await counters(orgId, siteId)).toEqual(before);
  });

  test("delivered twice at once is counted once", async () => {
    const { orgId, siteId, sendIds } = await sentMail(4);
    const [one, two] = await Promise.all(story(sendIds).map((events) => message(orgId, events)));
    await Promise.allSettled([work(one!, two!), work(one!, two!), work(two!)]);
    await work(one!, two!);
    expect((await counters(orgId, siteId)).day).toMatchObject(counted);
  });

  test("killed at any step, before the call or after it, is counted once when its messages come again", async () => {
    const told = await atEveryStep(async (kill) => {
      const { orgId, siteId, sendIds } = await sentMail(4);
      const [one, two] = await Promise.all(story(sendIds).map((events) => message(orgId, events)));
      const { steps } = await kill(() => work(one!, two!));
      // They come back apart, and in another order; the first is killed again where the run was.
      await killed(steps.length, "after", () => work(two!));
      await work(two!);
      await work(one!);
      const { day, totals } = await counters(orgId, siteId);
      expect(day).toMatchObject(counted);
      expect(totals).toMatchObject({ all: 8 });
    });
    expect(told.length).toBeGreaterThan(16);
  }, 120_000);
});

describe("an event", () => {
  test("of another organization's send changes nothing of it", async () => {
    const [victim, thief] = await Promise.all([sentMail(1), sentMail(1)]);
    await work(await message(thief.orgId, [eventOf(victim.sendIds[0]!, "bounce", 1)]));
    expect(await sends.detail(victim.caller, victim.sendIds[0]!)).toMatchObject({ status: "sent", events: [] });
    expect((await counters(victim.orgId, victim.siteId)).totals).toEqual({});
    expect((await counters(thief.orgId, thief.siteId)).totals).toEqual({});
  });

  test("faster than our own write is kept, and counted when its send appears", async () => {
    const { caller, orgId, siteId, item } = await sentMail(1);
    const late = (await ids.takeBlock()) * 1000;
    const early = await message(orgId, [eventOf(late, "delivered", 1)]);
    await work(early);
    await work(early);
    const parked = await get<{ event: InboundEvent; provider: string }>(keys.parkedEvent(orgId, early.body.events[0]!.id));
    expect(parked).toMatchObject({ provider: "postmark", event: { parked: { tries: 1 } } });
    await insertMany([{ address: keys.send(orgId, late), item: item(late) }]);
    await work({ messageId: "again", attempt: 1, body: { orgId, provider: "postmark", events: [parked!.event] } });
    expect(await sends.detail(caller, late)).toMatchObject({ status: "delivered" });
    expect((await counters(orgId, siteId)).day).toMatchObject({ delivered: 1 });
    expect(await get(keys.parkedEvent(orgId, early.body.events[0]!.id))).toBeUndefined();
  });

  test("whose send never appears is dropped after a day, and counted as that", async () => {
    const { orgId } = await sentMail(1);
    let body = (await message(orgId, [eventOf((await ids.takeBlock()) * 1000, "open", 1)])).body;
    for (let tries = 1; tries <= 4; tries++) {
      await work({ messageId: `try${tries}`, attempt: 1, body });
      const parked = await get<{ event: InboundEvent }>(keys.parkedEvent(orgId, body.events[0]!.id));
      expect(parked?.event.parked?.tries).toBe(tries);
      body = { ...body, events: [parked!.event] };
    }
    await work({ messageId: "last", attempt: 1, body });
    await work({ messageId: "once more", attempt: 1, body });
    expect(await get(keys.parkedEvent(orgId, body.events[0]!.id))).toBeUndefined();
    expect(await get(keys.unmatchedCount(orgId))).toMatchObject({ count: 1 });
  });

  test("by a machine is kept and told, and raises no unique count", async () => {
    const { caller, orgId, siteId, sendIds } = await sentMail(1);
    const [id = 0] = sendIds;
    const events = [
      eventOf(id, "delivered", 1),
      eventOf(id, "click", 1 + machineClickSeconds - 1),
      eventOf(id, "open", 40, { automated: true }),
      eventOf(id, "open", 50),
    ];
    await work(await message(orgId, events));
    expect((await counters(orgId, siteId)).day).toMatchObject({
      opened: 2,
      openedByMachine: 1,
      uniqueOpened: 1,
      clicked: 1,
      clickedByMachine: 1,
    });
    const detail = await sends.detail(caller, id);
    expect(detail.clickedAt).toBeNull();
    expect(detail.events.map(({ automated }) => automated)).toEqual([false, true, true, false]);
  });
});

describe("GET /events", () => {
  test("pages through every event once, by number and by cursor, while more come in", async () => {
    const { caller, orgId, siteId, sendIds } = await sentMail(60);
    for (let i = 0; i < 6; i++) {
      clock.advance(1);
      await work(
        await message(
          orgId,
          sendIds.slice(i * 10, i * 10 + 10).flatMap((id) => [eventOf(id, "delivered", i), eventOf(id, "open", i + 20)]),
        ),
      );
    }
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const { events, pagination } = await history.list(caller, { limit: 7, cursor }, { siteId });
      seen.push(...events.map(({ id }) => id));
      expect(pagination.total).toBeGreaterThanOrEqual(120);
      cursor = pagination.nextCursor ?? undefined;
      if (seen.length === 21) await work(await message(orgId, [eventOf(sendIds[0]!, "click", 300)]));
    } while (cursor);
    expect(seen).toHaveLength(120);
    expect(new Set(seen).size).toBe(120);
    const opens = await history.list(caller, { limit: 50, page: 2 }, { siteId, type: "open" });
    expect(opens.events).toHaveLength(10);
    expect(opens.pagination).toMatchObject({ total: 60, totalPages: 2, nextCursor: null });
  });

  test("looks for a rare type through so many pages and no more, and goes on from there", async () => {
    const { caller, orgId, siteId, sendIds } = await sentMail(1);
    await work(await message(orgId, [eventOf(sendIds[0]!, "spam_report", 1)]));
    const many = Array.from({ length: 1500 }, (_, i) => ({
      address: keys.eventPage(orgId, siteId, `2099-01-01T00:00:00.000Z#${String(i).padStart(4, "0")}`),
      item: { n: 1, types: { open: 1 } },
    }));
    await insertMany(many);
    const first = await history.list(caller, { limit: 10 }, { siteId, type: "spam_report" });
    expect(first).toMatchObject({ events: [], pagination: { total: 1, nextCursor: expect.any(String) } });
    const second = await history.list(caller, { limit: 10, cursor: first.pagination.nextCursor! }, { siteId, type: "spam_report" });
    expect(second).toMatchObject({ events: [{ type: "spam_report" }], pagination: { nextCursor: null } });
  });
});
