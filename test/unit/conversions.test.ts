import { describe, expect, test } from "vitest";
import {
  CampaignConversion,
  toRevenue,
} from "../../shared/domain/campaigns/conversions/conversion-schema.ts";
import {
  latestTouch,
  toValueCount,
} from "../../shared/domain/campaigns/conversions/count-conversions.ts";
import type { SendItem } from "../../shared/domain/sending/send-schema.ts";

const goal = (given: object = {}) =>
  CampaignConversion.parse({ eventName: "order_placed", ...given });
const euros = { valueProperty: "order.total", currency: "EUR", currencyProperty: "currency" };

describe("the value of an event", () => {
  const amountOf = (properties: object, given: object = euros) =>
    toValueCount(goal(given), JSON.stringify(properties));

  test("is in thousandths, in the currency of the event or of the campaign", () => {
    expect(amountOf({ order: { total: 49.9 } })).toEqual({ "value.EUR": 49_900 });
    expect(amountOf({ order: { total: "0.1005" }, currency: " jpy " })).toEqual({
      "value.JPY": 101,
    });
    expect(amountOf({ order: { total: -5 }, currency: null })).toEqual({ "value.EUR": -5000 });
  });

  test("is none without a number, beyond the limit, or in an unknown currency", () => {
    for (const total of [undefined, null, "", "much", true, [1], 1e13])
      expect(amountOf({ order: { total } })).toEqual({});
    expect(amountOf({ order: { total: 1 }, currency: "XXY" })).toEqual({});
    expect(amountOf({ order: { total: 1 }, currency: 5 })).toEqual({});
    expect(amountOf({ order: { total: 1 } }, {})).toEqual({});
  });

  test("is summed by currency", () => {
    expect(toRevenue({ contacts: 3, "value.USD": 1, "value.EUR": 300, "value.JPY": 0 })).toEqual([
      { currency: "EUR", amount: 0.3 },
      { currency: "USD", amount: 0.001 },
    ]);
  });
});

describe("what a contact did before an event", () => {
  const at = (day: number, second = 0) =>
    new Date(Date.UTC(2027, 0, day, 9, 0, second)).toISOString();
  const event = (type: string, day: number, more: object = {}) => ({
    ...{ id: day, type, at: at(day), providerEventId: `${type} ${day}`, round: "r" },
    ...more,
  });
  const send = (...events: object[]) =>
    ({ id: 1, sentAt: at(1), status: "delivered", events }) as unknown as SendItem;
  const touch = (one: SendItem, given: object = {}) => latestTouch(one, goal(given), at(10));

  test("is the latest click by a person within the window", () => {
    const clicks = [2, 4, 9, 11].map((day) => event("click", day));
    expect(touch(send(...clicks))).toBe(at(9));
    expect(touch(send(...clicks.slice(0, 1)))).toBeUndefined();
    expect(touch(send(...clicks.slice(0, 1)), { windowDays: 8 })).toBe(at(2));
    expect(touch(send(event("click", 9, { machine: true })))).toBeUndefined();
    expect(touch(send(event("delivered", 9), event("click", 9)))).toBeUndefined();
  });

  test("can be an open, or the email itself", () => {
    const opened = send(event("click", 5), event("open", 8));
    expect(touch(opened)).toBe(at(5));
    expect(touch(opened, { after: "open" })).toBe(at(8));
    expect(touch(opened, { after: "delivery" })).toBeUndefined();
    expect(touch(opened, { after: "delivery", windowDays: 9 })).toBe(at(1));
    const bounced = { ...send(), status: "failed" as const };
    expect(touch(bounced, { after: "delivery", windowDays: 9 })).toBeUndefined();
  });
});

test("a conversion has a currency if it has revenue", () => {
  const faults = (given: object) =>
    CampaignConversion.safeParse({ eventName: "x", ...given }).error?.issues.map(({ path }) =>
      path.join("."),
    );
  expect(faults({})).toBeUndefined();
  expect(faults({ valueProperty: "total" })).toEqual(["currency"]);
  expect(faults({ currency: "EUR" })).toEqual(["currency"]);
  expect(faults({ currencyProperty: "c" })).toEqual(["currencyProperty"]);
  expect(faults({ valueProperty: "total", currency: "eur" })).toEqual(["currency"]);
  expect(faults({ valueProperty: "total", currency: "QQQ" })).toEqual(["currency"]);
  expect(faults({ windowDays: 31 })).toEqual(["windowDays"]);
});
