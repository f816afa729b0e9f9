import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { periodOf } from "../../shared/domain/periods.ts";

describe("a period", () => {
  test("without a subscription is the calendar's month in UTC", () => {
    expect(periodOf(undefined, new Date("2026-12-31T23:59:59Z"))).toEqual({
      start: "2026-12-01T00:00:00.000Z",
      end: "2027-01-01T00:00:00.000Z",
    });
  });

  test("that began on the 31st begins on the last day of shorter months, and on the 31st again", () => {
    const starts = ["2027-02-15", "2027-03-01", "2027-03-30", "2027-04-01"].map(
      (day) => periodOf("2027-01-31T10:00:00.000Z", new Date(`${day}T00:00:00Z`)).start,
    );
    expect(starts.map((start) => start.slice(0, 10))).toEqual(["2027-01-31", "2027-02-28", "2027-02-28", "2027-03-31"]);
  });

  test("holds its moment; the next begins where it ends", () => {
    const moment = fc.date({ min: new Date("2024-01-01"), max: new Date("2040-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(fc.option(moment, { nil: undefined }), moment, (anchor, at) => {
        const period = periodOf(anchor?.toISOString(), at);
        const iso = at.toISOString();
        expect(period.start <= iso && iso < period.end).toBe(true);
        expect(periodOf(anchor?.toISOString(), new Date(period.end)).start).toBe(period.end);
        const days = (Date.parse(period.end) - Date.parse(period.start)) / 86_400_000;
        expect(days).toBeGreaterThanOrEqual(28);
        expect(days).toBeLessThanOrEqual(31);
      }),
    );
  });
});
