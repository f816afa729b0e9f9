import { describe, expect, test } from "vitest";
import { billingPeriodAt } from "../../shared/domain/billing/billing-period.ts";
import fc from "../support/fast-check.ts";

describe("a billing period", () => {
  test("is the calendar month in UTC without a subscription", () => {
    expect(billingPeriodAt(undefined, new Date("2026-12-31T23:59:59Z"))).toEqual({
      start: "2026-12-01T00:00:00.000Z",
      end: "2027-01-01T00:00:00.000Z",
    });
  });

  test("with an anchor on the 31st starts on the last day of shorter months", () => {
    const starts = ["2027-02-15", "2027-03-01", "2027-03-30", "2027-04-01"].map(
      (day) => billingPeriodAt("2027-01-31T10:00:00.000Z", new Date(`${day}T00:00:00Z`)).start,
    );
    expect(starts.map((start) => start.slice(0, 10))).toEqual([
      "2027-01-31",
      "2027-02-28",
      "2027-02-28",
      "2027-03-31",
    ]);
  });

  test("contains its moment, and the next one starts at its end", () => {
    const moment = fc.date({
      min: new Date("2024-01-01"),
      max: new Date("2040-01-01"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(fc.option(moment, { nil: undefined }), moment, (anchor, at) => {
        const period = billingPeriodAt(anchor?.toISOString(), at);
        const iso = at.toISOString();
        expect(period.start <= iso && iso < period.end).toBe(true);
        expect(billingPeriodAt(anchor?.toISOString(), new Date(period.end)).start).toBe(period.end);
        const days = (Date.parse(period.end) - Date.parse(period.start)) / 86_400_000;
        expect(days).toBeGreaterThanOrEqual(28);
        expect(days).toBeLessThanOrEqual(31);
      }),
    );
  });
});
