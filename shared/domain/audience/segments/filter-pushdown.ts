// Filter pushdown: turns a condition into a DynamoDB filter. An exact filter decides alone; another
// one passes all matching contacts and some more, and a test in code follows.
import {
  type AttributePath,
  absent,
  all,
  any,
  atLeast,
  between,
  type Condition,
  contains,
  equals,
  greaterThan,
  hasType,
  lessThan,
  not,
  oneOf,
  present,
  startsWith,
} from "../../../adapters/dynamodb/conditions.ts";
import { isStorableNumber } from "../../../kernel/stored-json.ts";
import { caseFold } from "../contacts/contact-search-text.ts";
import { isAboutDates, toDateFilter } from "./date-tests.ts";
import {
  type Operator,
  positiveOperators,
  type RuleValue,
  type Scalar,
  type SegmentFieldKind,
} from "./rule-operators.ts";
import { type FieldCondition, type RuleContext, toComparableText } from "./rule-tests.ts";
import { daysToMs, parseRuleTime, toIsoTime } from "./rule-times.ts";
import type { SegmentField } from "./segment-fields.ts";

export interface PushedFilter {
  condition: Condition;
  /** False when the filter also passes contacts that do not match. */
  exact: boolean;
}

/** Undefined when DynamoDB cannot evaluate the condition. */
export function toFilter(
  { field, operator, value }: FieldCondition,
  context: RuleContext,
): PushedFilter | undefined {
  if (field.mails || field.kind === "property") return undefined;
  const condition = { field, operator, value };
  const dateFilter = toDateFilter(condition, context);
  if (dateFilter) return widerFilter(dateFilter);
  if (isAboutDates(condition)) return undefined;
  const positive = positiveOperators[operator] ?? operator;
  const factory = field.type === "list" ? listFilters[positive] : undefined;
  const pushed = (factory ?? filterFactories[field.kind][positive])?.(value as RuleValue, {
    field,
    ...context,
  });
  if (positive === operator || !pushed) return pushed;
  // Negating a filter that passes too many contacts would lose matches, so only an exact filter is
  // negated.
  return pushed.exact ? exactFilter(not(pushed.condition)) : undefined;
}

type FilterFactory = (
  value: RuleValue,
  at: RuleContext & { field: SegmentField },
) => PushedFilter | undefined;
type FilterFactories = Partial<Record<Operator, FilterFactory>>;

const exactFilter = (condition: Condition): PushedFilter => ({ condition, exact: true });
const widerFilter = (condition: Condition): PushedFilter => ({ condition, exact: false });
/** Every contact has an id. */
const noContactCondition = absent("id");

const oneOfCondition = (attribute: AttributePath, values: unknown[]): Condition =>
  values.length === 1 ? equals(attribute, values[0]) : oneOf(attribute, values);

/**
 * Tests the field and its stored case-folded text. A field without one equals its case-folded text.
 */
const fieldOrFoldedCondition = (
  { attribute, foldedKey: key }: SegmentField,
  test: (attribute: AttributePath) => Condition,
): Condition => any(test(attribute), test(["folded", key!]));

const onText =
  (test: (attribute: AttributePath, value: string) => Condition): FilterFactory =>
  (value, { field }) =>
    exactFilter(
      fieldOrFoldedCondition(field, (attribute) => test(attribute, caseFold(value as string))),
    );

// The attribute `search` has a line break after the email address, and nowhere else.
const endsWith: FilterFactory = (value, { field }) =>
  field.attribute === "email" && /^[\x21-\x7e]+$/.test(value as string)
    ? exactFilter(contains("search", `${(value as string).toLowerCase()}\n`))
    : widerFilter(
        fieldOrFoldedCondition(field, (attribute) =>
          contains(attribute, caseFold(value as string)),
        ),
      );

const texts: FilterFactories = {
  equals: onText(equals),
  in: (values, { field }) =>
    exactFilter(
      fieldOrFoldedCondition(field, (attribute) =>
        oneOfCondition(attribute, (values as string[]).map(caseFold)),
      ),
    ),
  contains: onText(contains),
  startsWith: onText(startsWith),
  endsWith,
  exists: (_, { field }) => exactFilter(greaterThan(field.attribute, "")),
};

/** Compares values as text: "5" equals the number 5. */
function asTextCondition({ field }: { field: SegmentField }, values: Scalar[]): Condition {
  const forms = [...new Set(values.map((value) => toComparableText(value)!))];
  const numbers = forms.map(Number).filter((n, i) => isStorableNumber(n) && String(n) === forms[i]);
  const truths = [true, false].filter((truth) => forms.includes(String(truth)));
  return any(
    fieldOrFoldedCondition(field, (attribute) => oneOfCondition(attribute, forms)),
    ...(numbers.length ? [oneOfCondition(field.attribute, numbers)] : []),
    ...truths.map((truth) => equals(field.attribute, truth)),
  );
}

/** A score or count that was never set is 0. */
const includeUnset = (
  { kind, attribute }: SegmentField,
  zero: boolean,
  condition: Condition,
): PushedFilter =>
  exactFilter(kind === "number" && zero ? any(condition, absent(attribute)) : condition);

