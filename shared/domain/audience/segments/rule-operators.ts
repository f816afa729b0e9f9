// Operators, and the values they take for each kind of field.
import { isStorableNumber } from "../../../kernel/stored-json.ts";
import { contactStatuses } from "../contacts/contact-schema.ts";
import { parseRuleTime } from "./rule-times.ts";
import type { SegmentField } from "./segment-fields.ts";

export const operators = [
  "equals",
  "notEquals",
  "contains",
  "notContains",
  "startsWith",
  "endsWith",
  "greaterThan",
  "lessThan",
  "before",
  "after",
  "inLastDays",
  "notInLastDays",
  "exists",
  "notExists",
  "in",
  "notIn",
  "on",
  "notOn",
  "notBefore",
  "notAfter",
  "inNextDays",
  "notInNextDays",
  "today",
  "notToday",
  "anniversaryInDays",
  "notAnniversaryInDays",
  "containsAny",
  "notContainsAny",
] as const;
export type Operator = (typeof operators)[number];
export type Scalar = string | number | boolean;
export type RuleValue = Scalar | Scalar[];

export type SegmentFieldKind =
  | "text"
  | "status"
  | "id"
  | "number"
  | "time"
  | "group"
  | "custom"
  | "property"
  | "flag";

const existence: Operator[] = ["exists", "notExists"];
const equality: Operator[] = ["equals", "notEquals"];
const choice: Operator[] = ["in", "notIn"];
const parts: Operator[] = ["contains", "notContains"];
const dates: Operator[] = [
  ...(["before", "notBefore", "after", "notAfter", "on", "notOn", "today", "notToday"] as const),
  ...(["inLastDays", "notInLastDays", "inNextDays", "notInNextDays"] as const),
  ...(["anniversaryInDays", "notAnniversaryInDays"] as const),
];
const order: Operator[] = ["greaterThan", "lessThan"];
export const operatorsByKind: Record<SegmentFieldKind, Operator[]> = {
  text: [...equality, ...parts, "startsWith", "endsWith", ...existence, ...choice],
  status: [...equality, ...existence, ...choice],
  id: [...equality, ...order, ...existence, ...choice],
  number: [...equality, ...order, ...existence, ...choice],
  time: [...equality, ...dates, ...existence],
  group: [...equality, ...parts, ...existence, ...choice],
  custom: [...operators],
  property: [...operators],
  flag: [...equality, ...existence],
};

/**
 * A negative operator holds whenever its positive one does not; those of dates only for a date: see
 * date-tests.ts.
 */
export const positiveOperators: Partial<Record<Operator, Operator>> = {
  notEquals: "equals",
  notContains: "contains",
  notInLastDays: "inLastDays",
  notExists: "exists",
  notIn: "in",
  notOn: "on",
  notBefore: "before",
  notAfter: "after",
  notInNextDays: "inNextDays",
  notToday: "today",
  notAnniversaryInDays: "anniversaryInDays",
  notContainsAny: "containsAny",
};

export const maxChoices = 100;
export const maxDays = 36_500;
export const maxText = 2000;

type ValueCheck = (value: unknown) => string | undefined;
const createCheck =
  (holds: (value: unknown) => boolean, message: string): ValueCheck =>
  (value) =>
    holds(value) ? undefined : message;

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length >= 1 && value.length <= maxText;
const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

const text = createCheck(isText, `must be a string of 1 to ${maxText} characters`);
const number = createCheck(isStorableNumber, "must be a number");
const status = createCheck(
  (value) => (contactStatuses as readonly unknown[]).includes(value),
  `must be one of ${contactStatuses.join(", ")}`,
);
const group = createCheck((value) => isText(value) || isId(value), "must be an id or a name");
const flag = createCheck((value) => typeof value === "boolean", "must be true or false");
const time = createCheck(
  (value) => parseRuleTime(value) !== undefined,
  "must be a date such as 2026-12-31, or a date and time such as 2026-12-31T09:00:00Z",
);
const anything = createCheck(
  (value) => isText(value) || isStorableNumber(value) || typeof value === "boolean",
  `must be a string of 1 to ${maxText} characters, a number, true or false`,
);
const days = createCheck(
  (value) => isStorableNumber(value) && value > 0 && value <= maxDays,
  `must be a number of days, at most ${maxDays}`,
);
const daysOfYear = createCheck(
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 366,
  "must be a whole number of days from 0 to 366",
);
const nothing = createCheck(
  (value) => value === undefined,
  "must not be given: the operator takes no value",
);

const checksByKind: Record<SegmentFieldKind, ValueCheck> = {
  text,
  status,
  id: number,
  number,
  time,
  group,
  custom: anything,
  property: anything,
  flag,
};
const checksByOperator: Partial<Record<Operator, ValueCheck>> = {
  contains: text,
  startsWith: text,
  endsWith: text,
  greaterThan: number,
  lessThan: number,
  before: time,
  after: time,
  inLastDays: days,
  exists: nothing,
  on: time,
  inNextDays: days,
  today: nothing,
  anniversaryInDays: daysOfYear,
};

/** Returns an error message, or undefined if the value fits the field and operator. */
export function checkValue(
  { kind }: Pick<SegmentField, "kind">,
  operator: Operator,
  value: unknown,
): string | undefined {
  const positive = positiveOperators[operator] ?? operator;
  if (positive === "in" || positive === "containsAny")
    return checkChoices(checksByKind[kind], value);
  if (kind === "group" && positive === "contains") return group(value);
  return (checksByOperator[positive] ?? checksByKind[kind])(value);
}

function checkChoices(check: ValueCheck, value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.length || value.length > maxChoices)
    return `must be an array of 1 to ${maxChoices} values`;
  const wrong = value.map(check).find((message) => message !== undefined);
  return wrong && `each value ${wrong}`;
}
