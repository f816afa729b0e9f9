// When reports are mailed, and which dates they cover. Dates are in the organization's time zone.
import { addDays, addMonths, type DateRange } from "../../kernel/calendar-dates.ts";
import { dateIn, instantOf } from "../../kernel/time-zones.ts";
import { isMonday } from "./periods.ts";

export const reportFrequencies = ["daily", "weekly", "monthly"] as const;
export type ReportFrequency = (typeof reportFrequencies)[number];

export interface ReportTiming {
  frequency: ReportFrequency;
  /** Time zone of the organization. */
  timezone: string;
}

/** In the organization's time zone. */
export const mailingHour = 7;

/** The first due date after the date. */
const dateAfter: Record<ReportFrequency, (date: string) => string> = {
  daily: (date) => addDays(date, 1),
  weekly: (date) => {
    const next = addDays(date, 1);
    return isMonday(next) ? next : dateAfter.weekly(next);
  },
  monthly: (date) => addMonths(date, 1),
};

/** The dates that a report covers: the day, week or month before its due date. */
export const reportedRange: Record<ReportFrequency, (date: string) => DateRange> = {
  daily: (date) => ({ from: addDays(date, -1), to: addDays(date, -1) }),
  weekly: (date) => ({ from: addDays(date, -7), to: addDays(date, -1) }),
  monthly: (date) => ({ from: addMonths(date, -1), to: addDays(date, -1) }),
};

/** The previous day, week or month, which a report compares with. */
export const comparedRange: Record<ReportFrequency, (span: DateRange) => DateRange> = {
  daily: ({ from }) => reportedRange.daily(from),
  weekly: ({ from }) => reportedRange.weekly(from),
  monthly: ({ from }) => reportedRange.monthly(from),
};

export const mailingTime = (date: string, timezone: string): Date =>
  instantOf(date, mailingHour, timezone);

/** The first due date in the future, and after the date of the last report. */
export function firstDueDate(
  { frequency, timezone }: ReportTiming,
  at: Date,
  last?: string,
): string {
  let date = dateAfter[frequency](addDays(dateIn(timezone, at), -1));
  while (mailingTime(date, timezone) <= at || (last !== undefined && date <= last))
    date = dateAfter[frequency](date);
  return date;
}

/**
 * The latest due date up to now, from `date` on. After an outage only the latest report is mailed,
 * not every missed one.
 */
export function latestDueDate(timing: ReportTiming, date: string, at: Date): string {
  const later = dateAfter[timing.frequency](date);
  return mailingTime(later, timing.timezone) > at ? date : latestDueDate(timing, later, at);
}

/** The due date after `date`. It may be in the past. */
export const nextDueDate = (timing: ReportTiming, date: string, at: Date): string =>
  latestDueDate(timing, dateAfter[timing.frequency](date), at);
