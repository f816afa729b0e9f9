import { describe, expect, test } from "vitest";
import { compareMetrics, toMetrics } from "../../shared/domain/analytics/mail-metrics.ts";
import { mailboxProviderOf } from "../../shared/domain/analytics/mailbox-providers.ts";
import {
  chartIntervals,
  periodEndingOn,
  splitByInterval,
} from "../../shared/domain/analytics/periods.ts";
import * as times from "../../shared/domain/analytics/report-dates.ts";
import {
  type ReputationScore,
  rankBounceReasons,
  rateReputation,
} from "../../shared/domain/analytics/reputation.ts";
import {
  growthChanges,
  growthSince,
} from "../../shared/domain/audience/contacts/contact-growth.ts";
import {
  bounceCounterOf,
  bounceReasons,
  classifyBounce,
} from "../../shared/domain/sending/bounce-reasons.ts";
import {
  addDays,
  addMonths,
  countDays,
  listDates,
  rangeBefore,
} from "../../shared/kernel/calendar-dates.ts";
import { formatPercent } from "../../shared/kernel/rates.ts";
import { type CounterTotals, toShownParts } from "../../shared/kernel/sharded-counters.ts";
import { dateIn } from "../../shared/kernel/time-zones.ts";
import fc from "../support/fast-check.ts";

