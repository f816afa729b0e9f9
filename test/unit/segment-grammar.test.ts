import { describe, expect, test } from "vitest";
import {
  maxBytes,
  maxConditions,
  maxDepth,
} from "../../shared/domain/audience/segments/rule-checks.ts";
import {
  type SegmentRules,
  SegmentRulesInput,
  StepRulesInput,
} from "../../shared/domain/audience/segments/segment-rules.ts";

const given = (rules: unknown) => {
  const { success, error, data } = SegmentRulesInput.safeParse(rules);
  return success ? data : error.issues.map(({ path, message }) => [path.join("."), message]);
};
const one = (field: string, operator: string, value?: unknown) =>
  given({ match: "all", conditions: [{ field, operator, value }] });
const good = { field: "score", operator: "greaterThan", value: 5 };
const nested = (depth: number): SegmentRules =>
  ({ match: "all", conditions: [depth > 1 ? nested(depth - 1) : good] }) as SegmentRules;

describe("valid rules are accepted unchanged", () => {
  const conditions: [string, string, unknown?][] = [
    ["email", "endsWith", "@example.com"],
    ["firstName", "in", ["Ann", "Bob"]],
    ["timezone", "notExists"],
    ["status", "equals", "subscribed"],
    ["score", "lessThan", -1.5],
    ["createdAt", "before", "2026-01-31"],
    ["lastClickedAt", "after", "2026-01-31T10:00:00+02:00"],
    ["lastOpenedAt", "notInLastDays", 30],
    ["tag", "equals", "customer"],
    ["tags", "in", [1, "vip"]],
    ["list", "notContains", 7],
    ["customFields.plan", "equals", true],
    ["customFields.a.b", "inLastDays", 0.5],
    ["event.signed up", "greaterThan", 3],
    ["form.4", "exists"],
    ["campaign.5.clicked", "equals", false],
  ];
  test.for(conditions)("%s %s %o", ([field, operator, value]) => {
    expect(one(field, operator, value)).toEqual({
      match: "all",
      conditions: [value === undefined ? { field, operator } : { field, operator, value }],
    });
  });

  test("rules without conditions match all contacts", () => {
    expect(given({ match: "any", conditions: [] })).toEqual({ match: "any", conditions: [] });
  });
});

test("the error for an unknown field lists the known fields, the most similar first", () => {
  const messageFor = (field: string, schema = SegmentRulesInput) =>
    schema.safeParse({ match: "all", conditions: [{ field, operator: "exists" }] }).error!
      .issues[0]!.message;
  expect(messageFor("fristName")).toMatch(
    /^unknown field fristName; known fields, the closest first: firstName, /,
  );
  expect(messageFor("customfield.plan")).toMatch(/: customFields\.<key>, /);
  expect(messageFor("tagz")).toMatch(/: tags?, tags?, .*campaign\.<id>\.opened/);
  expect(messageFor("stap.1.opened")).not.toContain("step.");
  expect(messageFor("stap.1.opened", StepRulesInput)).toMatch(/: step\.<number>\.opened, /);
  expect(messageFor("x".repeat(5000), StepRulesInput).length).toBeLessThan(600);
});

describe("invalid rules are rejected with the path of the error", () => {
  const refused: [string, string, unknown, string, string][] = [
    ["shoeSize", "equals", 1, "field", "unknown field shoeSize"],
    ["constructor", "equals", 1, "field", "unknown field constructor"],
    ["__proto__.x", "equals", 1, "field", "unknown field"],
    ["customFields.", "exists", undefined, "field", "unknown field"],
    ["form.x", "exists", undefined, "field", "unknown field"],
    ["campaign.5.bounced", "exists", undefined, "field", "unknown field"],
    ["firstName", "greaterThan", 1, "operator", "must be one of equals, notEquals, contains"],
    ["score", "contains", "1", "operator", "must be one of equals"],
    ["createdAt", "lessThan", 1, "operator", "before"],
    ["form.4", "inLastDays", 3, "operator", "exists"],
    ["event.x", "inLastDays", 3, "operator", "greaterThan"],
    ["score", "like", 1, "operator", "must be one of"],
    ["score", "greaterThan", "5", "value", "must be a number"],
    ["score", "greaterThan", undefined, "value", "must be a number"],
    ["score", "equals", 1e300, "value", "must be a number"],
    ["firstName", "equals", 5, "value", "must be a string"],
    ["firstName", "equals", "", "value", "1 to 2000"],
    ["firstName", "equals", "x".repeat(2001), "value", "1 to 2000"],
    ["firstName", "in", "Ann", "value", "array of 1 to 100"],
    ["firstName", "in", [], "value", "array of 1 to 100"],
    ["firstName", "in", Array(101).fill("x"), "value", "array of 1 to 100"],
    ["firstName", "in", ["Ann", 5], "value", "each value must be a string"],
    ["firstName", "exists", true, "value", "must not be given"],
    ["status", "equals", "gone", "value", "must be one of subscribed"],
    ["createdAt", "before", "2026-02-30", "value", "must be a date"],
    ["createdAt", "before", "yesterday", "value", "must be a date"],
    ["createdAt", "before", "0999-12-31", "value", "must be a date"],
    ["createdAt", "before", "9999-01-01", "value", "must be a date"],
    ["createdAt", "inLastDays", 0, "value", "number of days"],
    ["createdAt", "inLastDays", 36_501, "value", "at most 36500"],
    ["tag", "equals", -1, "value", "an id or a name"],
    ["form.4", "equals", "yes", "value", "true or false"],
    ["customFields.x", "equals", { a: 1 }, "value", "must be a string"],
    ["customFields.x", "greaterThan", "5", "value", "must be a number"],
  ];
  test.for(refused)("%s %s %o", ([field, operator, value, at, message]) => {
    expect(one(field, operator, value)).toEqual([
      [`conditions.0.${at}`, expect.stringContaining(message)],
    ]);
  });

  test("all errors are reported at once, with their paths at any depth", () => {
    const bad = { field: "score", operator: "contains", value: 1 };
    const rules = {
      match: "all",
      conditions: [good, { match: "some", conditions: [good, bad] }, 7, { field: 3 }],
    };
    expect(given(rules)).toEqual([
      ["conditions.1.match", "must be all or any"],
      ["conditions.1.conditions.1.operator", expect.any(String)],
      ["conditions.2", "must be a condition, or rules with match and conditions"],
      ["conditions.3.field", "must be the name of a field"],
    ]);
  });

  test.for([undefined, null, 7, "all", [], {}, { match: "all" }, { match: "all", conditions: {} }])(
    "no rules: %o",
    (rules) => {
      expect(given(rules)).toHaveLength(
        rules && typeof rules === "object" && !Array.isArray(rules) && !("match" in rules) ? 2 : 1,
      );
    },
  );
});

