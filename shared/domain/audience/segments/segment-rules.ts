// Segment rules: nested conditions, of which all or any must hold.
import * as z from "zod";
import { StoredNumber } from "../../../kernel/stored-json.ts";
import { maxEventsPerContact } from "./event-history.ts";
import {
  isObject,
  maxBytes,
  maxConditions,
  maxDepth,
  maxProperty,
  maxWhere,
  type RuleIssue,
  readRules,
} from "./rule-checks.ts";
import {
  maxChoices,
  maxDays,
  maxText,
  type Operator,
  operators,
  type RuleValue,
} from "./rule-operators.ts";
import { maxFieldName, type RuleScope } from "./segment-fields.ts";

export interface PropertyCondition {
  field: string;
  operator: Operator;
  value?: RuleValue | undefined;
}
export interface SegmentCondition extends PropertyCondition {
  /** For `event.<name>`: only events of the last days, with properties that match all. */
  inLastDays?: number | undefined;
  where?: PropertyCondition[] | undefined;
  /** For `lastEvent.<name>`: the path of the property. */
  property?: string | undefined;
}
export interface SegmentRules {
  /** `none` is not accepted in requests: audiences of campaigns leave contacts out with it. */
  match: "all" | "any" | "none";
  conditions: (SegmentCondition | SegmentRules)[];
}

export const isRules = (node: SegmentCondition | SegmentRules): node is SegmentRules =>
  "conditions" in node;

// checkCondition checks the lengths.
const plainValues = [z.string().meta({ maxLength: maxText }), StoredNumber, z.boolean()] as const;
const conditionFields = {
  field: z
    .string()
    .meta({ maxLength: maxFieldName })
    .describe(
      "A field of the contact (`email`, `firstName`, `lastName`, `phone`, `company`, " +
        "`timezone`, `locale`, `source`, `externalId`, `status`, `score`, `sendCount`, " +
        "`openCount`, `clickCount`, " +
        "`createdAt`, `updatedAt`, `lastSentAt`, `lastOpenedAt`, `lastClickedAt`, `id`, " +
        "`siteId`); `tag` or `list`, also spelled `tags` and `lists` (its id, or its name, " +
        "which is stored as the id and so survives renaming; one that does not exist in the " +
        "site is refused); `customFields.<key>`; `event.<eventName>` (how often the custom " +
        "event happened, in the last days and with certain properties if `inLastDays` and " +
        "`where` say so), `firstEventAt.<eventName>`, `lastEventAt.<eventName>`, " +
        "`lastEvent.<eventName>` (a property of the latest one, which `property` names); " +
        "`form.<id>` (it was submitted); `topic.<id>` (the contact is " +
        "subscribed to the topic, whatever its status); `campaign.<id>.sent`, `.opened` or " +
        "`.clicked` (the last two for the latest 200 campaigns of each contact). Filters of " +
        "events can also name `properties.<key>`: a property of the event. Dots lead into " +
        "objects and into each object of a list, as in `properties.items.sku`",
    ),
  operator: z
    .enum(operators)
    .describe(
      "How to compare. Text: `equals`, `notEquals`, `contains`, `notContains`, " +
        "`startsWith`, `endsWith`, `in`, `notIn`, `exists`, `notExists`; case is ignored. " +
        "Numbers and counts: `equals`, `notEquals`, `greaterThan`, `lessThan`, `in`, " +
        "`notIn`, `exists`, `notExists`; a score or count that was never set is 0, and 0 " +
        "does not exist. Times: `on`, `before`, `after`, `today`, `inLastDays`, `inNextDays`, " +
        "`anniversaryInDays` (the day of a year comes in exactly so many days; 29 February " +
        "counts on the 28th in other years), each with its negative, such as `notOn`; " +
        "`equals`, `notEquals`, `exists`, `notExists`. A date means the whole day in the time " +
        "zone of the contact, or of the organization if it has none. Tags and " +
        "lists: `equals`, `notEquals`, `contains`, `notContains`, `in`, `notIn`, `exists`, " +
        "`notExists`. Forms, topics, campaigns: `exists`, `notExists`, or `equals` with true " +
        "or false. Custom fields: every operator. A declared type (PUT " +
        "/contact-fields/:fieldName) decides how values compare: dates as times do, and of a " +
        "list, `contains` and `containsAny` match entries. Without one, values compare as " +
        'written, so that 5 equals "5"; `greaterThan` and `lessThan` need numbers, `before` ' +
        "and `after` need dates such as 2026-12-31 or 2026-12-31T09:00:00Z, which are compared " +
        "in UTC. " +
        "Properties of events: as custom fields; of a list, `contains` and `in` match an " +
        "element. A " +
        "negative operator is true whenever its positive one is false, so also for a missing " +
        "value. Those of dates never match a value that is no date, except for `notEquals`, " +
        "and for `notInLastDays` of a field that is not declared as a date.",
    ),
  value: z
    .union([...plainValues, z.array(z.union(plainValues)).meta({ maxItems: maxChoices })])
    .optional()
    .describe(
      "Value to compare with. Leave it out for `exists`, `today` and their negatives. `in` " +
        "and `containsAny` take an array of up to 100 values, `inLastDays` and `inNextDays` a " +
        "number of days, `anniversaryInDays` a whole number of days, 0 for today.",
    ),
};
export const PropertyCondition = z
  .object({
    ...conditionFields,
    field: conditionFields.field.describe(
      "`properties.<key>`. Dots lead into objects and into each object of a list, as in " +
        "`properties.items.sku`. A page view has the property `url`.",
    ),
  })
  .meta({ id: "PropertyCondition" });
