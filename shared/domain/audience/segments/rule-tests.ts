// Tests a condition on a contact in code: where DynamoDB cannot decide it, and to explain results.
import type { GroupKind } from "../../../keys.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { caseFold } from "../contacts/contact-search-text.ts";
import { type CustomFieldType, parseFieldValue } from "../contacts/parse-field-value.ts";
import type { MailTopic } from "../topics/topic-subscription.ts";
import { createDateTest, isDate, needsDate } from "./date-tests.ts";
import {
  type Operator,
  positiveOperators,
  type RuleValue,
  type Scalar,
  type SegmentFieldKind,
} from "./rule-operators.ts";
import { daysToMs, parseRuleTime } from "./rule-times.ts";
import type { SegmentField } from "./segment-fields.ts";

export interface RuleContext {
  now: Date;
  groups: Record<GroupKind, GroupLookup>;
  /** The topics of the site, by id, if the rules name any. */
  topics?: Map<number, MailTopic>;
  /** The spelling of a custom field that the site uses. */
  spellingOf?: (field: string) => string;
  /** The declared type of a custom field. */
  typeOf?: (field: string) => CustomFieldType | undefined;
  /** Time zone of contacts without one. Defaults to UTC. */
  timezone?: string;
}
export interface GroupLookup {
  /** The id for an id or a name; undefined when the group does not exist. */
  idOf(value: Scalar): number | undefined;
  /** Ids of deleted groups that contacts may still have. */
  deletedIds: Set<number>;
}

export type ContactTest = (contact: ContactItem) => boolean;

/** A condition with the field that its name stands for. */
export interface FieldCondition {
  field: SegmentField;
  operator: Operator;
  value: RuleValue | undefined;
}

export function createTest(condition: FieldCondition, context: RuleContext): ContactTest {
  const holds = createValueTest(condition, context);
  return (contact) => holds(readField(condition.field, contact), contact);
}

/** Tests a value of the field. Dates are days of the contact. */
export type ContactValueTest = (actual: unknown, contact: Pick<ContactItem, "timezone">) => boolean;

/** Tests a value of the field. */
export function createValueTest(
  { field, operator, value }: FieldCondition,
  context: RuleContext,
): ContactValueTest {
  const inZone = createDateTest({ field, operator, value }, context);
  if (inZone) return inZone;
  const positive = positiveOperators[operator] ?? operator;
  const factory = field.type === "list" ? listTests[positive] : undefined;
  const holds = (factory ?? testFactories[field.kind][positive]!)(value as RuleValue, {
    field,
    ...context,
  });
  if (positive === operator) return holds;
  return needsDate({ field, operator })
    ? (actual) => isDate(actual) && !holds(actual)
    : (actual) => !holds(actual);
}

/** Values to compare with a number or yes or no, as the declared type reads them. */
export function readRuleValue(
  { type }: SegmentField,
  value: RuleValue | undefined,
): RuleValue | undefined {
  if (value === undefined || (type !== "number" && type !== "boolean")) return value;
  const read = (one: Scalar): Scalar => {
    const { value: parsed } = { value: one, ...parseFieldValue(type, one, { timezone: "UTC" }) };
    return (parsed as Scalar | null) ?? one;
  };
  return Array.isArray(value) ? value.map(read) : read(value);
}

export function readField({ kind, attribute }: SegmentField, contact: ContactItem): unknown {
  const [name, ...path] = [attribute].flat() as [string, ...string[]];
  const value = readOwn(contact, name);
  return kind === "property"
    ? readProperty(value, path[0]!)
    : path.reduce<unknown>((at, step) => readOwn(at, step), value);
}

const readOwn = (at: unknown, name: string): unknown =>
  isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;

/**
 * A value of an event's properties. A dot leads into an object, and into each object of a list: the
 * result is the list of their values. A name that contains dots itself comes first.
 */
