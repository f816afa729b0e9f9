import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growing, grownSince } from "../../shared/domain/contacts/growth.ts";
import { bounceReasons, counterOf, reasonOf } from "../../shared/domain/insight/bounce-reasons.ts";
import { changeOf, figuresOf, percent } from "../../shared/domain/insight/figures.ts";
import { groupOf } from "../../shared/domain/insight/receivers.ts";
import { reasonsOf, reputationOf, type Score } from "../../shared/domain/insight/reputation.ts";
import { datesOf, intervals, lengthOf, monthsLater, piecesOf, previousOf, shifted, spanOf } from "../../shared/domain/insight/spans.ts";
import type { Sum } from "../../shared/domain/insight/sums.ts";
import { dayIn } from "../../shared/domain/organizations.ts";
import * as times from "../../shared/domain/reports/times.ts";

describe("a period", () => {
  test("ends today, and the one before it ends the day before it begins", () => {
    expect(spanOf("7d", "2026-11-21")).toEqual({ from: "2026-11-15", to: "2026-11-21" });
    expect(previousOf(spanOf("7d", "2026-11-21"))).toEqual({ from: "2026-11-08", to: "2026-11-14" });
    expect(lengthOf(spanOf("90d", "2026-03-01"))).toBe(90);
  });

  test("falls into pieces that together are all of its days, each once", () => {
    const day = fc.date({ min: new Date("2020-01-01"), max: new Date("2032-12-31"), noInvalidDate: true });
    fc.assert(
      fc.property(day, fc.integer({ min: 1, max: 200 }), fc.constantFrom(...intervals), (from, days, interval) => {
        const first = from.toISOString().slice(0, 10);
        const span = { from: first, to: shifted(first, days - 1) };
        expect(piecesOf(span, interval).flatMap(datesOf)).toEqual(datesOf(span));
      }),
    );
  });

  test("by week begins on Mondays, by month on the first, but for where the period begins", () => {
    const span = { from: "2026-11-19", to: "2026-12-02" };
    expect(piecesOf(span, "week")).toEqual([
      { from: "2026-11-19", to: "2026-11-22" },
      { from: "2026-11-23", to: "2026-11-29" },
      { from: "2026-11-30", to: "2026-12-02" },
    ]);
    expect(piecesOf(span, "month")).toEqual([
      { from: "2026-11-19", to: "2026-11-30" },
      { from: "2026-12-01", to: "2026-12-02" },
    ]);
  });

  test("of months knows short ones and the turn of the year", () => {
    expect(monthsLater("2026-12-31", 1)).toBe("2027-01-01");
    expect(monthsLater("2026-01-31", -1)).toBe("2025-12-01");
  });
});

describe("a day", () => {
  test("is the organization's", () => {
    const at = new Date("2026-11-21T23:30:00Z");
    expect(["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago"].map((zone) => dayIn(zone, at))).toEqual([
      "2026-11-21",
      "2026-11-22",
      "2026-11-22",
      "2026-11-21",
    ]);
  });
});

describe("figures", () => {
  test("what was uncertain and then heard of is sent; rates are at most 1, and 0 where nothing is", () => {
    const figures = figuresOf({ sent: 8, uncertain: 3, recovered: 2, delivered: 20, uniqueOpened: 5, opened: 9, openedByMachine: 4 });
    expect(figures).toMatchObject({ sent: 10, uncertain: 1, deliveryRate: 1, openRate: 0.25, opens: { total: 9, automated: 4 } });
    expect(figuresOf({})).toMatchObject({ sent: 0, openRate: 0, bounceRate: 0 });
  });

  test("each is a sum of its counters and a share of its whole", () => {
    const sum = { sent: 1000, delivered: 500, bouncedHard: 30, bouncedSoft: 20, failed: 7, dropped: 4, complained: 5, unsubscribed: 10 };
    expect(figuresOf({ ...sum, deferred: 3, uniqueOpened: 100, uniqueClicked: 50, clicked: 60, clickedByMachine: 9 })).toMatchObject({
      ...{ sent: 1000, delivered: 500, opened: 100, clicked: 50, bounced: 50, failed: 11, complained: 5, unsubscribed: 10, deferred: 3 },
      ...{ deliveryRate: 0.5, openRate: 0.2, clickRate: 0.1, bounceRate: 0.05, complaintRate: 0.01, unsubscribeRate: 0.02 },
      clicks: { total: 60, automated: 9 },
    });
    expect([0.0034, 0.0099, 0.01, 0.0123, -0.0034, 0.999].map(percent)).toEqual(["0.34 %", "0.99 %", "1 %", "1.2 %", "-0.34 %", "99.9 %"]);
  });

  test("change against before: parts of numbers, differences of rates, null from nothing", () => {
    const [before, now] = [
      figuresOf({ sent: 100, delivered: 100, uniqueOpened: 20 }),
      figuresOf({ sent: 125, delivered: 100, clicked: 1 }),
    ];
    expect(changeOf(now, before)).toMatchObject({ sent: 0.25, opened: -1, openRate: -0.2, bounced: null });
    expect(changeOf(now, figuresOf({ sent: 3 }))).toMatchObject({ bounceRate: 0, openRate: null });
  });
});

