import { describe, expect, test } from "vitest";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { nextRuleChange } from "../../shared/domain/audience/segments/rule-changes.ts";
import { compileRules } from "../../shared/domain/audience/segments/rule-compiler.ts";
import { SegmentRulesInput } from "../../shared/domain/audience/segments/segment-rules.ts";
import { nextOccurrence } from "../../shared/domain/automation/date-occurrences.ts";
import fc from "../support/fast-check.ts";

const contactWith = (customFields: ContactItem["customFields"], more: object = {}) =>
  ({ customFields, ...more }) as ContactItem;

describe("the next day of a date trigger", () => {
  const field = "customFields.day";
  const next = (value: string, config: object, after: string, timezone = "Europe/Berlin") =>
    nextOccurrence(
      { field, ...config },
      { contact: contactWith({ Day: value }), timezone },
      new Date(after),
    );

  test.each([
    ["2026-12-24", {}, "2026-12-01T00:00:00Z", "2026-12-24T08:00:00.000Z"],
    ["2026-12-24", { hour: 0 }, "2026-12-01T00:00:00Z", "2026-12-23T23:00:00.000Z"],
    ["2026-12-24", { offsetDays: -14 }, "2026-12-01T00:00:00Z", "2026-12-10T08:00:00.000Z"],
    ["2026-12-24", { offsetDays: 8 }, "2026-12-24T08:00:00Z", "2027-01-01T08:00:00.000Z"],
    ["2026-12-24", {}, "2026-12-24T08:00:00Z", undefined],
    // The evening in UTC is the next day in Berlin.
    ["2026-12-24T23:30:00Z", {}, "2026-12-01T00:00:00Z", "2026-12-25T08:00:00.000Z"],
    ["tomorrow", {}, "2026-12-01T00:00:00Z", undefined],
    ["1990-06-15", { yearly: true }, "2026-12-01T00:00:00Z", "2027-06-15T07:00:00.000Z"],
    [
      "1990-01-03",
      { yearly: true, offsetDays: -7 },
      "2026-12-01T00:00:00Z",
      "2026-12-27T08:00:00.000Z",
    ],
    ["2028-06-15", { yearly: true }, "2026-12-01T00:00:00Z", "2028-06-15T07:00:00.000Z"],
    ["1992-02-29", { yearly: true }, "2027-01-01T00:00:00Z", "2027-02-28T08:00:00.000Z"],
    ["1992-02-29", { yearly: true }, "2028-01-01T00:00:00Z", "2028-02-29T08:00:00.000Z"],
  ])("of %s with %j after %s is %s", (value, config, after, expected) => {
    expect(next(value, config, after)?.at).toBe(expected);
  });

  test("is at the hour that exists when the clocks go forward", () => {
    const config = { hour: 2 };
    expect(next("2027-03-28", config, "2027-01-01T00:00:00Z")?.at).toBe("2027-03-28T01:00:00.000Z");
  });
});

describe("the next change of rules by time", () => {
  const now = new Date("2026-12-01T12:00:00Z");
  const changeOf = (condition: object, contact: ContactItem) =>
    nextRuleChange(
      { match: "all", conditions: [condition as never] },
      {
        contact,
        now,
        timezone: "UTC",
        spellingOf: (name) => name,
      },
    )?.toISOString();

  test("is never for rules without a time", () => {
    const condition = { field: "company", operator: "equals", value: "Acme" };
    expect(changeOf(condition, contactWith({}, { company: "Acme" }))).toBeUndefined();
  });

  test("is in time for the end of the last days", () => {
    const condition = { field: "lastOpenedAt", operator: "inLastDays", value: 3 };
    const opened = (lastOpenedAt: string) => contactWith({}, { lastOpenedAt });
    const first = changeOf(condition, opened("2026-11-28T12:30:00.000Z"))!;
    expect(first).toBe("2026-12-01T12:30:00.001Z");
    expect(changeOf(condition, opened("2026-11-01T12:30:00.000Z"))).toBeUndefined();
  });

  const tomorrow = "2026-12-02T00:00:00.000Z";
  const trialEnds = { field: "properties.trialEnd", operator: "inNextDays", value: 3 };
  const trialEnded = { ...trialEnds, operator: "before", value: "2026-12-01" };
  test.each([
    [{ field: "event.bought", operator: "exists", inLastDays: 3 }, tomorrow],
    [{ field: "event.bought", operator: "exists", where: [trialEnds] }, tomorrow],
    [{ field: "event.bought", operator: "exists", where: [trialEnded] }, undefined],
    [{ ...trialEnds, field: "lastEvent.bought", property: "trialEnd" }, tomorrow],
    [{ ...trialEnded, field: "lastEvent.bought", property: "trialEnd" }, undefined],
  ])("of %j is the next day if time can change it", (condition, expected) => {
    expect(changeOf(condition, contactWith({}, { "event.bought": 2 }))).toBe(expected);
    expect(changeOf(condition, contactWith({}))).toBeUndefined();
  });

  test("is never later than the change itself", () => {
    const groups = { idOf: () => undefined, deletedIds: new Set<number>() };
    const zone = fc.constantFrom("Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland");
    const minutesAway = fc.integer({ min: -30 * 24 * 60, max: 30 * 24 * 60 });
    const time = minutesAway.map((n) => new Date(now.getTime() + n * 60_000).toISOString());
    const value = fc.tuple(time, fc.boolean()).map(([at, isDay]) => (isDay ? at.slice(0, 10) : at));
    const relative = (operators: string[], days: fc.Arbitrary<number | undefined>) =>
      fc.record({ operator: fc.constantFrom(...operators), value: days });
    const condition = fc.oneof(
      relative(["today", "notToday"], fc.constant(undefined)),
      relative(
        ["inLastDays", "notInLastDays", "inNextDays", "notInNextDays"],
        fc.constantFrom(1, 2, 7, 20),
      ),
      relative(["anniversaryInDays", "notAnniversaryInDays"], fc.constantFrom(0, 1, 10)),
    );
    const field = fc.constantFrom("lastOpenedAt", "customFields.day");
    const type = fc.constantFrom(undefined, "date" as const, "datetime" as const);
    fc.assert(
      fc.property(
        ...([condition, field, value, zone, type] as const),
        (one, name, date, timezone, declared) => {
          const contact = contactWith({ day: date }, { lastOpenedAt: date, timezone });
          const rules = SegmentRulesInput.parse({
            match: "all",
            conditions: [{ field: name, ...one }],
          });
          const holdsAt = (at: Date) =>
            compileRules(rules, {
              now: at,
              groups: { TAG: groups, LIST: groups },
              typeOf: () => declared,
            }).test(contact);
          const change = nextRuleChange(rules, {
            ...{ contact, now, timezone },
            spellingOf: (same) => same,
          });
          const end = change?.getTime() ?? Number.POSITIVE_INFINITY;
          for (let hours = 0.5; hours < 40 * 24; hours += 0.5) {
            const at = new Date(now.getTime() + hours * 3_600_000);
            if (at.getTime() >= end) break;
            expect(holdsAt(at), at.toISOString()).toBe(holdsAt(now));
          }
        },
      ),
    );
  });
});
