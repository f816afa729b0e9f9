import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { daysOfReports } from "../../shared/console/data/reported.ts";
import { doneTextOf, formatAgo, formatAhead, withLocalTimes } from "../../shared/console/format.ts";

const now = Date.parse("2026-11-24T09:00:00Z");
beforeEach(() => {
  vi.useFakeTimers({ now });
});
afterEach(() => {
  vi.useRealTimers();
});
const hours = (count: number): string => new Date(now + count * 3_600_000).toISOString();

test.each([
  [0.005, "in a moment"],
  [0.5, "in 30 minutes"],
  [0.996, "in 1 hour"],
  [1.84, "in 2 hours"],
  [23.4, "in 23 hours"],
  [23.9, "tomorrow"],
  [47.9, "in 2 days"],
  [95.9, "in 4 days"],
  [-1.9, "2 hours ago"],
])("%d hours from now is %s", (count, text) => {
  expect(formatAgo(hours(count), "UTC")).toBe(text);
});

test("a wait has its date, in the zone of the organization", () => {
  expect(formatAhead(hours(48), "Europe/Berlin")).toBe("in 2 days, 26 Nov, 10:00");
});

test.each([
  ["Save sender", "Sender saved."],
  ["Change password", "Password changed."],
  ["Replace the address", "Address replaced."],
  ["Save", "Saved."],
  ["Send to 82 contacts", undefined],
  ["Delete 3 contacts", undefined],
  ["Walk through", undefined],
])("the action %s ends in: %s", (action, text) => {
  expect(doneTextOf(action)).toBe(text);
});

test("times in a sentence of the API are shown in the zone of the organization", () => {
  const text = "It is scheduled for 2026-12-01 23:30 UTC. The cap ends on 2026-12-02 09:00 UTC.";
  expect(withLocalTimes(text, "Europe/Berlin")).toBe(
    "It is scheduled for 2 Dec 2026, 00:30. The cap ends on 2 Dec 2026, 10:00.",
  );
});

test("figures count from the day of the first report, in the zone of the organization", () => {
  const days = ["2026-11-22", "2026-11-23", "2026-11-24"].map((date) => ({
    ...{ date, sent: 10, delivered: 9, bounced: 1 },
  }));
  const reports = [null, "2026-11-23T23:30:00Z", "2026-11-24T09:00:00Z"];
  expect(daysOfReports(days, reports, "Europe/Berlin")).toEqual({
    days: days.slice(2),
    since: "2026-11-24",
  });
  expect(daysOfReports(days, [null], "UTC")).toEqual({ days, since: undefined });
  expect(daysOfReports(days, ["2026-01-01T00:00:00Z"], "UTC").since).toBeUndefined();
});