const SegmentCondition = z
  .object({
    ...conditionFields,
    inLastDays: z
      .number()
      .meta({ minimum: 0, maximum: maxDays })
      .optional()
      .describe(
        "For `event.<eventName>`: counts only the events of the last so many days. Page views " +
          "are kept for 90 days.",
      ),
    where: z
      .array(PropertyCondition)
      .meta({ minItems: 1, maxItems: maxWhere })
      .optional()
      .describe(
        "For `event.<eventName>`: counts only the events whose properties meet all of these " +
          "conditions. With `where` or `inLastDays`, the events are read of each contact that " +
          "meets everything else and that the counts and times on the contact do not decide: at " +
          `most its newest ${maxEventsPerContact} custom events (and page views), for one read ` +
          "unit per 8 KB. Older ones are not counted.",
      ),
    property: z
      .string()
      .meta({ minLength: 1, maxLength: maxProperty })
      .optional()
      .describe(
        "For `lastEvent.<eventName>`: the property to compare, such as `total` or `cart.total`.",
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

/**
 * Schema for rules in requests. Checks by hand, because a zod union could only report that no
 * variant fits.
 */
const createRulesInput = (scope: RuleScope, normalize = (given: unknown) => given) =>
  z
    .unknown()
    .transform((given, context): SegmentRules => {
      const wrong: RuleIssue[] = [];
      const rules = readRules(normalize(given), [], { conditions: 0, scope, issues: wrong });
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

export const SegmentRulesInput = createRulesInput("segment");
/**
 * Rules of a sequence step, which may also test earlier steps, and properties of the event that
 * brought the contact there. Accepts a single condition, too.
 */
export const StepRulesInput = createRulesInput("step", (given) =>
  isObject(given) && "field" in given ? { match: "all", conditions: [given] } : given,
);
/** Filter of an event: rules that contact and event match, with fields `properties.<key>`. */
export const EventFilterInput = createRulesInput("event");
export const EventFilter = SegmentRules.describe(
  "Rules that the contact and the event must match. A condition can name a property of the event " +
    "as `properties.<key>`.",
).meta({
  examples: [
    {
      match: "all",
      conditions: [{ field: "properties.total", operator: "greaterThan", value: 50 }],
    },
  ],
});