export function readProperty(at: unknown, path: string): unknown {
  if (Array.isArray(at)) {
    const found = at.flatMap((one) => readProperty(one, path) ?? []);
    return found.length ? found : undefined;
  }
  const dot = path.indexOf(".");
  if (dot < 0 || readOwn(at, path) !== undefined) return readOwn(at, path);
  return readProperty(readOwn(at, path.slice(0, dot)), path.slice(dot + 1));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

type ValueTest = (actual: unknown) => boolean;
type TestFactory = (value: RuleValue, at: RuleContext & { field: SegmentField }) => ValueTest;
type TestFactories = Partial<Record<Operator, TestFactory>>;

/** Text for comparison: 5 equals "5". Undefined for other types. */
export const toComparableText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? caseFold(String(value))
    : undefined;

const equalsAnyOf =
  (values: Scalar[]): ValueTest =>
  (actual) =>
    values.some((value) => toComparableText(actual) === toComparableText(value));

const onText =
  (holds: (actual: string, value: string) => boolean): TestFactory =>
  (value) => {
    const folded = caseFold(value as string);
    return (actual) => {
      const text = toComparableText(actual);
      return text !== undefined && holds(text, folded);
    };
  };

const texts: TestFactories = {
  equals: (value) => equalsAnyOf([value as Scalar]),
  in: (values) => equalsAnyOf(values as Scalar[]),
  contains: onText((actual, value) => actual.includes(value)),
  startsWith: onText((actual, value) => actual.startsWith(value)),
  endsWith: onText((actual, value) => actual.endsWith(value)),
  exists: () => (actual) => toComparableText(actual) !== undefined && actual !== "",
};

const onNumber =
  (holds: (actual: number, value: number) => boolean): TestFactory =>
  (value, { field }) =>
  (actual) => {
    // A score or count that was never set is 0.
    const n = field.kind === "number" ? (actual ?? 0) : actual;
    return typeof n === "number" && holds(n, value as number);
  };

const numbers: TestFactories = {
  equals: onNumber((actual, value) => actual === value),
  in: (values, at) => {
    const each = (values as number[]).map((value) => numbers.equals!(value, at));
    return (actual) => each.some((holds) => holds(actual));
  },
  greaterThan: onNumber((actual, value) => actual > value),
  lessThan: onNumber((actual, value) => actual < value),
  exists: onNumber((actual) => actual !== 0),
};

const onTime =
  (holds: (actual: number, from: number, until: number) => boolean): TestFactory =>
  (value) => {
    const { from, until } = parseRuleTime(value)!;
    return (actual) => {
      const span = parseRuleTime(actual);
      return span !== undefined && holds(span.from, from, until);
    };
  };

const times: TestFactories = {
  equals: onTime((actual, from, until) => actual >= from && actual < until),
  before: onTime((actual, from) => actual < from),
  after: onTime((actual, _, until) => actual >= until),
  inLastDays: (days, { now }) => {
    const [from, to] = [now.getTime() - daysToMs(days as number), now.getTime()];
    return (actual) => {
      const span = parseRuleTime(actual);
      return span !== undefined && span.from >= from && span.from <= to;
    };
  },
  exists: () => (actual) => actual !== undefined && actual !== null,
};

const inGroups: TestFactory = (values, { field, groups }) => {
  const ids = [values].flat().flatMap((value) => groups[field.group!].idOf(value) ?? []);
  return (actual) => ids.some((id) => (actual as Set<number> | undefined)?.has(id));
};

const inFlags: TestFactory =
  (_, { field }) =>
  (actual) =>
    ((actual as Set<number> | undefined)?.has(field.setMember!) === true) !==
    (field.isInverted === true);

const containsAny: TestFactory = (values, at) => {
  const each = (values as Scalar[]).map((value) => texts.contains!(String(value), at));
  return (actual) => each.some((holds) => holds(actual));
};

const customFields: TestFactories = {
  ...texts,
  containsAny,
  greaterThan: numbers.greaterThan!,
  lessThan: numbers.lessThan!,
  before: times.before!,
  after: times.after!,
  inLastDays: times.inLastDays!,
};

/** A list contains its elements, and is in values of which it contains one. */
const eventProperties: TestFactories = {
  ...customFields,
  contains: (value, at) => {
    const hasElement = hasElementOf([value as Scalar]);
    const hasText = customFields.contains!(value, at);
    return (actual) => hasElement(actual) || hasText(actual);
  },
  in: (values, at) => {
    const hasElement = hasElementOf(values as Scalar[]);
    const isOne = customFields.in!(values, at);
    return (actual) => hasElement(actual) || isOne(actual);
  },
  containsAny: (values, at) => {
    const hasElement = hasElementOf(values as Scalar[]);
    const hasText = containsAny(values, at);
    return (actual) => hasElement(actual) || hasText(actual);
  },
  exists: (value, at) => {
    const hasText = customFields.exists!(value, at);
    return (actual) => (isObject(actual) ? Object.keys(actual).length > 0 : hasText(actual));
  },
};

const hasElementOf = (values: Scalar[]): ValueTest => {
  const isOne = equalsAnyOf(values);
  return (actual) =>
    Array.isArray(actual) &&
    actual.some((element) => toComparableText(element) !== undefined && isOne(element));
};

const hasEntry: TestFactory = (values) => hasElementOf([values].flat());

/** Fields that are declared as lists. */
const listTests: TestFactories = {
  equals: hasEntry,
  contains: hasEntry,
  in: hasEntry,
  containsAny: hasEntry,
  exists: (value, at) => {
    const hasText = texts.exists!(value, at);
    return (actual) => (Array.isArray(actual) ? actual.length > 0 : hasText(actual));
  },
};

const testFactories: Record<SegmentFieldKind, TestFactories> = {
  text: texts,
  status: texts,
  id: numbers,
  number: numbers,
  time: times,
  group: {
    equals: inGroups,
    contains: inGroups,
    in: inGroups,
    exists: (_, { field, groups }) => {
      const { deletedIds } = groups[field.group!];
      return (actual) =>
        [...((actual as Set<number> | undefined) ?? [])].some((id) => !deletedIds.has(id));
    },
  },
  custom: customFields,
  property: eventProperties,
  flag: {
    exists: inFlags,
    equals: (value, at) => {
      const has = inFlags(value, at);
      return (actual) => has(actual) === value;
    },
  },
};
