// Conditions on dates. A date is a day of the contact's time zone, else of the organization's. A
// custom field without a declared type is compared in UTC.
import {
  type AttributePath,
  any,
  atLeast,
  between,
  type Condition,
  contains,
  greaterThan,
  lessThan,
} from "../../../adapters/dynamodb/conditions.ts";
import { addDays } from "../../../kernel/calendar-dates.ts";
import { dateIn } from "../../../kernel/time-zones.ts";
import { parseFieldValue } from "../contacts/parse-field-value.ts";
import { type Operator, positiveOperators } from "./rule-operators.ts";
import type { ContactValueTest, FieldCondition, RuleContext } from "./rule-tests.ts";
import { daysToMs, isDay, parseRuleTime } from "./rule-times.ts";
import type { SegmentField } from "./segment-fields.ts";

/** A day without a time, or an instant in milliseconds since 1970. */
type Moment = { day: string; at?: undefined } | { at: number };

/** Undefined if the value is no date. */
function readMoment(value: unknown): Moment | undefined {
  const time = parseRuleTime(value);
  if (!time) return undefined;
  return isDay(value as string) ? { day: value as string } : { at: time.from };
}

const dayOf = (moment: Moment, zone: string): string =>
  moment.at === undefined ? moment.day : dateIn(zone, new Date(moment.at));

/** Negative: the first is earlier. Days are compared unless both have a time. */
function compare(a: Moment, b: Moment, zone: string): number {
  if (a.at !== undefined && b.at !== undefined) return a.at - b.at;
  const [day, other] = [dayOf(a, zone), dayOf(b, zone)];
  if (day === other) return 0;
  return day < other ? -1 : 1;
}

type MomentTest = (moment: Moment, zone: string) => boolean;
type MomentTestFactory = (value: unknown, now: Date) => MomentTest;

const onMoment =
  (holds: (difference: number) => boolean): MomentTestFactory =>
  (value) => {
    const asked = readMoment(value);
    return (moment, zone) => asked !== undefined && holds(compare(moment, asked, zone));
  };

/** So many days before and after now: whole days for a date, hours count for a time. */
const within =
  (spanOf: (days: number) => [before: number, after: number]): MomentTestFactory =>
  (days, now) => {
    const [before, after] = spanOf(days as number);
    const [from, to] = [now.getTime() - daysToMs(before), now.getTime() + daysToMs(after)];
    return (moment, zone) => {
      if (moment.at !== undefined) return moment.at >= from && moment.at <= to;
      const today = dateIn(zone, now);
      const [first, last] = [
        addDays(today, -Math.floor(before)),
        addDays(today, Math.floor(after)),
      ];
      return moment.day >= first && moment.day <= last;
    };
  };

/** 29 February counts on the 28th in other years. */
function isAnniversary(day: string, of: string): boolean {
  const [monthDay, dayBefore] = [of.slice(5), addDays(day, 1).slice(5)];
  return (
    monthDay === day.slice(5) ||
    (monthDay === "02-29" && dayBefore === "03-01" && day.slice(5) === "02-28")
  );
}

const momentTests: Partial<Record<Operator, MomentTestFactory>> = {
  on: onMoment((difference) => difference === 0),
  equals: onMoment((difference) => difference === 0),
  before: onMoment((difference) => difference < 0),
  after: onMoment((difference) => difference > 0),
  inLastDays: within((days) => [days, 0]),
  inNextDays: within((days) => [0, days]),
  today: (_, now) => (moment, zone) => dayOf(moment, zone) === dateIn(zone, now),
  anniversaryInDays: (days, now) => (moment, zone) =>
    isAnniversary(addDays(dateIn(zone, now), days as number), dayOf(moment, zone)),
};

const onDeclaredDate: Operator[] = ["equals", "before", "after", "inLastDays"];
const onTime: Operator[] = ["equals", "before", "after"];
const onProperty: Operator[] = ["before", "after"];
const onEveryField: Operator[] = ["on", "inNextDays", "today", "anniversaryInDays"];
const isDeclaredDate = ({ type }: SegmentField): boolean => type === "date" || type === "datetime";

function operatorsOf(field: SegmentField): Operator[] {
  if (isDeclaredDate(field)) return onDeclaredDate;
  if (field.kind === "time") return onTime;
  return field.kind === "property" ? onProperty : [];
}

