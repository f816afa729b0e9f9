// A condition as DynamoDB decides it in a filter, so that only those are read out who match. What it cannot decide exactly it narrows
// down: `exact` says which of the two it is.
import {
  type Attribute,
  above,
  absent,
  all,
  any,
  atLeast,
  below,
  between,
  type Condition,
  contains,
  equals,
  not,
  oneOf,
  present,
  startsWith,
  typed,
} from "../../conditions.ts";
import { fold, isStorable } from "../contacts/contact.ts";
import { type Context, written } from "./evaluate.ts";
import type { Field } from "./fields.ts";
import { type Kind, negated, type Operator, type Scalar, type Value } from "./operators.ts";
import { daysMs, readTime, stored } from "./times.ts";

export interface Pushed {
  condition: Condition;
  /** Holds for nobody else; otherwise for all who match, and some more. */
  exact: boolean;
}

/** undefined where DynamoDB is of no help. */
export function push(field: Field, operator: Operator, value: Value | undefined, context: Context): Pushed | undefined {
  const positive = negated[operator] ?? operator;
  const pushed = pushers[field.kind][positive]?.(value as Value, { field, ...context });
  if (positive === operator || !pushed) return pushed;
  // What is left over when too many are taken away would be too few.
  return pushed.exact ? exactly(not(pushed.condition)) : undefined;
}

type Pusher = (value: Value, at: Context & { field: Field }) => Pushed | undefined;
type Pushers = Partial<Record<Operator, Pusher>>;

const exactly = (condition: Condition): Pushed => ({ condition, exact: true });
const roughly = (condition: Condition): Pushed => ({ condition, exact: false });
/** Every contact has an id. */
const nobody = absent("id");

const among = (attribute: Attribute, values: unknown[]): Condition =>
  values.length === 1 ? equals(attribute, values[0]) : oneOf(attribute, values);

/** Holds for the field, or for its folded text where it has one: a text without one is folded as it is. */
const folded = ({ attribute, folded: key }: Field, test: (attribute: Attribute) => Condition): Condition =>
  any(test(attribute), test(["folded", key!]));

const onText =
  (test: (attribute: Attribute, value: string) => Condition): Pusher =>
  (value, { field }) =>
    exactly(folded(field, (attribute) => test(attribute, fold(value as string))));

// The text that is searched has a line break after the address, and nowhere else.
const endsWith: Pusher = (value, { field }) =>
  field.attribute === "email" && /^[\x21-\x7e]+$/.test(value as string)
    ? exactly(contains("search", `${(value as string).toLowerCase()}\n`))
    : roughly(folded(field, (attribute) => contains(attribute, fold(value as string))));

const texts: Pushers = {
  equals: onText(equals),
  in: (values, { field }) => exactly(folded(field, (attribute) => among(attribute, (values as string[]).map(fold)))),
  contains: onText(contains),
  startsWith: onText(startsWith),
  endsWith,
  exists: (_, { field }) => exactly(above(field.attribute, "")),
};

/** As written: "5" is the number as well as the text. */
function writtenAs({ field }: { field: Field }, values: Scalar[]): Condition {
  const forms = [...new Set(values.map((value) => written(value)!))];
  const numbers = forms.map(Number).filter((n, i) => isStorable(n) && String(n) === forms[i]);
  const truths = [true, false].filter((truth) => forms.includes(String(truth)));
  return any(
    folded(field, (attribute) => among(attribute, forms)),
    ...(numbers.length ? [among(field.attribute, numbers)] : []),
    ...truths.map((truth) => equals(field.attribute, truth)),
  );
}

/** A score or count that was never set is 0. */
const orNever = ({ kind, attribute }: Field, zero: boolean, condition: Condition): Pushed =>
  exactly(kind === "number" && zero ? any(condition, absent(attribute)) : condition);

const numbers: Pushers = {
  equals: (value, { field }) => orNever(field, value === 0, equals(field.attribute, value)),
  in: (values, { field }) => orNever(field, (values as number[]).includes(0), among(field.attribute, values as number[])),
  greaterThan: (value, { field }) => orNever(field, (value as number) < 0, above(field.attribute, value)),
  lessThan: (value, { field }) => orNever(field, (value as number) > 0, below(field.attribute, value)),
  exists: (_, { field: { attribute } }) => exactly(all(present(attribute), not(equals(attribute, 0)))),
};

const onTime =
  (test: (attribute: Attribute, from: string, until: string) => Condition): Pusher =>
  (value, { field }) => {
    const { from, until } = readTime(value)!;
    return exactly(test(field.attribute, stored(from), stored(until)));
  };

const times: Pushers = {
  equals: onTime((attribute, from, until) => all(atLeast(attribute, from), below(attribute, until))),
  before: onTime((attribute, from) => below(attribute, from)),
  after: onTime((attribute, _, until) => atLeast(attribute, until)),
  inLastDays: (days, { field, now }) =>
    exactly(between(field.attribute, stored(Math.ceil(now.getTime() - daysMs(days as number))), now.toISOString())),
  exists: (_, { field }) => exactly(present(field.attribute)),
};

const inGroups: Pusher = (values, { field, groups }) => {
  const ids = [...new Set([values].flat().flatMap((value) => groups[field.group!].idOf(value) ?? []))];
  return exactly(ids.length ? any(...ids.map((id) => contains(field.attribute, id))) : nobody);
};

const inFlags: Pusher = (_, { field }) => exactly(contains(field.attribute, field.member));

/** People write dates in many ways: whoever has anything there is looked at. */
const anyText: Pusher = (_, { field }) => roughly(above(field.attribute, ""));

const pushers: Record<Kind, Pushers> = {
  text: texts,
  status: {
    equals: (value) => exactly(equals("status", value)),
    in: (values) => exactly(among("status", values as string[])),
    exists: () => exactly(present("status")),
  },
  id: numbers,
  number: numbers,
  time: times,
  group: {
    equals: inGroups,
    contains: inGroups,
    in: inGroups,
    // One that is left may be dead: then each contact has to be looked at.
    exists: (_, { field, groups }) => ({ condition: present(field.attribute), exact: groups[field.group!].dead.size === 0 }),
  },
  custom: {
    ...texts,
    equals: (value, at) => exactly(writtenAs(at, [value as Scalar])),
    in: (values, at) => exactly(writtenAs(at, values as Scalar[])),
    greaterThan: (value, { field }) => exactly(above(field.attribute, value)),
    lessThan: (value, { field }) => exactly(below(field.attribute, value)),
    before: anyText,
    after: anyText,
    inLastDays: anyText,
    exists: (_, { field: { attribute } }) => exactly(any(above(attribute, ""), typed(attribute, "N"), typed(attribute, "BOOL"))),
  },
  flag: {
    exists: inFlags,
    equals: (value, at) => {
      const has = inFlags(value, at)!;
      return value === true ? has : exactly(not(has.condition));
    },
  },
};
