import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { added, type Counts, isMachine, outcomeOf } from "../../shared/domain/events/timeline.ts";
import { type Arrival, decide, type FurtherEntry, nameOf, type TimelineItem } from "../../shared/domain/events/timeline-item.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound.ts";
import type { InboundEvent } from "../../shared/queues.ts";

const send = (): TimelineItem => ({
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

const event = (type: InboundEvent["type"], at: number, more: Partial<InboundEvent> = {}): InboundEvent => ({
  id: at + 1,
  type,
  email: "ann@example.net",
  sendId: 1000,
  providerEventId: `${type}-${at}`,
  timestamp: second(at),
  data: {},
  ...more,
});

/** Runs one after the other, as they would be written; answers the send and the sum of what was counted. */
function applied(runs: InboundEvent[][], item = send(), lost = new Set<string>()) {
  const beside = new Map<string, FurtherEntry>();
  let counted: Counts = {};
  for (const [n, events] of runs.entries()) {
    const arrivals = events.map((one): Arrival => ({ event: one, by: `m${n}`, provider: "postmark" }));
    const decision = decide(item, arrivals, `run${n}`, lost, beside);
    if (!decision) continue;
    item = { ...item, ...decision.set };
    for (const { entry } of decision.further) beside.set(nameOf(entry), entry);
    counted = added(counted, decision.delta);
  }
  return { item, counted, beside };
}

const state = ({ status, error, deliveredAt, openedAt, clickedAt }: TimelineItem) => ({
  status,
  error,
  deliveredAt,
  openedAt: openedAt ?? undefined,
  clickedAt: clickedAt ?? undefined,
});

const someEvents = fc
  .uniqueArray(fc.record({ type: fc.constantFrom(...eventTypes), at: fc.integer({ min: 0, max: 40 }), machine: fc.boolean() }), {
    selector: ({ type, at }) => `${type}-${at}`,
    maxLength: 15,
  })
  .map((all) => all.map(({ type, at, machine }) => event(type, at, machine ? { automated: true } : {})));

/** Where a mail stands that was sent, and is delivered. */
const arrived = { "at.sent": -1, "at.delivered": 1 };

describe("events of a send", () => {
  test("end in the same state and the same counts, whatever their order and the runs that bring them", () => {
    const shuffledRuns = someEvents.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray(all, { minLength: all.length }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 15, maxLength: 15 }),
      ),
    );
    fc.assert(
      fc.property(shuffledRuns, ([all, shuffled, sizes]) => {
        const runs: InboundEvent[][] = [];
        for (let i = 0, n = 0; i < shuffled.length; i += sizes[n++]!) runs.push(shuffled.slice(i, i + sizes[n]!));
        const together = applied([all]);
        const apart = applied(runs);
        expect(state(apart.item)).toEqual(state(together.item));
        expect(apart.counted).toEqual(together.counted);
      }),
      { numRuns: 500 },
    );
  });

  test("of one and the same second end the same too", () => {
    const [soft, hard] = [event("bounce", 5, { data: { bounceType: "soft", reason: "later" } }), event("dropped", 5, { id: 1 })];
    const [one, other] = [applied([[soft], [hard]]), applied([[hard], [soft]])];
    expect(state(one.item)).toEqual(state(other.item));
    expect(one.counted).toEqual(other.counted);
  });

  test("are counted once when they come again with another message", () => {
    const all = [event("delivered", 1), event("open", 20), event("open", 30), event("click", 31)];
    const { counted, item } = applied([all, all, all.slice(1)]);
    expect(counted).toEqual({ ...arrived, delivered: 1, opened: 2, uniqueOpened: 1, clicked: 1, uniqueClicked: 1 });
    expect(item.events).toHaveLength(4);
  });

  test("of a run that died are taken over with what it had still to count", () => {
    const arrivals = [event("delivered", 1), event("open", 20)].map((one): Arrival => ({ event: one, by: "m", provider: "postmark" }));
    const first = decide(send(), arrivals, "run1", new Set(), new Map())!;
    const item = { ...send(), ...first.set };
    const again = decide(item, arrivals, "run2", new Set(["run1"]), new Map())!;
    expect(again.delta).toEqual(first.delta);
    expect(again.counted.map(({ id }) => id)).toEqual(first.counted.map(({ id }) => id));
    expect(again.set!.events!.every(({ run }) => run === "run2")).toBe(true);
    expect(decide(item, arrivals, "run3", new Set(), new Map())).toBeUndefined();
  });

  test("stand beside the send when there are many, and are still each counted once", () => {
    const opens = Array.from({ length: 100 }, (_, i) => event("open", i + 20));
    const bounce = event("bounce", 500, { data: { bounceType: "hard", reason: "550" } });
    const { item, counted, beside } = applied([[event("delivered", 1)], ...opens.map((one) => [one]), opens, [bounce]]);
    const moves = { "at.sent": -1, "at.failed": 1, "reason.hard.other": 1 };
    expect(counted).toEqual({ ...moves, delivered: 1, opened: 100, uniqueOpened: 1, bouncedHard: 1 });
    expect(item.events!.length).toBeLessThanOrEqual(21);
    expect(item.events!.length + beside.size).toBe(102);
    expect(item).toMatchObject({ status: "failed", error: "550" });
  });
});