const numbers: FilterFactories = {
  equals: (value, { field }) => includeUnset(field, value === 0, equals(field.attribute, value)),
  in: (values, { field }) =>
    includeUnset(
      field,
      (values as number[]).includes(0),
      oneOfCondition(field.attribute, values as number[]),
    ),
  greaterThan: (value, { field }) =>
    includeUnset(field, (value as number) < 0, greaterThan(field.attribute, value)),
  lessThan: (value, { field }) =>
    includeUnset(field, (value as number) > 0, lessThan(field.attribute, value)),
  exists: (_, { field: { attribute } }) =>
    exactFilter(all(present(attribute), not(equals(attribute, 0)))),
};

const onTime =
  (test: (attribute: AttributePath, from: string, until: string) => Condition): FilterFactory =>
  (value, { field }) => {
    const { from, until } = parseRuleTime(value)!;
    return exactFilter(test(field.attribute, toIsoTime(from), toIsoTime(until)));
  };

const times: FilterFactories = {
  equals: onTime((attribute, from, until) =>
    all(atLeast(attribute, from), lessThan(attribute, until)),
  ),
  before: onTime((attribute, from) => lessThan(attribute, from)),
  after: onTime((attribute, _, until) => atLeast(attribute, until)),
  inLastDays: (days, { field, now }) =>
    exactFilter(
      between(
        field.attribute,
        toIsoTime(Math.ceil(now.getTime() - daysToMs(days as number))),
        now.toISOString(),
      ),
    ),
  exists: (_, { field }) => exactFilter(present(field.attribute)),
};

const inGroups: FilterFactory = (values, { field, groups }) => {
  const ids = [
    ...new Set([values].flat().flatMap((value) => groups[field.group!].idOf(value) ?? [])),
  ];
  return exactFilter(
    ids.length ? any(...ids.map((id) => contains(field.attribute, id))) : noContactCondition,
  );
};

const inFlags: FilterFactory = (_, { field }) => {
  const isMember = contains(field.attribute, field.setMember);
  return exactFilter(field.isInverted ? not(isMember) : isMember);
};

/**
 * Custom fields contain dates in many formats, so every contact with a text in the field is tested
 * in code.
 */
const anyText: FilterFactory = (_, { field }) => widerFilter(greaterThan(field.attribute, ""));

/**
 * DynamoDB can search within texts only, so contacts with a number or boolean in the field are
 * tested in code.
 */
const orWritten =
  (pusher: FilterFactory): FilterFactory =>
  (value, at) => {
    const { attribute } = at.field;
    const others = any(hasType(attribute, "N"), hasType(attribute, "BOOL"));
    return widerFilter(any(pusher(value, at)!.condition, others));
  };

const anyPart: FilterFactory = (values, { field }) =>
  exactFilter(
    any(
      ...(values as Scalar[]).map((value) =>
        fieldOrFoldedCondition(field, (attribute) => contains(attribute, caseFold(String(value)))),
      ),
    ),
  );

const hasScalar = (attribute: AttributePath): Condition =>
  any(greaterThan(attribute, ""), hasType(attribute, "N"), hasType(attribute, "BOOL"));

/** A text that could not be converted to a list passes, too. */
const inList: FilterFactory = (values, { field }) =>
  widerFilter(
    any(
      ...[...new Set([values].flat().map((value) => caseFold(String(value))))].map((value) =>
        fieldOrFoldedCondition(field, (attribute) => contains(attribute, value)),
      ),
    ),
  );

/** Fields that are declared as lists. */
const listFilters: FilterFactories = {
  equals: inList,
  contains: inList,
  in: inList,
  containsAny: inList,
  exists: (_, { field: { attribute } }) =>
    exactFilter(any(hasScalar(attribute), hasType(attribute, "L"))),
};

const filterFactories: Record<SegmentFieldKind, FilterFactories> = {
  text: texts,
  status: {
    equals: (value) => exactFilter(equals("status", value)),
    in: (values) => exactFilter(oneOfCondition("status", values as string[])),
    exists: () => exactFilter(present("status")),
  },
  id: numbers,
  number: numbers,
  time: times,
  group: {
    equals: inGroups,
    contains: inGroups,
    in: inGroups,
    // A contact may still have the id of a deleted group, so it must be tested in code while there
    // are any.
    exists: (_, { field, groups }) => ({
      condition: present(field.attribute),
      exact: groups[field.group!].deletedIds.size === 0,
    }),
  },
  custom: {
    ...texts,
    contains: orWritten(texts.contains!),
    startsWith: orWritten(texts.startsWith!),
    endsWith: orWritten(endsWith),
    equals: (value, at) => exactFilter(asTextCondition(at, [value as Scalar])),
    in: (values, at) => exactFilter(asTextCondition(at, values as Scalar[])),
    greaterThan: (value, { field }) => exactFilter(greaterThan(field.attribute, value)),
    lessThan: (value, { field }) => exactFilter(lessThan(field.attribute, value)),
    containsAny: (values, at) => orWritten(anyPart)(values, at),
    before: anyText,
    after: anyText,
    inLastDays: anyText,
    exists: (_, { field: { attribute } }) => exactFilter(hasScalar(attribute)),
  },
  // An event is not stored with the contact.
  property: {},
  flag: {
    exists: inFlags,
    equals: (value, at) => {
      const has = inFlags(value, at)!;
      return value === true ? has : exactFilter(not(has.condition));
    },
  },
};
