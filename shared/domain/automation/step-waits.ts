// When the wait at a step ends: after a delay, at a date of the contact, at an hour of a weekday,
// or too late for an event.
import { addSeconds } from "../../clock.ts";
import { addDays, dayOfWeek } from "../../kernel/calendar-dates.ts";
import { addLocalDays, dateIn, instantOf } from "../../kernel/time-zones.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { dayOfValue, isDay, parseRuleTime } from "../audience/segments/rule-times.ts";
import { getFieldValue } from "./contact-field-values.ts";
import type { WaitConfig } from "./step-configs.ts";
import type { SequenceStep } from "./step-schema.ts";

const minutesOfDay = 24 * 60;

/**
 * When a wait that started at `start` ends, with the current delay of the step. Whole days end at
 * the same local time. Otherwise a contact misses a short send window when the clocks change.
 */
export function endOfWait(
  start: Date,
  { delayMinutes }: Pick<SequenceStep, "delayMinutes">,
  timezone: string,
): Date {
  const minutes = delayMinutes ?? 0;
  return minutes > 0 && minutes % minutesOfDay === 0
    ? addLocalDays(start, minutes / minutesOfDay, timezone)
    : addSeconds(minutes * 60, start);
}

/**
 * Whether two ends of a wait mean different delays. The stored end was computed a moment before
 * `lastProgressAt`, so a small difference means nothing; delays are whole minutes.
 */
export const differs = (a: Date, b: Date): boolean => Math.abs(a.getTime() - b.getTime()) > 30_000;

interface Wait {
  start: Date;
  /** The contact, for dates of its own. */
  contact: ContactItem | undefined;
  timezone: string;
}

/** Undefined when the step waits for a date that the contact does not have. */
export function endOfStepWait(
  { type, delayMinutes, waitConfig }: SequenceStep,
  { start, contact, timezone }: Wait,
): Date | undefined {
  if (type === "delay") return endOfWait(start, { delayMinutes }, timezone);
  if (type !== "wait_until" || !waitConfig) return start;
  const { field, weekdays, timeoutMinutes = 0 } = waitConfig;
  if (field !== undefined) return contact && dateOfWait(waitConfig, contact, timezone);
  if (weekdays) return nextWeekday(waitConfig, start, timezone);
  return endOfWait(start, { delayMinutes: timeoutMinutes }, timezone);
}

/** A date is a day in the time zone; a time is an instant. */
function dateOfWait(
  { field = "", offsetDays = 0, hour }: WaitConfig,
  contact: ContactItem,
  timezone: string,
): Date | undefined {
  const value = getFieldValue(contact, field);
  const day = dayOfValue(value, timezone);
  if (day === undefined) return undefined;
  if (isDay(value as string) || hour !== undefined)
    return instantOf(addDays(day, offsetDays), hour ?? 0, timezone);
  return addLocalDays(new Date(parseRuleTime(value)!.from), offsetDays, timezone);
}

/** The next time that a day of the week, of which 7 is Sunday, begins its hour. */
function nextWeekday({ weekdays = [], hour = 0 }: WaitConfig, start: Date, timezone: string): Date {
  const today = dateIn(timezone, start);
  const ends = Array.from({ length: 8 }, (_, days) => addDays(today, days))
    .filter((day) => weekdays.includes(dayOfWeek(day) || 7))
    .map((day) => instantOf(day, hour, timezone));
  return ends.find((end) => end >= start) ?? start;
}
