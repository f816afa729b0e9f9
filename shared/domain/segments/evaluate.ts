// A condition asked of a contact in code: for what DynamoDB cannot decide, and to explain what was decided.
import type { GroupKind } from "../../keys.ts";
import { type ContactItem, fold } from "../contacts/contact.ts";
import type { Field } from "./fields.ts";
import { type Kind, negated, type Operator, type Scalar, type Value } from "./operators.ts";
import { daysMs, readTime } from "./times.ts";

/** What a condition means depends on: the time, and which lists and tags there are. */
export interface Context {
  now: Date;
  groups: Record<GroupKind, Groups>;
}
export interface Groups {
  /** Of an id or a name; undefined when there is none. */
  idOf(value: Scalar): number | undefined;
  /** Deleted, and perhaps still carried. */
  dead: Set<number>;
}

export type Test = (contact: ContactItem) => boolean;

export function tester(field: Field, operator: Operator, value: Value | undefined, context: Context): Test {
  const positive = negated[operator] ?? operator;
  const holds = makers[field.kind][positive]!(value as Value, { field, ...context });
  const test: Test = (contact) => holds(carriedBy(field, contact));
  return positive === operator ? test : (contact) => !test(contact);
}

/** What the contact carries: undefined for nothing. */
export const carriedBy = ({ attribute }: Field, contact: ContactItem): unknown =>
  [attribute].flat().reduce<unknown>((at, step) => (isPlain(at) && Object.hasOwn(at, step) ? at[step] : undefined), contact);

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

type Holds = (actual: unknown) => boolean;
type Maker = (value: Value, at: Context & { field: Field }) => Holds;
type Makers = Partial<Record<Operator, Maker>>;

/** A value as it is written: 5 equals "5". undefined for what is no value. */
export const written = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? fold(String(value)) : undefined;

const sameAsAny =
  (values: Scalar[]): Holds =>
  (actual) =>
    values.some((value) => written(actual) === written(value));

const onText =
  (holds: (actual: string, value: string) => boolean): Maker =>
  (value) => {
    const folded = fold(value as string);
    return (actual) => typeof actual === "string" && holds(fold(actual), folded);
  };

const texts: Makers = {
  equals: (value) => sameAsAny([value as Scalar]),
  in: (values) => sameAsAny(values as Scalar[]),
  contains: onText((actual, value) => actual.includes(value)),
  startsWith: onText((actual, value) => actual.startsWith(value)),
  endsWith: onText((actual, value) => actual.endsWith(value)),
  exists: () => (actual) => written(actual) !== undefined && actual !== "",
};

const onNumber =
  (holds: (actual: number, value: number) => boolean): Maker =>
  (value, { field }) =>
  (actual) => {
    // A score or count that was never set is 0.
    const n = field.kind === "number" ? (actual ?? 0) : actual;
    return typeof n === "number" && holds(n, value as number);
  };

const numbers: Makers = {
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
  (holds: (actual: number, from: number, until: number) => boolean): Maker =>
  (value) => {
    const { from, until } = readTime(value)!;
    return (actual) => {
      const span = readTime(actual);
      return span !== undefined && holds(span.from, from, until);
    };
  };

const times: Makers = {
  equals: onTime((actual, from, until) => actual >= from && actual < until),
  before: onTime((actual, from) => actual < from),
  after: onTime((actual, _, until) => actual >= until),
  inLastDays: (days, { now }) => {
    const [from, to] = [now.getTime() - daysMs(days as number), now.getTime()];
    return (actual) => {
      const span = readTime(actual);
      return span !== undefined && span.from >= from && span.from <= to;
    };
  },
  exists: () => (actual) => actual !== undefined && actual !== null,
};

const inGroups: Maker = (values, { field, groups }) => {
  const ids = [values].flat().flatMap((value) => groups[field.group!].idOf(value) ?? []);
  return (actual) => ids.some((id) => (actual as Set<number> | undefined)?.has(id));
};

const inFlags: Maker =
  (_, { field }) =>
  (actual) =>
    (actual as Set<number> | undefined)?.has(field.member!) === true;

const makers: Record<Kind, Makers> = {
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
      const { dead } = groups[field.group!];
      return (actual) => [...((actual as Set<number> | undefined) ?? [])].some((id) => !dead.has(id));
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