/** Negative operators that do not hold for a value that is no date. */
const strictNegatives: Operator[] = [
  "notOn",
  "notBefore",
  "notAfter",
  "notInNextDays",
  "notToday",
  "notAnniversaryInDays",
];

export const needsDate = ({ field, operator }: Omit<FieldCondition, "value">): boolean =>
  strictNegatives.includes(operator) || (operator === "notInLastDays" && isDeclaredDate(field));

export const isDate = (value: unknown): boolean => readMoment(value) !== undefined;

/** Whether the condition compares days of a time zone. */
export function isAboutDates({ field, operator }: FieldCondition): boolean {
  const positive = positiveOperators[operator] ?? operator;
  return [...onEveryField, ...operatorsOf(field)].includes(positive);
}

/** Undefined if the condition does not compare days of a time zone. */
export function createDateTest(
  condition: FieldCondition,
  { now, timezone = "UTC" }: RuleContext,
): ContactValueTest | undefined {
  if (!isAboutDates(condition)) return undefined;
  const { field, operator } = condition;
  const positive = positiveOperators[operator] ?? operator;
  const isNegative = positive !== operator;
  const ofNoDate = isNegative && !needsDate(condition);
  const holds = momentTests[positive]!(askedValue(condition), now);
  const isLocal = isDeclaredDate(field) || field.kind !== "custom";
  return (actual, contact) => {
    const moment = readMoment(actual);
    const zone = isLocal ? contact.timezone || timezone : "UTC";
    return moment ? holds(moment, zone) !== isNegative : ofNoDate;
  };
}

/** `equals` takes any text, so a date may be written as people write it. */
function askedValue({ operator, value }: FieldCondition): unknown {
  const isEquality = operator === "equals" || operator === "notEquals";
  if (!isEquality || readMoment(value)) return value;
  const parsed = parseFieldValue("date", value, { timezone: "UTC" });
  return parsed.error === undefined ? parsed.value : undefined;
}

/** A time can be this many days from the day that is written: by its offset and the time zone. */
const spreadDays = 2;

/** The date texts from one day to another, and some more. */
const fromDayToDay = (attribute: AttributePath, from: string, to: string): Condition =>
  between(attribute, addDays(from, -spreadDays), addDays(to, spreadDays + 1));

type DateFilterFactory = (attribute: AttributePath, value: unknown, now: Date) => Condition;

const askedDay = (value: unknown): string => {
  const moment = readMoment(value);
  return moment ? dayOf(moment, "UTC") : "1000-01-01";
};

const onDay: DateFilterFactory = (attribute, value) =>
  fromDayToDay(attribute, askedDay(value), askedDay(value));

const dateFilters: Partial<Record<Operator, DateFilterFactory>> = {
  on: onDay,
  equals: onDay,
  before: (attribute, value) => lessThan(attribute, addDays(askedDay(value), spreadDays + 1)),
  after: (attribute, value) => atLeast(attribute, addDays(askedDay(value), -spreadDays)),
  inLastDays: (attribute, days, now) => {
    const today = dateIn("UTC", now);
    return fromDayToDay(attribute, addDays(today, -Math.ceil(days as number)), today);
  },
  inNextDays: (attribute, days, now) => {
    const today = dateIn("UTC", now);
    return fromDayToDay(attribute, today, addDays(today, Math.ceil(days as number)));
  },
  today: (attribute, _, now) => fromDayToDay(attribute, dateIn("UTC", now), dateIn("UTC", now)),
  anniversaryInDays: (attribute, days, now) => {
    const target = addDays(dateIn("UTC", now), days as number);
    const near = [-2, -1, 0, 1, 2].map((distance) => addDays(target, distance).slice(5));
    const monthDays = near.includes("02-28") ? [...near, "02-29"] : near;
    return any(...[...new Set(monthDays)].map((one) => contains(attribute, `-${one}`)));
  },
};

/**
 * A filter that passes every contact that matches, and some more. Undefined if the condition does
 * not compare days of a time zone, or if DynamoDB cannot tell who may match.
 */
export function toDateFilter(
  condition: FieldCondition,
  { now }: RuleContext,
): Condition | undefined {
  const { field, operator } = condition;
  if (needsDate(condition)) return greaterThan(field.attribute, "");
  const isPositive = positiveOperators[operator] === undefined;
  return isPositive && isAboutDates(condition)
    ? dateFilters[operator]!(field.attribute, askedValue(condition), now)
    : undefined;
}
