// When time alone can change whether a contact matches rules, such as `lastOpenedAt inLastDays 30`.
import { addDays, inYear } from "../../../kernel/calendar-dates.ts";
import { dateIn, instantOf } from "../../../kernel/time-zones.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { eventCountAttribute } from "../contacts/segment-attributes.ts";
import { type Operator, positiveOperators } from "./rule-operators.ts";
import { readField } from "./rule-tests.ts";
import { dayOfValue, daysToMs, parseRuleTime } from "./rule-times.ts";
import { parseField, type SegmentField, siteField } from "./segment-fields.ts";
import { isRules, type SegmentCondition, type SegmentRules } from "./segment-rules.ts";

interface RuleMoment {
  contact: ContactItem;
  now: Date;
  timezone: string;
  /** The spelling of a custom field that the contact uses. */
  spellingOf(name: string): string;
}

/** Operators whose answer depends on the contact alone. */
const timelessOperators = new Set<Operator>([
  "equals",
  "contains",
  "startsWith",
  "endsWith",
  "greaterThan",
  "lessThan",
  "before",
  "after",
  "exists",
  "in",
  "on",
  "containsAny",
]);

/** The first moment after `now` at which the answer can differ. Undefined: never by time alone. */
export function nextRuleChange(
  node: SegmentRules | SegmentCondition,
  moment: RuleMoment,
): Date | undefined {
  if (!isRules(node)) return nextConditionChange(node, moment);
  const changes = node.conditions.flatMap((one) => nextRuleChange(one, moment) ?? []);
  return changes.toSorted((a, b) => a.getTime() - b.getTime())[0];
}

const isTimeless = ({ operator }: Pick<SegmentCondition, "operator">): boolean =>
  timelessOperators.has(positiveOperators[operator] ?? operator);

/** Whether time can change the answer by the properties or the times of single events. */
const readsEventsByTime = (
  condition: SegmentCondition,
  { fact }: NonNullable<SegmentField["event"]>,
): boolean =>
  condition.inLastDays !== undefined ||
  condition.where?.some((one) => !isTimeless(one)) === true ||
  (fact === "latest" && !isTimeless(condition));

function nextConditionChange(
  condition: SegmentCondition,
  { contact, now, timezone, spellingOf }: RuleMoment,
): Date | undefined {
  const field = siteField(parseField(condition.field)!, spellingOf);
  const { event } = field;
  // The events are in the log of the contact, which is not read here, so a contact that has some is
  // looked at every day.
  if (event && readsEventsByTime(condition, event)) {
    const hasEvents = contact[eventCountAttribute(event.name)];
    return hasEvents ? instantOf(addDays(dateIn(timezone, now), 1), 0, timezone) : undefined;
  }
  if (isTimeless(condition)) return undefined;
  const days = typeof condition.value === "number" ? condition.value : 0;
  const isYearly = /anniversary/i.test(condition.operator);
  const moments = listMoments(readField(field, contact), { days, now, timezone, isYearly });
  return moments.filter((at) => at > now).toSorted((a, b) => a.getTime() - b.getTime())[0];
}

interface Moments {
  days: number;
  now: Date;
  timezone: string;
  isYearly: boolean;
}

/**
 * So many days before and after a date, exactly and at the beginning of the days around, also of
 * those of UTC: see date-tests.ts. A look at one that changes nothing does no harm.
 */
function listMoments(value: unknown, { days, now, timezone, isYearly }: Moments): Date[] {
  const time = parseRuleTime(value);
  if (!time) return [];
  const years = [-1, 0, 1, 2].map((more) => now.getUTCFullYear() + more);
  const shifts = [-days, 0, days].flatMap((shift) => [-1, 0, 1, 2].map((more) => shift + more));
  return [
    ...[0, -daysToMs(days), daysToMs(days) + 1].map((ms) => new Date(time.from + ms)),
    ...[timezone, "UTC"].flatMap((zone) => {
      const day = dayOfValue(value, zone)!;
      const dates = isYearly ? years.map((year) => inYear(day, year)) : [day];
      return dates.flatMap((date) =>
        shifts.map((shift) => instantOf(addDays(date, Math.round(shift)), 0, zone)),
      );
    }),
  ];
}
