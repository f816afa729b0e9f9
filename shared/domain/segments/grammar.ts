// The rules of a segment: conditions, all or any of which hold, nested. What they may say is written here and nowhere else; whatever
// does not fit is refused with the path that leads to it.
import * as z from "zod";
import { type Field, fieldOf } from "./fields.ts";
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
        "A field of the contact (`email`, `firstName`, `lastName`, `phone`, `company`, `timezone`, `source`, `status`, `score`, `sendCount`, `openCount`, `clickCount`, `createdAt`, `updatedAt`, `lastSentAt`, `lastOpenedAt`, `lastClickedAt`, `id`, `siteId`); `tag` or `list` (its id, or its name); `customFields.<key>`; `event.<eventName>` (how often the custom event happened); `form.<id>` (it was submitted); `campaign.<id>.sent`, `.opened` or `.clicked` (for the latest 200 campaigns of each contact)",
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

/** Rules from outside: checked by hand, as a union could only say that neither of the two fits. */
export const GivenRules = z
  .unknown()
  .transform((given, context): Rules => {
    const wrong: Wrong[] = [];
    const rules = readRules(given, [], wrong, { conditions: 0 });
    if (!wrong.length && Buffer.byteLength(JSON.stringify(rules)) > maxBytes)
      wrong.push({ path: [], message: `must be at most ${maxBytes.toLocaleString("en")} bytes of JSON` });
    for (const { path, message } of wrong) context.addIssue({ code: "custom", path, message, input: given });
    return wrong.length ? z.NEVER : rules;
  })
  .meta({ documentedAs: z.object({}).meta({ $ref: "#/components/schemas/SegmentRules" }) });

interface Count {
  conditions: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function readRules(given: unknown, path: PropertyKey[], wrong: Wrong[], count: Count): Rules {
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
  return { match: match as "all" | "any", conditions: readAll(conditions, [...path, "conditions"], wrong, count) };
}

function readAll(given: unknown[], path: PropertyKey[], wrong: Wrong[], count: Count): (Condition | Rules)[] {
  const read: (Condition | Rules)[] = [];
  for (const [i, one] of given.entries()) {
    const nested = isObject(one) && ("conditions" in one || "match" in one);
    if (!nested && ++count.conditions > maxConditions) {
      wrong.push({ path, message: `must be at most ${maxConditions} in all` });
      break;
    }
    read.push(nested ? readRules(one, [...path, i], wrong, count) : readCondition(one, [...path, i], wrong));
    if (wrong.length >= 20) break;
  }
  return read;
}

function readCondition(given: unknown, path: PropertyKey[], wrong: Wrong[]): Condition {
  const { field, operator, value } = isObject(given) ? given : {};
  const condition = { field, operator, ...(value !== undefined && value !== null && { value }) } as Condition;
  const found = wrongIn(isObject(given), field, operator, value ?? undefined);
  if (found) wrong.push({ path: found.at ? [...path, found.at] : path, message: found.message });
  return condition;
}

function wrongIn(object: boolean, field: unknown, operator: unknown, value: unknown): { at?: string; message: string } | undefined {
  if (!object) return { message: "must be a condition, or rules with match and conditions" };
  const known: Field | undefined = typeof field === "string" ? fieldOf(field) : undefined;
  if (!known)
    return { at: "field", message: typeof field === "string" ? `there is no field ${field.slice(0, 150)}` : "must be the name of a field" };
  if (!known.operators.includes(operator as Operator))
    return { at: "operator", message: `must be one of ${known.operators.join(", ")} for ${String(field).slice(0, 150)}` };
  const message = wrongValue(known, operator as Operator, value);
  return message === undefined ? undefined : { at: "value", message };
}
