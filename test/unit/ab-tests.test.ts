import { describe, expect, test } from "vitest";
import {
  findLook,
  pickCertainWinner,
  pickWinner,
} from "../../shared/domain/campaigns/engine/ab-test.ts";
import { checkBounceRates } from "../../shared/domain/campaigns/engine/bounce-alarm.ts";
import { assignPart, isHeldOut } from "../../shared/domain/campaigns/engine/broadcast-plan.ts";
import type { SourceTotals } from "../../shared/domain/sending/mail-sources.ts";
import {
  countHandedOver,
  isSettled,
  toMailingStats,
} from "../../shared/domain/sending/mailing-stats.ts";

const none: SourceTotals = {
  candidates: 0,
  accepted: 0,
  suppressed: 0,
  unsubscribed: 0,
  notInTopic: 0,
  snoozed: 0,
  capped: 0,
  duplicate: 0,
  invalid: 0,
  heldOut: 0,
  queued: 0,
  sending: 0,
  sent: 0,
  delivered: 0,
  failed: 0,
  uncertain: 0,
  cancelled: 0,
  events: {},
  conversions: {},
  releases: [],
};

describe("the part of a contact", () => {
  const parts = [
    { id: 1, weight: 30 },
    { id: 2, weight: 10 },
  ];
  const test50 = { testPercent: 20, metric: "open_rate" as const, durationMinutes: 60 };
  const shares = (key: { kind: "campaign"; id: number }, test?: typeof test50) => {
    const counts = new Map<number | undefined, number>();
    for (let contact = 1; contact <= 20_000; contact++) {
      const id = assignPart(key, { parts, ...(test && { test }) }, contact)?.id;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  };

  test("is assigned by the weights, and is the same each time", () => {
    const counts = shares({ kind: "campaign", id: 5 });
    expect(counts.get(1)! / counts.get(2)!).toBeCloseTo(3, 0);
    expect(counts.has(undefined)).toBe(false);
    expect(shares({ kind: "campaign", id: 5 })).toEqual(counts);
  });

  test("is none for the rest of a test, whatever the weights", () => {
    const counts = shares({ kind: "campaign", id: 6 }, test50);
    expect(counts.get(undefined)! / 20_000).toBeCloseTo(0.8, 1);
    expect(counts.get(1)! / counts.get(2)!).toBeCloseTo(3, 0);
  });

  test("differs between two campaigns with the same contacts", () => {
    const of = (id: number) =>
      Array.from(
        { length: 100 },
        (_, i) => assignPart({ kind: "campaign", id }, { parts }, i + 1)!.id,
      );
    expect(of(7)).not.toEqual(of(8));
  });
});

test("a hold-out group is drawn independently of the variants", () => {
  const parts = [
    { id: 1, weight: 50 },
    { id: 2, weight: 50 },
  ];
  const held = { holdOut: { campaignId: 5, percent: 10 } };
  const ids = Array.from({ length: 20_000 }, (_, i) => i + 1).filter((id) => isHeldOut(held, id));
  expect(ids.length / 20_000).toBeCloseTo(0.1, 2);
  const ofA = ids.filter(
    (id) => assignPart({ kind: "campaign", id: 5 }, { parts }, id)!.id === 1,
  ).length;
  expect(ofA / ids.length).toBeCloseTo(0.5, 1);
  const inOther = ids.filter((id) => isHeldOut({ holdOut: { campaignId: 6, percent: 10 } }, id));
  expect(inOther.length / ids.length).toBeCloseTo(0.1, 1);
  expect(isHeldOut({}, ids[0]!)).toBe(false);
});

describe("an alarm", () => {
  test("is raised by more than 5 % bounces or 0.3 % complaints, after five hundred", () => {
    expect(checkBounceRates({ handedOver: 499, bounced: 400, complained: 99 })).toBeUndefined();
    expect(checkBounceRates({ handedOver: 1000, bounced: 50, complained: 3 })).toBeUndefined();
    expect(checkBounceRates({ handedOver: 1000, bounced: 51, complained: 0 })).toMatch(
      /^5\.1 % of 1000 mails bounced, more than 5 %/,
    );
    expect(checkBounceRates({ handedOver: 1000, bounced: 0, complained: 4 })).toMatch(
      /^0\.4 % of 1000 mails were complained about/,
    );
  });

  test("counts from the last resume", () => {
    const from = { handedOver: 1000, bounced: 100, complained: 9 };
    expect(
      checkBounceRates({ handedOver: 1400, bounced: 140, complained: 9 }, from),
    ).toBeUndefined();
    expect(
      checkBounceRates({ handedOver: 1500, bounced: 120, complained: 9 }, from),
    ).toBeUndefined();
    expect(checkBounceRates({ handedOver: 1500, bounced: 130, complained: 9 }, from)).toMatch(
      /^6 % of 500 mails since it was resumed bounced/,
    );
  });
});

describe("a winner", () => {
  const parts = [
    { id: 1, weight: 50 },
    { id: 2, weight: 50 },
    { id: 3, weight: 60 },
  ];
  const rates = (...opened: number[]) =>
    new Map(
      opened.map((n, i) => [
        i + 1,
        { ...none, events: { delivered: 100, uniqueOpened: n, uniqueClicked: 100 - n } },
      ]),
    );

  test.each([
    [[30, 20, 10], 1, "best"],
    [[30, 30, 10], 1, "tie"],
    [[30, 20, 30], 3, "tie"],
    [[0, 0, 0], 3, "no_data"],
  ] as const)("of the open rates %j is %i (%s)", (opened, variantId, reason) => {
    expect(pickWinner(parts, rates(...opened), { metric: "open_rate" })).toMatchObject({
      variantId,
      reason,
    });
  });

  test("has the best rate of delivered mails in the given metric", () => {
    expect(pickWinner(parts, rates(30, 20, 10), { metric: "click_rate" }).variantId).toBe(3);
    const reached = rates(30, 20, 10).set(2, {
      ...none,
      events: { delivered: 10, uniqueOpened: 9, uniqueClicked: 0 },
    });
    expect(pickWinner(parts, reached, { metric: "open_rate" }).variantId).toBe(2);
    expect(pickWinner(parts, new Map(), { metric: "open_rate" })).toMatchObject({
      variantId: 3,
      reason: "no_data",
    });
  });
});

describe("an early end of a test", () => {
  const testedAt = "2027-03-01T09:00:00.000Z";
  const plan = { testPercent: 20, metric: "open_rate" as const, durationMinutes: 100 };
  const lookAt = (minutes: number, more: object = {}) =>
    findLook({ ...plan, ...more }, testedAt, new Date(Date.parse(testedAt) + minutes * 60_000));

  test("is decided at tenths of the time", () => {
    const stopEarly = { stopEarly: true };
    expect(lookAt(9, stopEarly)).toMatchObject({ look: 0, isLast: false });
    expect(lookAt(9, stopEarly).nextAt.toISOString()).toBe("2027-03-01T09:10:00.000Z");
    expect(lookAt(35, stopEarly)).toMatchObject({ look: 3, isLast: false });
    expect(lookAt(100, stopEarly)).toMatchObject({ look: 10, isLast: true });
    expect(lookAt(99).nextAt.toISOString()).toBe("2027-03-01T10:40:00.000Z");
    expect(lookAt(99)).toMatchObject({ look: 0, isLast: false });
    expect(lookAt(5000)).toMatchObject({ look: 1, isLast: true });
  });

  test("needs a winner that is certain", () => {
    const parts = [
      { id: 1, weight: 50 },
      { id: 2, weight: 50 },
    ];
    const rates = (...opened: number[]) =>
      new Map(
        opened.map((uniqueOpened, i) => [
          i + 1,
          { ...none, events: { delivered: 1000, uniqueOpened } },
        ]),
      );
    const early = { metric: "open_rate" as const, stopEarly: true };
    expect(pickCertainWinner(parts, rates(250, 200), early)).toBeUndefined();
    expect(pickCertainWinner(parts, rates(270, 200), early)).toMatchObject({
      variantId: 1,
      decidedEarly: true,
      certainty: expect.closeTo(0.998, 2),
    });
    expect(pickWinner(parts, rates(250, 200), { metric: "open_rate" })).toMatchObject({
      decidedEarly: false,
      certainty: expect.closeTo(0.991, 2),
    });
    expect(pickWinner(parts, rates(250, 250), { metric: "open_rate" }).certainty).toBe(0);
  });

  test("can be decided by conversions", () => {
    const parts = [
      { id: 1, weight: 50 },
      { id: 2, weight: 50 },
    ];
    const numbers = new Map(
      [10, 60].map((contacts, i) => [
        i + 1,
        { ...none, events: { delivered: 1000, uniqueOpened: 900 }, conversions: { contacts } },
      ]),
    );
    expect(pickWinner(parts, numbers, { metric: "conversion_rate" })).toMatchObject({
      variantId: 2,
      results: [
        { conversions: 10, rate: 0.01 },
        { conversions: 60, rate: 0.06 },
      ],
    });
  });
});

test("dropped and bounced mails count as handed over", () => {
  const events = { bouncedHard: 1, bouncedSoft: 2, dropped: 5 };
  expect(countHandedOver({ ...none, accepted: 500, delivered: 489, failed: 11, events })).toBe(497);
});

test("refused mails do not count as handed over", () => {
  const numbers = {
    ...none,
    accepted: 10,
    sent: 3,
    delivered: 4,
    failed: 3,
    events: { delivered: 5, bouncedHard: 1, bouncedSoft: 1, opened: 9, uniqueOpened: 2 },
  };
  expect(countHandedOver(numbers)).toBe(9);
  expect(isSettled(numbers)).toBe(true);
  expect(toMailingStats(numbers)).toMatchObject({
    recipients: 10,
    sent: 9,
    delivered: 5,
    bounced: 2,
    failed: 3,
    opened: 2,
    openedTotal: 9,
    openRate: 0.4,
    clickRate: 0,
  });
});