describe("a send with more events than it holds", () => {
  test("still counts the first person among machines, whose clicks came before", () => {
    const scans = Array.from({ length: 25 }, (_, i) => event("click", 3, { providerEventId: `scan-${i}` }));
    const { item, counted } = applied([event("delivered", 1), ...scans, event("click", 900), event("click", 901)].map((one) => [one]));
    expect(counted).toEqual({ ...arrived, delivered: 1, clicked: 27, clickedByMachine: 25, uniqueClicked: 1 });
    expect(item.clickedAt).toBe(second(900));
  });

  test("is told by the earliest of each kind, whichever comes first", () => {
    const opens = Array.from({ length: 60 }, (_, i) => event("open", i + 20));
    const forwards = applied([[event("delivered", 1)], ...opens.map((one) => [one])]);
    const shuffled = applied([[event("delivered", 1)], ...opens.slice(1).map((one) => [one]), [opens[0]!]]);
    expect(state(shuffled.item)).toEqual(state(forwards.item));
    expect(shuffled.counted).toEqual(forwards.counted);
  });

  test.each(eventTypes)("stays within its bounds however often it hears of %s, even backwards in time", (type) => {
    const { item, counted, beside } = applied(Array.from({ length: 200 }, (_, i) => [event(type, 1000 - i)]));
    expect(item.events!.length).toBeLessThanOrEqual(40);
    expect(item.events!.length + beside.size).toBe(200);
    expect(Object.values(counted).filter((n) => n > 200)).toEqual([]);
  });
});

describe("the state of a send", () => {
  const after = (...events: InboundEvent[]) => state(applied([events]).item);

  test("a delivered that comes after a bounce does not undo it", () => {
    expect(after(event("bounce", 5, { data: { reason: "550 no such user", bounceType: "hard" } }), event("delivered", 9))).toMatchObject({
      status: "failed",
      error: "550 no such user",
    });
  });

  test("an open before any delivered implies it", () => {
    expect(after(event("open", 7))).toMatchObject({ status: "delivered", deliveredAt: second(7), openedAt: second(7) });
  });

  test("a deferral settles what was uncertain: the provider has it", () => {
    const { item } = applied([[event("deferred", 3)]], { ...send(), status: "uncertain" });
    expect(item.status).toBe("sent");
  });

  test("what was thought of its hand-over goes, and the provider's id for it comes", () => {
    const lost = { ...send(), status: "uncertain" as const, error: "The worker died" };
    const { item } = applied([[event("delivered", 3, { providerMessageId: "pm-1" })]], lost);
    expect(item).toMatchObject({ status: "delivered", error: null, providerMessageId: "pm-1" });
  });
});

describe("machines", () => {
  test("a click within ten seconds of delivery is a scanner's, one later a person's", () => {
    const entries = applied([[event("delivered", 1), event("click", 10), event("click", 11)]]).item.events!;
    expect(outcomeOf(entries, "sent").counts).toMatchObject({ clicked: 2, clickedByMachine: 1, uniqueClicked: 1 });
  });

  test("a click that came before its delivered is put right when that arrives", () => {
    const { counted } = applied([[event("click", 3)], [event("delivered", 1)]]);
    expect(counted).toEqual({ ...arrived, delivered: 1, clicked: 1, clickedByMachine: 1 });
  });

  test.each([
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36", false],
    ["Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", false],
    ["Barracuda Sentinel (EE)", true],
    ["Mozilla/5.0", true],
    ["python-requests/2.31", true],
    ["Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", true],
  ])("%s is a machine: %s", (userAgent, machine) => {
    expect(isMachine({ data: { userAgent } })).toBe(machine);
  });

  test("what the provider calls automated is, whatever its user agent", () => {
    expect(isMachine({ automated: true, data: { userAgent: "Mozilla/5.0 (Macintosh) Safari" } })).toBe(true);
  });
});
