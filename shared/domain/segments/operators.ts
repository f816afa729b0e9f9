// Operators, and the values they take for each kind of field.
import { contactStatuses, isStorable } from "../contacts/contact.ts";
import type { Field } from "./fields.ts";
import { readTime } from "./times.ts";

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
] as const;
export type Operator = (typeof operators)[number];
export type Scalar = string | number | boolean;
export type Value = Scalar | Scalar[];

export type Kind = "text" | "status" | "id" | "number" | "time" | "group" | "custom" | "flag";

const existence: Operator[] = ["exists", "notExists"];
const equality: Operator[] = ["equals", "notEquals"];
const choice: Operator[] = ["in", "notIn"];
const parts: Operator[] = ["contains", "notContains"];
const order: Operator[] = ["greaterThan", "lessThan"];
export const operatorsOf: Record<Kind, Operator[]> = {
  text: [...equality, ...parts, "startsWith", "endsWith", ...existence, ...choice],
  status: [...equality, ...existence, ...choice],
  id: [...equality, ...order, ...existence, ...choice],
  number: [...equality, ...order, ...existence, ...choice],
  time: [...equality, "before", "after", "inLastDays", "notInLastDays", ...existence],
  group: [...equality, ...parts, ...existence, ...choice],
  custom: [...operators],
  flag: [...equality, ...existence],
};

/** Each negative operator holds whenever its positive one does not. */
export const negated: Partial<Record<Operator, Operator>> = {
  notEquals: "equals",
  notContains: "contains",
  notInLastDays: "inLastDays",
  notExists: "exists",
  notIn: "in",
};

const maxChoices = 100;
const maxDays = 36_500;
const maxText = 2000;

type Check = (value: unknown) => string | undefined;
const must =
  (holds: (value: unknown) => boolean, message: string): Check =>
  (value) =>
    holds(value) ? undefined : message;

const isText = (value: unknown): boolean => typeof value === "string" && value.length >= 1 && value.length <= maxText;
const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

const text = must(isText, `must be a text of 1 to ${maxText} characters`);
const number = must(isStorable, "must be a number");
const status = must((value) => (contactStatuses as readonly unknown[]).includes(value), `must be one of ${contactStatuses.join(", ")}`);
const group = must((value) => isText(value) || isId(value), "must be an id or a name");
const flag = must((value) => typeof value === "boolean", "must be true or false");
const time = must((value) => readTime(value) !== undefined, "must be a date such as 2026-12-31, or a time such as 2026-12-31T09:00:00Z");
const anything = must(
  (value) => isText(value) || isStorable(value) || typeof value === "boolean",
  `must be a text of 1 to ${maxText} characters, a number, true or false`,
);
const days = must((value) => isStorable(value) && value > 0 && value <= maxDays, `must be a number of days, at most ${maxDays}`);
const nothing = must((value) => value === undefined, "must not be given: the operator takes no value");

const byKind: Record<Kind, Check> = { text, status, id: number, number, time, group, custom: anything, flag };
const byOperator: Partial<Record<Operator, Check>> = {
  contains: text,
  startsWith: text,
  endsWith: text,
  greaterThan: number,
  lessThan: number,
  before: time,
  after: time,
  inLastDays: days,
  exists: nothing,
};

/** What is wrong with a value; undefined when it fits. */
export function wrongValue({ kind }: Field, operator: Operator, value: unknown): string | undefined {
  const positive = negated[operator] ?? operator;
  if (positive === "in") return wrongChoices(byKind[kind], value);
  if (kind === "group" && positive === "contains") return group(value);
  return (byOperator[positive] ?? byKind[kind])(value);
}

function wrongChoices(check: Check, value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.length || value.length > maxChoices) return `must be an array of 1 to ${maxChoices} values`;
  const wrong = value.map(check).find((message) => message !== undefined);
  return wrong && `each ${wrong}`;
}
