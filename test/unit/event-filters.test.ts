// Filters of events: rules that compare properties of an event.
import { describe, expect, test } from "vitest";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { compileRules } from "../../shared/domain/audience/segments/rule-compiler.ts";
import { withEventProperties } from "../../shared/domain/audience/segments/segment-fields.ts";
import {
  EventFilter,
  EventFilterInput,
  SegmentRulesInput,
  StepRulesInput,
} from "../../shared/domain/audience/segments/segment-rules.ts";

const noGroups = { idOf: () => undefined, deletedIds: new Set<number>() };
const context = {
  now: new Date("2026-06-15T12:00:00Z"),
  groups: { TAG: noGroups, LIST: noGroups },
};
const contact = { id: 1, company: "Acme", customFields: { plan: "pro" } } as unknown as ContactItem;

const properties = {
  total: 59.9,
  currency: "EUR",
  paid: true,
  plan: null,
  note: "",
  orderedAt: "2026-06-14T09:00:00Z",
  cart: { total: 12, items: [] },
  categories: ["Shoes", "Men", 7],
  items: [{ sku: "A-1", price: 10, sizes: ["S", "M"] }, { sku: "B-2" }],
  "shipping.city": "Bonn",
  nothing: {},
};

const passes = (field: string, operator: string, value?: unknown): boolean => {
  const rules = EventFilterInput.parse({ match: "all", conditions: [{ field, operator, value }] });
  const { test: holds, explain } = compileRules(rules, context);
  const subject = withEventProperties(contact, JSON.stringify(properties));
  expect(explain(subject).matched).toBe(holds(subject));
  return holds(subject);
};

describe("a filter compares properties as custom fields are compared", () => {
  const cases: [string, string, unknown, boolean][] = [
    ["properties.total", "greaterThan", 50, true],
    ["properties.total", "greaterThan", 59.9, false],
    ["properties.total", "lessThan", 60, true],
    ["properties.currency", "greaterThan", 1, false],
    ["properties.total", "equals", "59.9", true],
    ["properties.currency", "equals", "eur", true],
    ["properties.currency", "in", ["USD", "EUR"], true],
    ["properties.currency", "startsWith", "E", true],
    ["properties.paid", "equals", true, true],
    ["properties.paid", "equals", "true", true],
    ["properties.orderedAt", "before", "2026-06-14", false],
    ["properties.orderedAt", "after", "2026-06-13", true],
    ["properties.orderedAt", "inLastDays", 2, true],
    ["properties.total", "before", "2026-06-14", false],
    ["properties.plan", "exists", undefined, false],
    ["properties.note", "exists", undefined, false],
    ["properties.nothing", "exists", undefined, false],
    ["properties.paid", "exists", undefined, true],
    ["properties.missing", "notEquals", 5, true],
    ["properties.missing", "notExists", undefined, true],
    ["properties.constructor", "exists", undefined, false],
  ];
  test.for(cases)("%s %s %o: %o", ([field, operator, value, expected]) => {
    expect(passes(field, operator, value)).toBe(expected);
  });
});

describe("dots lead into objects and lists", () => {
  const cases: [string, string, unknown, boolean][] = [
    ["properties.cart.total", "equals", 12, true],
    ["properties.cart.items", "exists", undefined, false],
    ["properties.cart", "exists", undefined, true],
    ["properties.cart.total.deeper", "exists", undefined, false],
    ["properties.shipping.city", "equals", "Bonn", true],
    ["properties.items.sku", "in", ["X", "B-2"], true],
    ["properties.items.sku", "notIn", ["X"], true],
    ["properties.items.sku", "contains", "a-1", true],
    ["properties.items.sku", "contains", "A", false],
    ["properties.items.sizes", "contains", "M", true],
    ["properties.items.price", "greaterThan", 5, false],
    ["properties.items.length", "exists", undefined, false],
    ["properties.categories", "contains", "shoes", true],
    ["properties.categories", "contains", "Shoe", false],
    ["properties.categories", "notContains", "Women", true],
    ["properties.categories", "in", [7], true],
    ["properties.categories", "equals", "Shoes", false],
    ["properties.categories", "exists", undefined, true],
  ];
  test.for(cases)("%s %s %o: %o", ([field, operator, value, expected]) => {
    expect(passes(field, operator, value)).toBe(expected);
  });
});

test("a filter also compares fields of the contact, at any depth", () => {
  const rules = EventFilterInput.parse({
    match: "all",
    conditions: [
      { field: "customFields.plan", operator: "equals", value: "pro" },
      {
        match: "any",
        conditions: [
          { field: "company", operator: "equals", value: "other" },
          { field: "properties.total", operator: "greaterThan", value: 50 },
        ],
      },
    ],
  });
  expect(EventFilter.parse(rules)).toEqual(rules);
  const { test: holds } = compileRules(rules, context);
  expect(holds(withEventProperties(contact, '{"total":51}'))).toBe(true);
  expect(holds(withEventProperties(contact, '{"total":"51"}'))).toBe(false);
  expect(holds(withEventProperties(contact, undefined))).toBe(false);
});

test("only filters of events and rules of steps can name properties", () => {
  const one = (field: string, operator = "exists") => ({
    match: "all",
    conditions: [{ field, operator }],
  });
  const messageOf = (schema: typeof EventFilterInput, rules: object) =>
    schema.safeParse(rules).error?.issues[0]?.message;
  const refusal =
    "properties.total is a property of an event, which only filters of events can compare";
  expect(messageOf(SegmentRulesInput, one("properties.total"))).toBe(refusal);
  expect(messageOf(StepRulesInput, one("properties.total"))).toBeUndefined();
  expect(messageOf(EventFilterInput, one("properties.total"))).toBeUndefined();
  expect(messageOf(EventFilterInput, one("propertys.total"))).toMatch(/: properties\.<key>, /);
  expect(messageOf(EventFilterInput, one("properties."))).toMatch(/^unknown field/);
  expect(messageOf(EventFilterInput, one("step.1.opened"))).toMatch(/^unknown field/);
  expect(messageOf(EventFilterInput, one("properties.total", "greaterThan"))).toBe(
    "must be a number",
  );
});
