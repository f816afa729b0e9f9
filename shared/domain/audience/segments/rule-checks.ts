// Checks rules from requests by hand, and reports each error with its path.
import { checkValue, type Operator } from "./rule-operators.ts";
import {
  type EventFact,
  isPropertyField,
  isStepField,
  parseField,
  type RuleScope,
  type SegmentField,
  suggestFieldNames,
} from "./segment-fields.ts";
import type { PropertyCondition, SegmentCondition, SegmentRules } from "./segment-rules.ts";

export const maxDepth = 5;
export const maxConditions = 100;
export const maxBytes = 20_000;
/** Conditions in one `where`. They count as conditions of the rules, too. */
export const maxWhere = 20;
/** Length of the name of a property. */
export const maxProperty = 100;

export interface RuleIssue {
  path: PropertyKey[];
  message: string;
}
interface CheckState {
  /** Number of conditions so far. */
  conditions: number;
  scope: RuleScope;
  issues: RuleIssue[];
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function readRules(given: unknown, path: PropertyKey[], state: CheckState): SegmentRules {
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
  state: CheckState,
): (SegmentCondition | SegmentRules)[] {
  const read: (SegmentCondition | SegmentRules)[] = [];
  for (const [i, one] of given.entries()) {
    const nested = isObject(one) && ("conditions" in one || "match" in one);
    if (!nested) state.conditions += conditionsIn(one);
    if (state.conditions > maxConditions) {
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

const conditionsIn = (condition: unknown): number =>
  isObject(condition) && Array.isArray(condition.where) ? 1 + condition.where.length : 1;

function readCondition(
  given: unknown,
  path: PropertyKey[],
  { scope, issues }: CheckState,
): SegmentCondition {
  const condition: SegmentCondition = readComparison(given, path, { scope, issues });
  if (!isObject(given) || typeof condition.field !== "string") return condition;
  const fact = parseField(condition.field)?.event?.fact;
  const checks = Object.keys(optionChecks) as (keyof typeof optionChecks)[];
  for (const name of checks) {
    const value = given[name] ?? undefined;
    const found = checkOption(name, value, fact);
    issues.push(...found.map((issue) => ({ ...issue, path: [...path, name, ...issue.path] })));
    if (value !== undefined && !found.length) Object.assign(condition, { [name]: value });
  }
  if (condition.where)
    condition.where = condition.where.map((one, i) =>
      readComparison(one, [...path, "where", i], { scope: "where", issues }),
    );
  return condition;
}

interface OptionCheck {
  field: string;
  fact: EventFact;
  isRequired?: true;
  check(value: unknown): string | undefined;
}
const optionChecks: Record<"inLastDays" | "where" | "property", OptionCheck> = {
  inLastDays: {
    field: "event.<name>",
    fact: "count",
    check: (value) => checkValue({ kind: "time" }, "inLastDays", value),
  },
  where: {
    field: "event.<name>",
    fact: "count",
    check: (value) =>
      Array.isArray(value) && value.length >= 1 && value.length <= maxWhere
        ? undefined
        : `must be an array of 1 to ${maxWhere} conditions on properties`,
  },
  property: {
    field: "lastEvent.<name>",
    fact: "latest",
    isRequired: true,
    check: (value) =>
      typeof value === "string" && value.length >= 1 && value.length <= maxProperty
        ? undefined
        : `must be the name of a property, of 1 to ${maxProperty} characters`,
  },
};

/** Issues whose path begins at the option. */
function checkOption(
  name: keyof typeof optionChecks,
  value: unknown,
  fact: EventFact | undefined,
): RuleIssue[] {
  const { field, fact: only, isRequired, check } = optionChecks[name];
  if (value === undefined && !(isRequired && fact === only)) return [];
  const message = fact === only ? check(value) : `must not be given: only ${field} takes it`;
  return message === undefined ? [] : [{ path: [], message }];
}

/** Field, operator and value. */
function readComparison(
  given: unknown,
  path: PropertyKey[],
  { scope, issues }: Pick<CheckState, "scope" | "issues">,
): PropertyCondition {
  const { field, operator, value } = isObject(given) ? given : {};
  const condition = {
    field,
    operator,
    ...(value !== undefined && value !== null && { value }),
  } as PropertyCondition;
  const found = isObject(given)
    ? checkComparison(scope, { field, operator, value: value ?? undefined })
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

function checkComparison(
  scope: RuleScope,
  { field, operator, value }: { field: unknown; operator: unknown; value: unknown },
): ConditionIssue | undefined {
  if (typeof field !== "string") return { at: "field", message: "must be the name of a field" };
  const known = findField(scope, field);
  if (!known) return { at: "field", message: unknownField(scope, field) };
  if (!known.operators.includes(operator as Operator))
    return {
      at: "operator",
      message: `must be one of ${known.operators.join(", ")} for ${field.slice(0, 150)}`,
    };
  const message = checkValue(known, operator as Operator, value);
  return message === undefined ? undefined : { at: "value", message };
}

const findField = (scope: RuleScope, name: string): SegmentField | undefined => {
  if (isStepField(name) && scope !== "step") return undefined;
  if (isPropertyField(name) ? !takesProperties(scope) : scope === "where") return undefined;
  return parseField(name);
};
const takesProperties = (scope: RuleScope): boolean => scope !== "segment";

function unknownField(scope: RuleScope, name: string): string {
  const shown = name.slice(0, 60);
  if (scope === "where") return "must be properties.<key>: a property of the event";
  return isPropertyField(name) && scope === "segment"
    ? `${shown} is a property of an event, which only filters of events can compare`
    : `unknown field ${shown}; known fields, the closest first: ` +
        suggestFieldNames(name, scope).join(", ");
}