describe("a period", () => {
  test("ends today, and the previous period ends the day before its first day", () => {
    expect(periodEndingOn("7d", "2026-11-21")).toEqual({ from: "2026-11-15", to: "2026-11-21" });
    expect(rangeBefore(periodEndingOn("7d", "2026-11-21"))).toEqual({
      from: "2026-11-08",
      to: "2026-11-14",
    });
    expect(countDays(periodEndingOn("90d", "2026-03-01"))).toBe(90);
  });

  test("splits into intervals that cover each of its days once", () => {
    const day = fc.date({
      min: new Date("2020-01-01"),
      max: new Date("2032-12-31"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(
        day,
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(...chartIntervals),
        (from, days, interval) => {
          const first = from.toISOString().slice(0, 10);
          const span = { from: first, to: addDays(first, days - 1) };
          expect(splitByInterval(span, interval).flatMap(listDates)).toEqual(listDates(span));
        },
      ),
    );
  });

  test("splits at Mondays or at the first of the month", () => {
    const span = { from: "2026-11-19", to: "2026-12-02" };
    expect(splitByInterval(span, "week")).toEqual([
      { from: "2026-11-19", to: "2026-11-22" },
      { from: "2026-11-23", to: "2026-11-29" },
      { from: "2026-11-30", to: "2026-12-02" },
    ]);
    expect(splitByInterval(span, "month")).toEqual([
      { from: "2026-11-19", to: "2026-11-30" },
      { from: "2026-12-01", to: "2026-12-02" },
    ]);
  });

  test("handles short months and the turn of the year", () => {
    expect(addMonths("2026-12-31", 1)).toBe("2027-01-01");
    expect(addMonths("2026-01-31", -1)).toBe("2025-12-01");
  });
});

describe("a day", () => {
  test("is a day in the organization's time zone", () => {
    const at = new Date("2026-11-21T23:30:00Z");
    expect(
      ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago"].map((zone) =>
        dateIn(zone, at),
      ),
    ).toEqual(["2026-11-21", "2026-11-22", "2026-11-22", "2026-11-21"]);
  });
});

describe("metrics", () => {
  test("count recovered mails as sent; rates are between 0 and 1", () => {
    const metrics = toMetrics({
      sent: 8,
      uncertain: 3,
      recovered: 2,
      delivered: 20,
      uniqueOpened: 5,
      opened: 9,
      openedByMachine: 4,
    });
    expect(metrics).toMatchObject({
      sent: 10,
      uncertain: 1,
      deliveryRate: 1,
      openRate: 0.25,
      opens: { total: 9, automated: 4 },
    });
    expect(toMetrics({})).toMatchObject({ sent: 0, openRate: 0, bounceRate: 0 });
  });

  test("of a day on which an event corrects an earlier day are balanced and not negative", () => {
    // A bounce was counted yesterday. Today the provider reports that it dropped the mail before.
    expect(toMetrics({ bouncedHard: -1, dropped: 1 })).toMatchObject({ bounced: 0, failed: 0 });
    // A hard bounce was counted yesterday, and an earlier soft bounce is reported today.
    expect(toMetrics({ bouncedHard: -1, bouncedSoft: 1 })).toMatchObject({ bounced: 0, failed: 0 });
  });

  test("of parts add up to the sum of the parts, and none is negative", () => {
    expect(toShownParts({ hard: 3, soft: 2, block: 1 })).toEqual({ hard: 3, soft: 2, block: 1 });
    expect(toShownParts({ hard: -1, soft: 2, block: 1 })).toEqual({ hard: 0, soft: 1, block: 1 });
    expect(toShownParts({ hard: 1, soft: -3, block: 1 })).toEqual({ hard: 0, soft: 0, block: 0 });
  });

  test("are sums of counters, and rates are shares of sent or delivered mails", () => {
    const sum = {
      sent: 1000,
      delivered: 500,
      bouncedHard: 30,
      bouncedSoft: 20,
      failed: 7,
      dropped: 4,
      complained: 5,
      unsubscribed: 10,
    };
    expect(
      toMetrics({
        ...sum,
        deferred: 3,
        uniqueOpened: 100,
        uniqueClicked: 50,
        clicked: 60,
        clickedByMachine: 9,
      }),
    ).toMatchObject({
      ...{
        sent: 1000,
        delivered: 500,
        opened: 100,
        clicked: 50,
        bounced: 50,
        failed: 61,
        complained: 5,
        unsubscribed: 10,
        deferred: 3,
      },
      ...{
        deliveryRate: 0.5,
        openRate: 0.2,
        clickRate: 0.1,
        bounceRate: 0.05,
        complaintRate: 0.01,
        unsubscribeRate: 0.02,
      },
      clicks: { total: 60, automated: 9 },
    });
    expect([0.0034, 0.0099, 0.01, 0.0123, -0.0034, 0.999].map(formatPercent)).toEqual([
      "0.34 %",
      "0.99 %",
      "1 %",
      "1.2 %",
      "-0.34 %",
      "99.9 %",
    ]);
  });

  test("changes are relative for numbers, differences for rates, and null without a previous value", () => {
    const [before, now] = [
      toMetrics({ sent: 100, delivered: 100, uniqueOpened: 20 }),
      toMetrics({ sent: 125, delivered: 100, clicked: 1 }),
    ];
    expect(compareMetrics(now, before)).toMatchObject({
      sent: 0.25,
      opened: -1,
      openRate: -0.2,
      bounced: null,
    });
    expect(compareMetrics(now, toMetrics({ sent: 3 }))).toMatchObject({
      bounceRate: 0,
      openRate: null,
    });
  });
});

describe("a reputation", () => {
  test.each<[bounced: number, complained: number, score: ReputationScore]>([
    [0, 0, "excellent"],
    [199, 4, "excellent"],
    [200, 0, "good"],
    [0, 5, "good"],
    [499, 9, "good"],
    [500, 0, "fair"],
    [0, 10, "fair"],
    [999, 49, "fair"],
    [1000, 0, "poor"],
    [0, 50, "poor"],
  ])("of %d bounces and %d complaints in 10,000 mails is %s", (bouncedHard, complained, score) => {
    const reputation = rateReputation({
      sent: 10_000,
      delivered: 10_000,
      bouncedHard,
      complained,
      uniqueOpened: 3000,
    });
    expect(reputation.score).toBe(score);
    expect(reputation.factors.every((text) => text.endsWith("."))).toBe(true);
  });

  test("names the worst factor first, and says when there are too few mails", () => {
    const poor = rateReputation({
      sent: 1000,
      delivered: 800,
      bouncedHard: 150,
      "reason.hard.blocked": 150,
      complained: 1,
      uniqueOpened: 100,
    });
    expect(poor.factors[0]).toMatch(/^15 % of the mails bounced \(150\)/);
    expect(poor.factors.join(" ")).toContain("blocklist");
    expect(rateReputation({ sent: 1, delivered: 1 }).factors.join(" ")).toContain(
      "Only 1 mail was sent",
    );
    expect(rateReputation({ delivered: 1 }).factors.join(" ")).toContain("Only 0 mails were sent");
    expect(rateReputation({})).toMatchObject({
      score: "unknown",
      factors: ["Nothing was sent in this period, so there is nothing to judge."],
    });
  });

  test("is unknown while no provider has reported anything", () => {
    const silent = rateReputation({ sent: 82 });
    expect(silent.score).toBe("unknown");
    expect(silent.factors.join(" ")).toContain("check that its webhook is set up");
    expect(rateReputation({ sent: 82, bouncedHard: 2 }).score).toBe("good");
    expect(rateReputation({ sent: 82, deferred: 1 }).score).toBe("excellent");
  });
});

test.each<[text: string, sent: number, isNamed: boolean, sum: CounterTotals]>([
  ["known to have arrived", 100, true, { delivered: 89 }],
  ["known to have arrived", 100, false, { delivered: 90 }],
  ["known to have arrived", 99, false, { delivered: 10 }],
  ["known to have arrived", 100, false, { delivered: 89, bouncedHard: 5 }],
  ["opened by people", 100, true, { delivered: 100, uniqueOpened: 4 }],
  ["opened by people", 100, false, { delivered: 100, uniqueOpened: 5 }],
  ["opened by people", 100, false, { delivered: 99, uniqueOpened: 0 }],
  ["mailbox is full", 100, true, { delivered: 98, bouncedSoft: 2, "reason.soft.mailbox_full": 2 }],
  ["mailbox is full", 100, false, { delivered: 99, bouncedSoft: 1, "reason.soft.mailbox_full": 1 }],
])("the factors mention '%s' (%i sent): %s", (text, sent, isNamed, sum) => {
  expect(
    rateReputation({ uniqueOpened: 90, ...sum, sent })
      .factors.join(" ")
      .includes(text),
  ).toBe(isNamed);
});

test("bounce reasons are ranked by frequency, hard and soft together", () => {
  const reasons = {
    "reason.soft.mailbox_full": 3,
    "reason.hard.unknown_mailbox": 2,
    "reason.soft.unknown_mailbox": 2,
  };
  expect(rankBounceReasons(reasons)).toEqual([
    ["unknown_mailbox", 4],
    ["mailbox_full", 3],
  ]);
});

test("contact growth counts from the first day; days before the longest period are removed", () => {
  expect(
    growthSince({ count: 9, d261114: 1, d261115: 2, d261116: 4, duesk: 8 }, "2026-11-15"),
  ).toBe(6);
  const { add, remove } = growthChanges("2026-11-21", 2);
  expect(add).toEqual({ count: 2, d261121: 2 });
  // The days from 122 to 92 days ago.
  expect([remove.length, remove[0], remove.at(-1)]).toEqual([31, "d260821", "d260722"]);
});

describe("a bounce", () => {
  test.each([
    ["550 5.1.1 The email account that you tried to reach does not exist", "unknown_mailbox"],
    [
      "550 5.1.1 <x@y.z>: Recipient address rejected: User unknown in virtual mailbox table",
      "unknown_mailbox",
    ],
    ["smtp; 550 No such user here", "unknown_mailbox"],
    ["550 5.4.1 Recipient address rejected: Access denied", "unknown_mailbox"],
    ["550 5.4.310 DNS domain does not exist", "unknown_domain"],
    ["452 4.2.2 The recipient's inbox is over quota", "mailbox_full"],
    ["552 Mailbox full", "mailbox_full"],
    ["550 5.7.1 Message rejected as spam by Content Filtering", "blocked"],
    [
      "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation",
      "blocked",
    ],
    ["550 5.7.1 Service unavailable; Client host [1.2.3.4] blocked using Spamhaus", "blocked"],
    ["550 5.7.26 This mail is unauthenticated", "authentication"],
    ["550 rejected by DMARC policy of example.com", "authentication"],
    ["552 5.3.4 Message size exceeds fixed limit", "too_large"],
    ["550 5.4.4 Host or domain name not found", "unknown_domain"],
    ["550 5.2.1 The email account is disabled", "inactive_mailbox"],
    ["451 4.7.1 Greylisted, please try again later", "temporary"],
    ["421 Too many connections, try again later", "temporary"],
    ["smtp; 4.4.1 connection timed out", "temporary"],
    ["550", "other"],
    [undefined, "other"],
  ])("with the text '%s' has the reason %s", (text, reason) => {
    expect(classifyBounce(text)).toBe(reason);
  });

  test("with any text gets one of the known reasons, quickly", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) =>
        bounceReasons.includes(classifyBounce(text)),
      ),
    );
    expect(bounceCounterOf("hard", "x ".repeat(500_000))).toBe("reason.hard.other");
    expect(bounceCounterOf(undefined, "552 mailbox full")).toBe("reason.soft.mailbox_full");
  });
});

