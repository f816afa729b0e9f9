// Tests a condition on a contact in code: where DynamoDB cannot decide it, and to explain results.
import type { GroupKind } from "../../../keys.ts";
import { type ContactItem, caseFold } from "../contacts/contact-schema.ts";
import type { MailTopic } from "../topics/topic-subscription.ts";
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
  /** The spellings of a custom field, the one that is used first. */
  spellings?: (field: string) => string[];
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

export function createTest(
  { field, operator, value }: FieldCondition,
  context: RuleContext,
): ContactTest {
  const positive = positiveOperators[operator] ?? operator;
  const holds = testFactories[field.kind][positive]!(value as RuleValue, { field, ...context });
  const test: ContactTest = (contact) => holds(readField(field, contact));
  return positive === operator ? test : (contact) => !test(contact);
}

export const readField = (
  { attribute, spellings }: SegmentField,
  contact: ContactItem,
): unknown => {
  const spelling = spellings?.find(
    (one) => contact.customFields && Object.hasOwn(contact.customFields, one),
  );
  return at(spelling === undefined ? attribute : ["customFields", spelling], contact);
};

const at = (attribute: SegmentField["attribute"], contact: ContactItem): unknown =>
  [attribute]
    .flat()
    .reduce<unknown>(
      (at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
      contact,
    );

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
  custom: {
    ...texts,
    greaterThan: numbers.greaterThan!,
    lessThan: numbers.lessThan!,
    before: times.before!,
    after: times.after!,
    inLastDays: times.inLastDays!,
  },
  flag: {
    exists: inFlags,
    equals: (value, at) => {
      const has = inFlags(value, at);
      return (actual) => has(actual) === value;
    },
  },
};