describe("a reputation", () => {
  test.each<[bounced: number, complained: number, score: Score]>([
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
    const reputation = reputationOf({ sent: 10_000, delivered: 10_000, bouncedHard, complained, uniqueOpened: 3000 });
    expect(reputation.score).toBe(score);
    expect(reputation.factors.every((text) => text.endsWith("."))).toBe(true);
  });

  test("names what is grave first, and says when there is little to judge", () => {
    const grave = reputationOf({
      sent: 1000,
      delivered: 800,
      bouncedHard: 150,
      "reason.hard.blocked": 150,
      complained: 1,
      uniqueOpened: 100,
    });
    expect(grave.factors[0]).toMatch(/^15 % of the mails bounced \(150\)/);
    expect(grave.factors.join(" ")).toContain("blocklist");
    expect(reputationOf({ sent: 1, delivered: 1 }).factors.join(" ")).toContain("Only 1 mail was sent");
    expect(reputationOf({ delivered: 1 }).factors.join(" ")).toContain("Only 0 mails were sent");
    expect(reputationOf({}).factors).toEqual(["Nothing was sent in this period, so there is nothing to judge."]);
  });
});

test.each<[text: string, of: number, told: boolean, sum: Sum]>([
  ["known to have arrived", 100, true, { delivered: 89 }],
  ["known to have arrived", 100, false, { delivered: 90 }],
  ["known to have arrived", 99, false, { delivered: 10 }],
  ["known to have arrived", 100, false, { delivered: 89, bouncedHard: 5 }],
  ["opened by people", 100, true, { delivered: 100, uniqueOpened: 4 }],
  ["opened by people", 100, false, { delivered: 100, uniqueOpened: 5 }],
  ["opened by people", 100, false, { delivered: 99, uniqueOpened: 0 }],
  ["mailbox is full", 100, true, { delivered: 98, bouncedSoft: 2, "reason.soft.mailbox_full": 2 }],
  ["mailbox is full", 100, false, { delivered: 99, bouncedSoft: 1, "reason.soft.mailbox_full": 1 }],
])("of a sender is said that so many were %s (%i sent): %s", (text, sent, told, sum) => {
  expect(
    reputationOf({ uniqueOpened: 90, ...sum, sent })
      .factors.join(" ")
      .includes(text),
  ).toBe(told);
});

test("the reason that is told of bounces is the most frequent, hard and soft together", () => {
  const reasons = { "reason.soft.mailbox_full": 3, "reason.hard.unknown_mailbox": 2, "reason.soft.unknown_mailbox": 2 };
  expect(reasonsOf(reasons)).toEqual([
    ["unknown_mailbox", 4],
    ["mailbox_full", 3],
  ]);
});

test("contacts of a period are those of its first day and of all since; days past the longest period are taken away", () => {
  expect(grownSince({ count: 9, d261114: 1, d261115: 2, d261116: 4, duesk: 8 }, "2026-11-15")).toBe(6);
  const { add, remove } = growing("2026-11-21", 2);
  expect(add).toEqual({ count: 2, d261121: 2 });
  // 92 to 122 days before.
  expect([remove.length, remove[0], remove.at(-1)]).toEqual([31, "d260821", "d260722"]);
});