test.each([
  ["gmail.com", "Gmail"],
  ["googlemail.com", "Gmail"],
  ["hotmail.co.uk", "Outlook"],
  ["outlook.de", "Outlook"],
  ["yahoo.co.jp", "Yahoo"],
  ["ymail.com", "Yahoo"],
  ["icloud.com", "Apple"],
  ["me.com", "Apple"],
  ["web.de", "WEB.DE"],
  ["shop.example", "Other"],
  ["notgmail.com", "Other"],
  ["gmail.com.evil.example", "Other"],
])("%s belongs to %s", (domain, group) => {
  expect(mailboxProviderOf(domain)).toBe(group);
});

describe("a report", () => {
  const at = (date: string, zone: string) => times.mailingTime(date, zone).toISOString();

  test("is mailed at 7:00 in the organization's time zone, in summer and winter", () => {
    expect(at("2026-07-01", "Europe/Berlin")).toBe("2026-07-01T05:00:00.000Z");
    expect(at("2026-12-01", "Europe/Berlin")).toBe("2026-12-01T06:00:00.000Z");
    // The nights in which the clocks change.
    expect(at("2026-03-29", "Europe/Berlin")).toBe("2026-03-29T05:00:00.000Z");
    expect(at("2026-10-25", "Europe/Berlin")).toBe("2026-10-25T06:00:00.000Z");
    expect(at("2026-11-01", "America/New_York")).toBe("2026-11-01T12:00:00.000Z");
    expect(at("2026-11-21", "Asia/Kathmandu")).toBe("2026-11-21T01:15:00.000Z");
  });

  test("covers the previous day, week or month", () => {
    expect(times.reportedRange.daily("2026-03-01")).toEqual({
      from: "2026-02-28",
      to: "2026-02-28",
    });
    expect(times.reportedRange.weekly("2026-11-23")).toEqual({
      from: "2026-11-16",
      to: "2026-11-22",
    });
    expect(times.reportedRange.monthly("2026-03-01")).toEqual({
      from: "2026-02-01",
      to: "2026-02-28",
    });
    expect(times.comparedRange.monthly(times.reportedRange.monthly("2026-03-01"))).toEqual({
      from: "2026-01-01",
      to: "2026-01-31",
    });
    expect(times.comparedRange.weekly(times.reportedRange.weekly("2026-11-23"))).toEqual({
      from: "2026-11-09",
      to: "2026-11-15",
    });
  });

  test("is first mailed on its next due morning", () => {
    const [early, late] = [new Date("2026-11-23T06:59:59Z"), new Date("2026-11-23T07:00:00Z")];
    expect(
      [early, late].map((when) =>
        times.firstDueDate({ frequency: "daily", timezone: "UTC" }, when),
      ),
    ).toEqual(["2026-11-23", "2026-11-24"]);
    expect(
      [early, late].map((when) =>
        times.firstDueDate({ frequency: "weekly", timezone: "UTC" }, when),
      ),
    ).toEqual(["2026-11-23", "2026-11-30"]);
    expect(times.firstDueDate({ frequency: "monthly", timezone: "UTC" }, early)).toBe("2026-12-01");
    expect(times.firstDueDate({ frequency: "daily", timezone: "UTC" }, early, "2026-11-23")).toBe(
      "2026-11-24",
    );
  });

  test("is mailed once after an outage, for the latest due date", () => {
    const [early, at] = [new Date("2026-11-21T06:00:00Z"), new Date("2026-11-21T08:00:00Z")];
    expect(times.nextDueDate({ frequency: "daily", timezone: "UTC" }, "2026-11-18", at)).toBe(
      "2026-11-21",
    );
    expect(times.nextDueDate({ frequency: "daily", timezone: "UTC" }, "2026-11-18", early)).toBe(
      "2026-11-20",
    );
    expect(times.nextDueDate({ frequency: "daily", timezone: "UTC" }, "2026-11-21", at)).toBe(
      "2026-11-22",
    );
    expect(times.nextDueDate({ frequency: "weekly", timezone: "UTC" }, "2026-10-05", at)).toBe(
      "2026-11-16",
    );
    expect(times.nextDueDate({ frequency: "monthly", timezone: "UTC" }, "2026-10-01", at)).toBe(
      "2026-11-01",
    );
  });

  test("covers every day exactly once in any time zone", () => {
    const zones = [
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Pacific/Kiritimati",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...times.reportFrequencies),
        fc.constantFrom(...zones),
        (frequency, zone) => {
          const timing = { frequency, timezone: zone };
          let date = times.firstDueDate(timing, new Date("2026-01-15T12:00:00Z"));
          for (let n = 0; n < 60; n++) {
            const next = times.nextDueDate(timing, date, times.mailingTime(date, zone));
            expect(times.reportedRange[frequency](next).from).toBe(
              addDays(times.reportedRange[frequency](date).to, 1),
            );
            date = next;
          }
        },
      ),
    );
  });
});
