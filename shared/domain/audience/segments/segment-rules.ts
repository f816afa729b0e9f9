// Segment rules: nested conditions, of which all or any must hold. Checks rules from requests and
// reports each error with its path.
import * as z from "zod";
import { StoredNumber } from "../../../kernel/stored-json.ts";
import {
  checkValue,
  maxChoices,
  maxText,
  type Operator,
  operators,
  type RuleValue,
} from "./rule-operators.ts";
import {
  isStepField,
  maxFieldName,
  parseField,
  type SegmentField,
  suggestFieldNames,
} from "./segment-fields.ts";

export interface SegmentCondition {
  field: string;
  operator: Operator;
  value?: RuleValue | undefined;
}
export interface SegmentRules {
  /** `none` is not accepted in requests: audiences of campaigns leave contacts out with it. */
  match: "all" | "any" | "none";
  conditions: (SegmentCondition | SegmentRules)[];
}

export const maxDepth = 5;
export const maxConditions = 100;
export const maxBytes = 20_000;

export const isRules = (node: SegmentCondition | SegmentRules): node is SegmentRules =>
  "conditions" in node;

// checkCondition checks the lengths.
const plainValues = [z.string().meta({ maxLength: maxText }), StoredNumber, z.boolean()] as const;
const SegmentCondition = z
  .object({
    field: z
      .string()
      .meta({ maxLength: maxFieldName })
      .describe(
        "A field of the contact (`email`, `firstName`, `lastName`, `phone`, `company`, " +
          "`timezone`, `source`, `status`, `score`, `sendCount`, `openCount`, `clickCount`, " +
          "`createdAt`, `updatedAt`, `lastSentAt`, `lastOpenedAt`, `lastClickedAt`, `id`, " +
          "`siteId`); `tag` or `list`, also spelled `tags` and `lists` (its id, or its name, " +
          "which is stored as the id and so survives renaming; one that does not exist in the " +
          "site is refused); `customFields.<key>`; `event.<eventName>` (how often the custom " +
          "event happened); `form.<id>` (it was submitted); `topic.<id>` (the contact is " +
          "subscribed to the topic, whatever its status); `campaign.<id>.sent`, `.opened` or " +
          "`.clicked` (the last two for the latest 200 campaigns of each contact)",
      ),
    operator: z
      .enum(operators)
      .describe(
        "How to compare. Text: `equals`, `notEquals`, `contains`, `notContains`, " +
          "`startsWith`, `endsWith`, `in`, `notIn`, `exists`, `notExists`; case is ignored. " +
          "Numbers and counts: `equals`, `notEquals`, `greaterThan`, `lessThan`, `in`, " +
          "`notIn`, `exists`, `notExists`; a score or count that was never set is 0, and 0 " +
          "does not exist. Times: `before`, `after`, `equals`, `notEquals`, `inLastDays`, " +
          "`notInLastDays`, `exists`, `notExists`; a date means the whole day in UTC. Tags and " +
          "lists: `equals`, `notEquals`, `contains`, `notContains`, `in`, `notIn`, `exists`, " +
          "`notExists`. Forms, topics, campaigns: `exists`, `notExists`, or `equals` with true " +
          'or false. Custom fields: every operator, compared as written, so that 5 equals "5"; ' +
          "`greaterThan` and `lessThan` need numbers, `before` and `after` need dates. A " +
          "negative operator is true whenever its positive one is false, so also for a missing " +
          "value.",
      ),
    value: z
      .union([...plainValues, z.array(z.union(plainValues)).meta({ maxItems: maxChoices })])
      .optional()
      .describe(
        "Value to compare with. Leave it out for `exists` and `notExists`. `in` and `notIn` " +
          "take an array of up to 100 values. `inLastDays` and `notInLastDays` take a number " +
          "of days.",
      ),
  })
  .meta({ id: "SegmentCondition" });

export const SegmentRules: z.ZodType<SegmentRules> = z
  .object({
    match: z
      .enum(["all", "any"])
      .describe("`all`: every condition must be true. `any`: at least one must be true."),
    get conditions(): z.ZodType<(SegmentCondition | SegmentRules)[]> {
      return z
        .array(z.union([SegmentCondition, z.lazy(() => SegmentRules)]))
        .meta({ maxItems: maxConditions })
        .describe(
          "Conditions or nested rules. An empty list matches every contact. At most " +
            `${maxConditions} conditions in total, ${maxDepth} levels deep.`,
        );
    },
  })
  .describe("Rules that a contact must match.")
  .meta({
    id: "SegmentRules",
    examples: [
      {
        match: "all",
        conditions: [
          { field: "tag", operator: "equals", value: "customer" },
          {
            match: "any",
            conditions: [{ field: "lastOpenedAt", operator: "inLastDays", value: 30 }],
          },
        ],
      },
    ],
  });

