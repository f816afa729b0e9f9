import { describe, expect, test } from "vitest";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { type WaitConfig, WaitConfigInput } from "../../shared/domain/automation/step-configs.ts";
import type { SequenceStep } from "../../shared/domain/automation/step-schema.ts";
import { endOfStepWait } from "../../shared/domain/automation/step-waits.ts";

const endOf = (
  waitConfig: WaitConfig,
  { start = "2026-11-20T12:00:00Z", timezone = "Europe/Berlin", fields = {} } = {},
): string | undefined =>
  endOfStepWait({ type: "wait_until", waitConfig } as SequenceStep, {
    start: new Date(start),
    contact: { customFields: fields } as unknown as ContactItem,
    timezone,
  })?.toISOString();

describe("a wait for a weekday and hour", () => {
  test.each([
    // 20 November 2026 is a Friday.
    ["later on the same day", [5], 15, "2026-11-20T12:00:00Z", "2026-11-20T14:00:00.000Z"],
    ["exactly now", [5], 13, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00.000Z"],
    ["a week later", [5], 9, "2026-11-20T12:00:00Z", "2026-11-27T08:00:00.000Z"],
    ["the next of several days", [1, 7], 9, "2026-11-20T12:00:00Z", "2026-11-22T08:00:00.000Z"],
    ["after clocks go forward", [1], 9, "2027-03-26T12:00:00Z", "2027-03-29T07:00:00.000Z"],
    ["after clocks go back", [1], 9, "2026-10-23T12:00:00Z", "2026-10-26T08:00:00.000Z"],
    ["an hour that is skipped", [7], 2, "2027-03-27T12:00:00Z", "2027-03-28T01:00:00.000Z"],
    [
      "the first of an hour that comes twice",
      [7],
      2,
      "2026-10-24T12:00:00Z",
      "2026-10-25T00:00:00.000Z",
    ],
    [
      "in the second of an hour that comes twice",
      [7],
      2,
      "2026-10-25T00:30:00Z",
      "2026-11-01T01:00:00.000Z",
    ],
  ])("is %s", (_, weekdays, hour, start, end) => {
    expect(endOf({ weekdays, hour }, { start })).toBe(end);
  });

  test("is the day of the contact, not of UTC", () => {
    const start = "2026-11-20T20:00:00Z";
    const config = { weekdays: [6], hour: 7 };
    expect(endOf(config, { start, timezone: "Asia/Tokyo" })).toBe("2026-11-20T22:00:00.000Z");
    expect(endOf(config, { start, timezone: "America/Lima" })).toBe("2026-11-21T12:00:00.000Z");
  });
});

describe("a wait for a date", () => {
  const field = "customFields.due";
  test.each([
    ["2026-12-24", { field }, "2026-12-23T23:00:00.000Z"],
    ["2026-12-24", { field, hour: 9 }, "2026-12-24T08:00:00.000Z"],
    ["2026-12-24", { field, offsetDays: -30, hour: 9 }, "2026-11-24T08:00:00.000Z"],
    ["2027-03-27", { field, offsetDays: 1, hour: 9 }, "2027-03-28T07:00:00.000Z"],
    ["2028-02-28", { field, offsetDays: 1, hour: 0 }, "2028-02-28T23:00:00.000Z"],
    ["2026-12-24T23:30:00Z", { field, hour: 9 }, "2026-12-25T08:00:00.000Z"],
    ["2027-03-27T09:00:00Z", { field, offsetDays: 1 }, "2027-03-28T08:00:00.000Z"],
    ["2026-02-30", { field }, undefined],
    ["tomorrow", { field }, undefined],
  ])("%s with %j ends at %s", (due, config, end) => {
    expect(endOf(config, { fields: { due } })).toBe(end);
  });

  test("has no end without a value", () => {
    expect(endOf({ field })).toBeUndefined();
  });
});

test.each([
  [{}, "eventName"],
  [{ eventName: "ordered" }, "timeoutMinutes"],
  [{ eventName: "ordered", timeoutMinutes: 5, hour: 3 }, "hour"],
  [{ eventName: "ordered", timeoutMinutes: 5, weekdays: [1] }, "weekdays"],
  [{ weekdays: [1] }, "hour"],
  [{ weekdays: [8], hour: 1 }, "weekdays.0"],
  [{ field: "email" }, "field"],
  [{ field: "createdAt", filter: { match: "all", conditions: [] } }, "filter"],
  [
    { eventName: "a", timeoutMinutes: 5, filter: { match: "all", conditions: [{}] } },
    "filter.conditions.0.field",
  ],
])("%j is refused at %s", (config, path) => {
  const { error } = WaitConfigInput.safeParse(config);
  expect(error?.issues.map((issue) => issue.path.join("."))).toContain(path);
});
