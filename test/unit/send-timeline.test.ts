import { describe, expect, test } from "vitest";
import {
  eventKey,
  type OverflowEvent,
  planUpdate,
  type SendUpdate,
  type SendWithEvents,
  toSendEvent,
} from "../../shared/domain/delivery-events/send-events.ts";
import {
  addCounters,
  isDeclaredMachine,
  outcomeOf,
} from "../../shared/domain/delivery-events/send-outcome.ts";
import type { EventCounts } from "../../shared/domain/sending/daily-counters.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import fc from "../support/fast-check.ts";

const send = (): SendWithEvents => ({
  id: 1000,
  siteId: 1,
  toEmail: "ann@example.net",
  fromEmail: "hi@example.com",
  subject: "Hi",
  status: "sent",
  provider: "postmark",
  sendingConfigId: 1,
  createdAt: "2026-11-21T00:00:00.000Z",
  v: 0,
});

const second = (n: number) => new Date(Date.UTC(2026, 10, 21) + n * 1000).toISOString();

const event = (
  type: QueuedEvent["type"],
  at: number,
  more: Partial<QueuedEvent> = {},
): QueuedEvent => ({
  id: at + 1,
  type,
  email: "ann@example.net",
  sendId: 1000,
  providerEventId: `${type}-${at}`,
  timestamp: second(at),
  data: {},
  ...more,
});

const pendingUpdate = (item: SendWithEvents, events: QueuedEvent[], round: string): SendUpdate => ({
  send: item,
  isNew: false,
  round,
  provider: "postmark",
  providerMessageId: events.find(({ providerMessageId }) => providerMessageId)?.providerMessageId,
  events: events.map((queued) => toSendEvent(queued, { round })),
  countedEvents: [],
  counterChanges: {},
  overflow: [],
});

/** Plans rounds one by one. Returns the final send, its overflow events and all counters. */
function applied(runs: QueuedEvent[][], item = send()) {
  const overflow = new Map<string, OverflowEvent>();
  let counted: EventCounts = {};
  for (const [n, events] of runs.entries()) {
    const pending = pendingUpdate(item, events, `round${n}`);
    const planned = planUpdate(pending, new Set(), overflow);
    if (!planned) continue;
    item = { ...item, ...planned.changes };
    for (const write of planned.overflow) overflow.set(eventKey(write.event), write.event);
    counted = addCounters(counted, planned.counterChanges);
  }
  return { item, counted, overflow };
}

const state = ({ status, error, deliveredAt, openedAt, clickedAt }: SendWithEvents) => ({
  status,
  error,
  deliveredAt,
  openedAt: openedAt ?? undefined,
  clickedAt: clickedAt ?? undefined,
});

const someEvents = fc
  .uniqueArray(
    fc.record({
      type: fc.constantFrom(...eventTypes),
      at: fc.integer({ min: 0, max: 40 }),
      machine: fc.boolean(),
    }),
    {
      selector: ({ type, at }) => `${type}-${at}`,
      maxLength: 15,
    },
  )
  .map((all) =>
    all.map(({ type, at, machine }) => event(type, at, machine ? { automated: true } : {})),
  );

/** Status counters of a mail that was sent and then delivered. */
const arrived = { "at.sent": -1, "at.delivered": 1 };

describe("the events of a send", () => {
  test("lead to the same status and counters in any order and any split into runs", () => {
    const shuffledRuns = someEvents.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray(all, { minLength: all.length }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 15, maxLength: 15 }),
      ),
    );
    fc.assert(
      fc.property(shuffledRuns, ([all, shuffled, sizes]) => {
        const runs: QueuedEvent[][] = [];
        for (let i = 0, n = 0; i < shuffled.length; i += sizes[n++]!)
          runs.push(shuffled.slice(i, i + sizes[n]!));
        const together = applied([all]);
        const apart = applied(runs);
        expect(state(apart.item)).toEqual(state(together.item));
        expect(apart.counted).toEqual(together.counted);
      }),
      { numRuns: 500 },
    );
  });

  test("lead to the same status and counters when two have the same time", () => {
    const [soft, hard] = [
      event("bounce", 5, { data: { bounceType: "soft", reason: "later" } }),
      event("dropped", 5, { id: 1 }),
    ];
    const [one, other] = [applied([[soft], [hard]]), applied([[hard], [soft]])];
    expect(state(one.item)).toEqual(state(other.item));
    expect(one.counted).toEqual(other.counted);
  });

  test("are counted once when another message contains them again", () => {
    const all = [event("delivered", 1), event("open", 20), event("open", 30), event("click", 31)];
    const { counted, item } = applied([all, all, all.slice(1)]);
    expect(counted).toEqual({
      ...arrived,
      delivered: 1,
      opened: 2,
      uniqueOpened: 1,
      clicked: 1,
      uniqueClicked: 1,
    });
    expect(item.events).toHaveLength(4);
  });

  test("are taken over from an abandoned run together with its counter changes", () => {
    const events = [event("delivered", 1), event("open", 20)];
    const plan = (item: SendWithEvents, round: string, abandonedRuns = new Set<string>()) =>
      planUpdate(pendingUpdate(item, events, round), abandonedRuns, new Map());
    const first = plan(send(), "run1")!;
    const item = { ...send(), ...first.changes };
    const second = plan(item, "run2", new Set(["run1"]))!;
    expect(second.counterChanges).toEqual(first.counterChanges);
    expect(second.countedEvents.map(({ id }) => id)).toEqual(
      first.countedEvents.map(({ id }) => id),
    );
    expect(second.changes!.events!.every(({ round }) => round === "run2")).toBe(true);
    expect(plan(item, "run3")).toBeUndefined();
  });

  test("go to the overflow when there are many, and each is counted once", () => {
    const opens = Array.from({ length: 100 }, (_, i) => event("open", i + 20));
    const bounce = event("bounce", 500, { data: { bounceType: "hard", reason: "550" } });
    const { item, counted, overflow } = applied([
      [event("delivered", 1)],
      ...opens.map((one) => [one]),
      opens,
      [bounce],
    ]);
    const moves = { "at.sent": -1, "at.failed": 1, "reason.hard.other": 1 };
    expect(counted).toEqual({
      ...moves,
      delivered: 1,
      opened: 100,
      uniqueOpened: 1,
      bouncedHard: 1,
    });
    expect(item.events!.length).toBeLessThanOrEqual(21);
    expect(item.events!.length + overflow.size).toBe(102);
    expect(item).toMatchObject({ status: "failed", error: "550" });
  });
});