interface RuleIssue {
  path: PropertyKey[];
  message: string;
}

type FieldLookup = (name: string) => SegmentField | undefined;

/**
 * Schema for rules in requests. Checks by hand, because a zod union could only report that no
 * variant fits.
 */
const createRulesInput = (fields: FieldLookup, normalize = (given: unknown) => given) =>
  z
    .unknown()
    .transform((given, context): SegmentRules => {
      const wrong: RuleIssue[] = [];
      const rules = readRules(normalize(given), [], { conditions: 0, fields, issues: wrong });
      if (!wrong.length && Buffer.byteLength(JSON.stringify(rules)) > maxBytes)
        wrong.push({
          path: [],
          message: `must be at most ${maxBytes.toLocaleString("en")} bytes of JSON`,
        });
      for (const { path, message } of wrong)
        context.addIssue({ code: "custom", path, message, input: given });
      return wrong.length ? z.NEVER : rules;
    })
    .meta({ documentedAs: z.object({}).meta({ $ref: "#/$defs/SegmentRules" }) });

export const SegmentRulesInput = createRulesInput((name) =>
  isStepField(name) ? undefined : parseField(name),
);
/** Rules of a sequence step, which may also test earlier steps. Accepts a single condition, too. */
export const StepRulesInput = createRulesInput(parseField, (given) =>
  isObject(given) && "field" in given ? { match: "all", conditions: [given] } : given,
);

interface ParseState {
  /** Number of conditions so far. */
  conditions: number;
  fields: FieldLookup;
  issues: RuleIssue[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readRules(given: unknown, path: PropertyKey[], state: ParseState): SegmentRules {
  const nothing: SegmentRules = { match: "all", conditions: [] };
  const addIssue = (message: string, ...at: PropertyKey[]) => {
    state.issues.push({ path: [...path, ...at], message });
    return nothing;
  };
  if (!isObject(given)) return addIssue("must be an object with match and conditions");
  const { match, conditions } = given;
  if (match !== "all" && match !== "any") addIssue("must be all or any", "match");
  if (!Array.isArray(conditions)) return addIssue("must be an array", "conditions");
  if (path.length && !conditions.length)
    return addIssue("must have at least one condition", "conditions");
  if (path.length / 2 >= maxDepth)
    return addIssue(`must be nested at most ${maxDepth} levels deep`);
  return {
    match: match as "all" | "any",
    conditions: readConditions(conditions, [...path, "conditions"], state),
  };
}

function readConditions(
  given: unknown[],
  path: PropertyKey[],
  state: ParseState,
): (SegmentCondition | SegmentRules)[] {
  const read: (SegmentCondition | SegmentRules)[] = [];
  for (const [i, one] of given.entries()) {
    const nested = isObject(one) && ("conditions" in one || "match" in one);
    if (!nested && ++state.conditions > maxConditions) {
      state.issues.push({
        path,
        message: `must have at most ${maxConditions} conditions in total`,
      });
      break;
    }
    read.push(
      nested ? readRules(one, [...path, i], state) : readCondition(one, [...path, i], state),
    );
    if (state.issues.length >= 20) break;
  }
  return read;
}

function readCondition(
  given: unknown,
  path: PropertyKey[],
  { fields, issues }: ParseState,
): SegmentCondition {
  const { field, operator, value } = isObject(given) ? given : {};
  const condition = {
    field,
    operator,
    ...(value !== undefined && value !== null && { value }),
  } as SegmentCondition;
  const found = isObject(given)
    ? checkCondition(fields, { field, operator, value: value ?? undefined })
    : notObject;
  if (found) issues.push({ path: found.at ? [...path, found.at] : path, message: found.message });
  return condition;
}

interface ConditionIssue {
  at?: string;
  message: string;
}
const notObject: ConditionIssue = {
  message: "must be a condition, or rules with match and conditions",
};

function checkCondition(
  fields: FieldLookup,
  { field, operator, value }: { field: unknown; operator: unknown; value: unknown },
): ConditionIssue | undefined {
  if (typeof field !== "string") return { at: "field", message: "must be the name of a field" };
  const known = fields(field);
  if (!known) {
    const there = suggestFieldNames(field, { ofSteps: fields("step.1.opened") !== undefined });
    return {
      at: "field",
      message:
        `unknown field ${field.slice(0, 60)}; known fields, the closest first: ` +
        `${there.join(", ")}`,
    };
  }
  if (!known.operators.includes(operator as Operator))
    return {
      at: "operator",
      message: `must be one of ${known.operators.join(", ")} for ${field.slice(0, 150)}`,
    };
  const message = checkValue(known, operator as Operator, value);
  return message === undefined ? undefined : { at: "value", message };
}
