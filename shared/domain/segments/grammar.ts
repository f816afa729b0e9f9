// The rules of a segment: conditions, all or any of which hold, nested. What they may say is written here and nowhere else; whatever
// does not fit is refused with the path that leads to it.
import * as z from "zod";
import { type Field, fieldOf, isOfStep, namesLike } from "./fields.ts";
import { type Operator, operators, type Value, wrongValue } from "./operators.ts";

export interface Condition {
  field: string;
  operator: Operator;
  value?: Value | undefined;
}
export interface Rules {
  match: "all" | "any";
  conditions: (Condition | Rules)[];
}

export const maxDepth = 5;
export const maxConditions = 100;
export const maxBytes = 20_000;

export const isRules = (node: Condition | Rules): node is Rules => "conditions" in node;

const Condition = z
  .object({
    field: z
      .string()
      .describe(
        "A field of the contact (`email`, `firstName`, `lastName`, `phone`, `company`, `timezone`, `source`, `status`, `score`, `sendCount`, `openCount`, `clickCount`, `createdAt`, `updatedAt`, `lastSentAt`, `lastOpenedAt`, `lastClickedAt`, `id`, `siteId`); `tag` or `list`, also spelled `tags` and `lists` (its id, or its name); `customFields.<key>`; `event.<eventName>` (how often the custom event happened); `form.<id>` (it was submitted); `campaign.<id>.sent`, `.opened` or `.clicked` (for the latest 200 campaigns of each contact)",
      ),
    operator: z
      .enum(operators)
      .describe(
        'Texts: equals, notEquals, contains, notContains, startsWith, endsWith, in, notIn, exists, notExists; their case does not matter. Numbers and counts: equals, notEquals, greaterThan, lessThan, in, notIn, exists, notExists; a score or count that was never set is 0, and 0 does not exist. Times: before, after, equals, notEquals, inLastDays, notInLastDays, exists, notExists; a date is the whole day in UTC. Tags and lists: equals, notEquals, contains, notContains, in, notIn, exists, notExists. Forms and campaigns: exists, notExists, or equals true or false. Custom fields take all of them: as written, so that 5 equals "5"; greaterThan and lessThan hold for numbers, before and after for texts that are a date. The negative operators hold whenever the positive one does not, so also where there is no value; notInLastDays holds for never',
      ),
    value: z
      .union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))])
      .optional()
      .describe("Needed by all but exists and notExists; an array of up to 100 for in and notIn; a number of days for inLastDays"),
  })
  .meta({ id: "SegmentCondition" });

export const Rules: z.ZodType<Rules> = z
  .object({
    match: z.enum(["all", "any"]),
    get conditions(): z.ZodType<(Condition | Rules)[]> {
      return z
        .array(z.union([Condition, z.lazy(() => Rules)]))
        .describe(`None: everyone. At most ${maxConditions} conditions, at most ${maxDepth} levels deep`);
    },
  })
  .meta({
    id: "SegmentRules",
    examples: [
      {
        match: "all",
        conditions: [
          { field: "tag", operator: "equals", value: "customer" },
          { match: "any", conditions: [{ field: "lastOpenedAt", operator: "inLastDays", value: 30 }] },
        ],
      },
    ],
  });

interface Wrong {
  path: PropertyKey[];
  message: string;
}

type FieldOf = (name: string) => Field | undefined;

/** Rules from outside: checked by hand, as a union could only say that neither of the two fits. */
const givenRules = (fields: FieldOf, said = (given: unknown) => given) =>
  z
    .unknown()
    .transform((given, context): Rules => {
      const wrong: Wrong[] = [];
      const rules = readRules(said(given), [], wrong, { conditions: 0, fields });
      if (!wrong.length && Buffer.byteLength(JSON.stringify(rules)) > maxBytes)
        wrong.push({ path: [], message: `must be at most ${maxBytes.toLocaleString("en")} bytes of JSON` });
      for (const { path, message } of wrong) context.addIssue({ code: "custom", path, message, input: given });
      return wrong.length ? z.NEVER : rules;
    })
    .meta({ documentedAs: z.object({}).meta({ $ref: "#/components/schemas/SegmentRules" }) });

export const GivenRules = givenRules((name) => (isOfStep(name) ? undefined : fieldOf(name)));
/** Of a step of a sequence, which may also ask about the steps before. A lone condition is rules with nothing else. */
export const GivenStepRules = givenRules(fieldOf, (given) =>
  isObject(given) && "field" in given ? { match: "all", conditions: [given] } : given,
);

interface Reading {
  /** So far. */
  conditions: number;
  fields: FieldOf;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function readRules(given: unknown, path: PropertyKey[], wrong: Wrong[], reading: Reading): Rules {
  const nothing: Rules = { match: "all", conditions: [] };
  const say = (message: string, ...at: PropertyKey[]) => {
    wrong.push({ path: [...path, ...at], message });
    return nothing;
  };
  if (!isObject(given)) return say("must be an object with match and conditions");
  const { match, conditions } = given;
  if (match !== "all" && match !== "any") say("must be all or any", "match");
  if (!Array.isArray(conditions)) return say("must be an array", "conditions");
  if (path.length && !conditions.length) return say("must have at least one condition", "conditions");
  if (path.length / 2 >= maxDepth) return say(`must be nested at most ${maxDepth} levels deep`);
  return { match: match as "all" | "any", conditions: readAll(conditions, [...path, "conditions"], wrong, reading) };
}

function readAll(given: unknown[], path: PropertyKey[], wrong: Wrong[], reading: Reading): (Condition | Rules)[] {
  const read: (Condition | Rules)[] = [];
  for (const [i, one] of given.entries()) {
    const nested = isObject(one) && ("conditions" in one || "match" in one);
    if (!nested && ++reading.conditions > maxConditions) {
      wrong.push({ path, message: `must be at most ${maxConditions} in all` });
      break;
    }
    read.push(nested ? readRules(one, [...path, i], wrong, reading) : readCondition(one, [...path, i], wrong, reading));
    if (wrong.length >= 20) break;
  }
  return read;
}

function readCondition(given: unknown, path: PropertyKey[], wrong: Wrong[], { fields }: Reading): Condition {
  const { field, operator, value } = isObject(given) ? given : {};
  const condition = { field, operator, ...(value !== undefined && value !== null && { value }) } as Condition;
  const found = isObject(given) ? wrongIn(fields, field, operator, value ?? undefined) : notObject;
  if (found) wrong.push({ path: found.at ? [...path, found.at] : path, message: found.message });
  return condition;
}

interface Objection {
  at?: string;
  message: string;
}
const notObject: Objection = { message: "must be a condition, or rules with match and conditions" };

function wrongIn(fields: FieldOf, field: unknown, operator: unknown, value: unknown): Objection | undefined {
  if (typeof field !== "string") return { at: "field", message: "must be the name of a field" };
  const known = fields(field);
  if (!known) {
    const there = namesLike(field, { ofSteps: fields("step.1.opened") !== undefined });
    return { at: "field", message: `there is no field ${field.slice(0, 60)}: there are ${there.join(", ")} (the most like it first)` };
  }
  if (!known.operators.includes(operator as Operator))
    return { at: "operator", message: `must be one of ${known.operators.join(", ")} for ${field.slice(0, 150)}` };
  const message = wrongValue(known, operator as Operator, value);
  return message === undefined ? undefined : { at: "value", message };
}