describe("conditions on events", () => {
  const where = [{ field: "properties.total", operator: "greaterThan", value: 50 }];
  const conditions: object[] = [
    { field: "event.bought", operator: "greaterThan", value: 2, inLastDays: 30, where },
    { field: "event.a.b", operator: "exists", inLastDays: 0.5 },
    { field: "firstEventAt.bought", operator: "before", value: "2026-01-31" },
    { field: "lastEventAt.bought", operator: "notInLastDays", value: 90 },
    { field: "lastEvent.bought", property: "cart.total", operator: "lessThan", value: 10 },
  ];
  test.for(conditions)("%o", (condition) => {
    const rules = { match: "all", conditions: [condition] };
    expect(given(rules)).toEqual(rules);
  });

  const count = { field: "event.bought", operator: "exists" };
  const refused: [object, string, string][] = [
    [{ ...good, inLastDays: 3 }, "inLastDays", "must not be given: only event.<name> takes it"],
    [{ ...good, where }, "where", "must not be given: only event.<name> takes it"],
    [{ ...count, property: "total" }, "property", "only lastEvent.<name> takes it"],
    [{ ...count, inLastDays: 0 }, "inLastDays", "number of days"],
    [{ ...count, inLastDays: "3" }, "inLastDays", "number of days"],
    [{ ...count, where: [] }, "where", "1 to 20 conditions"],
    [{ ...count, where: Array(21).fill(where[0]) }, "where", "1 to 20 conditions"],
    [{ ...count, where: [count] }, "where.0.field", "must be properties.<key>"],
    [{ ...count, where: [{ ...where[0], value: "5" }] }, "where.0.value", "must be a number"],
    [{ ...count, where: [where[0], 7] }, "where.1", "must be a condition"],
    [{ field: "lastEvent.bought", operator: "exists" }, "property", "name of a property"],
    [{ field: "lastEvent.bought", operator: "exists", property: "" }, "property", "1 to 100"],
    [{ field: "firstEventAt.bought", operator: "greaterThan", value: 1 }, "operator", "before"],
  ];
  test.for(refused)("%o is refused", ([condition, at, message]) => {
    expect(given({ match: "all", conditions: [condition] })).toEqual([
      [`conditions.0.${at}`, expect.stringContaining(message)],
    ]);
  });

  test("conditions in where count", () => {
    const rules = (n: number) => ({
      match: "all",
      conditions: Array(n).fill({ ...count, where: Array(19).fill(where[0]) }),
    });
    expect(given(rules(5))).toEqual(rules(5));
    expect(given(rules(6))).toEqual([["conditions", expect.stringContaining("100 conditions")]]);
  });
});

describe("bounds", () => {
  test(`at most ${maxDepth} levels are accepted`, () => {
    expect(given(nested(maxDepth))).toEqual(nested(maxDepth));
    expect(given(nested(maxDepth + 1))).toEqual([
      [expect.stringMatching(/^(conditions\.0\.?){5}$/), expect.stringContaining("5 levels")],
    ]);
  });

  test(`at most ${maxConditions} conditions in total are accepted`, () => {
    const rules = (n: number) => ({
      match: "all",
      conditions: [good, { match: "any", conditions: Array(n - 1).fill(good) }],
    });
    expect(given(rules(maxConditions))).toEqual(rules(maxConditions));
    expect(given(rules(maxConditions + 1))).toEqual([
      ["conditions.1.conditions", "must have at most 100 conditions in total"],
    ]);
  });

  test(`at most ${maxBytes} bytes are accepted`, () => {
    const long = (bytes: number) => {
      const rules = {
        match: "all",
        conditions: Array.from({ length: 11 }, () => ({
          field: "company",
          operator: "equals",
          value: "x".repeat(1750),
        })),
      };
      rules.conditions[0]!.value += "x".repeat(bytes - JSON.stringify(rules).length);
      return rules;
    };
    const most = long(maxBytes);
    expect(JSON.stringify(most)).toHaveLength(maxBytes);
    expect(JSON.stringify(given(most))).toHaveLength(maxBytes);
    most.conditions[1]!.value += "x";
    expect(given(most)).toEqual([["", expect.stringContaining("20,000 bytes")]]);
  });

  test("nested rules need a condition", () => {
    expect(given({ match: "all", conditions: [{ match: "any", conditions: [] }] })).toEqual([
      ["conditions.0.conditions", "must have at least one condition"],
    ]);
  });
});