describe("a bounce", () => {
  test.each([
    ["550 5.1.1 The email account that you tried to reach does not exist", "unknown_mailbox"],
    ["550 5.1.1 <x@y.z>: Recipient address rejected: User unknown in virtual mailbox table", "unknown_mailbox"],
    ["smtp; 550 No such user here", "unknown_mailbox"],
    ["452 4.2.2 The recipient's inbox is over quota", "mailbox_full"],
    ["552 Mailbox full", "mailbox_full"],
    ["550 5.7.1 Message rejected as spam by Content Filtering", "blocked"],
    ["554 Your access to this mail system has been rejected due to the sending MTA's poor reputation", "blocked"],
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
  ])("that says %s is one of %s", (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test("is counted as one of few, whatever servers write, and quickly", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => bounceReasons.includes(reasonOf(text))));
    expect(counterOf("hard", "x ".repeat(500_000))).toBe("reason.hard.other");
    expect(counterOf(undefined, "552 mailbox full")).toBe("reason.soft.mailbox_full");
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
  expect(groupOf(domain)).toBe(group);
});

describe("a report", () => {
  const at = (date: string, zone: string) => times.mailedAt(date, zone).toISOString();

  test("is mailed at seven in the organization's morning, in summer and in winter", () => {
    expect(at("2026-07-01", "Europe/Berlin")).toBe("2026-07-01T05:00:00.000Z");
    expect(at("2026-12-01", "Europe/Berlin")).toBe("2026-12-01T06:00:00.000Z");
    // The nights in which clocks are set.
    expect(at("2026-03-29", "Europe/Berlin")).toBe("2026-03-29T05:00:00.000Z");
    expect(at("2026-10-25", "Europe/Berlin")).toBe("2026-10-25T06:00:00.000Z");
    expect(at("2026-11-01", "America/New_York")).toBe("2026-11-01T12:00:00.000Z");
    expect(at("2026-11-21", "Asia/Kathmandu")).toBe("2026-11-21T01:15:00.000Z");
  });

  test("tells of the day, week or month before", () => {
    expect(times.spans.daily("2026-03-01")).toEqual({ from: "2026-02-28", to: "2026-02-28" });
    expect(times.spans.weekly("2026-11-23")).toEqual({ from: "2026-11-16", to: "2026-11-22" });
    expect(times.spans.monthly("2026-03-01")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
    expect(times.before.monthly(times.spans.monthly("2026-03-01"))).toEqual({ from: "2026-01-01", to: "2026-01-31" });
    expect(times.before.weekly(times.spans.weekly("2026-11-23"))).toEqual({ from: "2026-11-09", to: "2026-11-15" });
  });

  test("is first mailed when its next morning comes", () => {
    const [early, late] = [new Date("2026-11-23T06:59:59Z"), new Date("2026-11-23T07:00:00Z")];
    expect([early, late].map((when) => times.firstAhead("daily", when, "UTC"))).toEqual(["2026-11-23", "2026-11-24"]);
    expect([early, late].map((when) => times.firstAhead("weekly", when, "UTC"))).toEqual(["2026-11-23", "2026-11-30"]);
    expect(times.firstAhead("monthly", early, "UTC")).toBe("2026-12-01");
    expect(times.firstAhead("daily", early, "UTC", "2026-11-23")).toBe("2026-11-24");
  });

  test("that was missed is made up for, the latest and no other", () => {
    const [early, at] = [new Date("2026-11-21T06:00:00Z"), new Date("2026-11-21T08:00:00Z")];
    expect(times.next("daily", "2026-11-18", at, "UTC")).toBe("2026-11-21");
    expect(times.next("daily", "2026-11-18", early, "UTC")).toBe("2026-11-20");
    expect(times.next("daily", "2026-11-21", at, "UTC")).toBe("2026-11-22");
    expect(times.next("weekly", "2026-10-05", at, "UTC")).toBe("2026-11-16");
    expect(times.next("monthly", "2026-10-01", at, "UTC")).toBe("2026-11-01");
  });

  test("of any frequency comes in every period exactly once, whatever the zone", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Kiritimati"];
    fc.assert(
      fc.property(fc.constantFrom(...times.frequencies), fc.constantFrom(...zones), (frequency, zone) => {
        let date = times.firstAhead(frequency, new Date("2026-01-15T12:00:00Z"), zone);
        for (let n = 0; n < 60; n++) {
          const next = times.next(frequency, date, times.mailedAt(date, zone), zone);
          expect(times.spans[frequency](next).from).toBe(shifted(times.spans[frequency](date).to, 1));
          date = next;
        }
      }),
    );
  });
});