describe("a send with more than 20 events", () => {
  test("counts the first click of a person after many automated clicks", () => {
    const scans = Array.from({ length: 25 }, (_, i) =>
      event("click", 3, { providerEventId: `scan-${i}` }),
    );
    const { item, counted } = applied(
      [event("delivered", 1), ...scans, event("click", 900), event("click", 901)].map((one) => [
        one,
      ]),
    );
    expect(counted).toEqual({
      ...arrived,
      delivered: 1,
      clicked: 27,
      clickedByMachine: 25,
      uniqueClicked: 1,
    });
    expect(item.clickedAt).toBe(second(900));
  });

  test("takes its times from the earliest event of each type, in any order of arrival", () => {
    const opens = Array.from({ length: 60 }, (_, i) => event("open", i + 20));
    const forwards = applied([[event("delivered", 1)], ...opens.map((one) => [one])]);
    const shuffled = applied([
      [event("delivered", 1)],
      ...opens.slice(1).map((one) => [one]),
      [opens[0]!],
    ]);
    expect(state(shuffled.item)).toEqual(state(forwards.item));
    expect(shuffled.counted).toEqual(forwards.counted);
  });

  test.each(eventTypes)(
    "stores at most 40 events inside, even if 200 %s events arrive latest first",
    (type) => {
      const { item, counted, overflow } = applied(
        Array.from({ length: 200 }, (_, i) => [event(type, 1000 - i)]),
      );
      expect(item.events!.length).toBeLessThanOrEqual(40);
      expect(item.events!.length + overflow.size).toBe(200);
      expect(Object.values(counted).filter((n) => n > 200)).toEqual([]);
    },
  );
});

describe("the status of a send", () => {
  const after = (...events: QueuedEvent[]) => state(applied([events]).item);

  test("stays failed when a delivered event follows a bounce", () => {
    expect(
      after(
        event("bounce", 5, { data: { reason: "550 no such user", bounceType: "hard" } }),
        event("delivered", 9),
      ),
    ).toMatchObject({
      status: "failed",
      error: "550 no such user",
    });
  });

  test("is delivered after an open without a delivered event", () => {
    expect(after(event("open", 7))).toMatchObject({
      status: "delivered",
      deliveredAt: second(7),
      openedAt: second(7),
    });
  });

  test("changes from uncertain to sent after a deferral", () => {
    const { item } = applied([[event("deferred", 3)]], { ...send(), status: "uncertain" });
    expect(item.status).toBe("sent");
  });

  test("changes from uncertain to delivered, without error and with the provider's message id", () => {
    const lost = { ...send(), status: "uncertain" as const, error: "The worker died" };
    const { item } = applied([[event("delivered", 3, { providerMessageId: "pm-1" })]], lost);
    expect(item).toMatchObject({ status: "delivered", error: null, providerMessageId: "pm-1" });
  });
});

describe("automated events", () => {
  test("include a click within ten seconds of delivery, and no later click", () => {
    const entries = applied([[event("delivered", 1), event("click", 10), event("click", 11)]]).item
      .events!;
    expect(outcomeOf(entries, "sent").counts).toMatchObject({
      clicked: 2,
      clickedByMachine: 1,
      uniqueClicked: 1,
    });
  });

  test("include a click that arrived before the delivered event it follows by seconds", () => {
    const { counted } = applied([[event("click", 3)], [event("delivered", 1)]]);
    expect(counted).toEqual({ ...arrived, delivered: 1, clicked: 1, clickedByMachine: 1 });
  });

  test.each([
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36",
      false,
    ],
    [
      "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
      false,
    ],
    ["Mozilla/5.0 (Linux; Android 14; CUBOT KINGKONG 9) Chrome/131.0 Mobile Safari/537.36", false],
    ["Barracuda Sentinel (EE)", true],
    ["Mozilla/5.0", true],
    ["python-requests/2.31", true],
    ["Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", true],
  ])("the user agent %s is automated: %s", (userAgent, machine) => {
    expect(isDeclaredMachine({ data: { userAgent } })).toBe(machine);
  });

  test("include those that the provider reports as automated, with any user agent", () => {
    expect(
      isDeclaredMachine({ automated: true, data: { userAgent: "Mozilla/5.0 (Macintosh) Safari" } }),
    ).toBe(true);
  });
});
