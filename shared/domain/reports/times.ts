// When reports are mailed, and of which days they tell. Days are the organization's.
import * as calendar from "../holidays/calendar.ts";
import { isMonday, monthsLater, type Span, shifted } from "../insight/spans.ts";
import { dayIn } from "../organizations.ts";

export const frequencies = ["daily", "weekly", "monthly"] as const;
export type Frequency = (typeof frequencies)[number];

/** In the organization's timezone. */
export const hour = 7;

/** The first day after this one on which a report is mailed. */
const following: Record<Frequency, (date: string) => string> = {
  daily: (date) => shifted(date, 1),
  weekly: (date) => {
    const next = shifted(date, 1);
    return isMonday(next) ? next : following.weekly(next);
  },
  monthly: (date) => monthsLater(date, 1),
};

/** What the report that is mailed on this day tells of: the day, week or month before. */
export const spans: Record<Frequency, (date: string) => Span> = {
  daily: (date) => ({ from: shifted(date, -1), to: shifted(date, -1) }),
  weekly: (date) => ({ from: shifted(date, -7), to: shifted(date, -1) }),
  monthly: (date) => ({ from: monthsLater(date, -1), to: shifted(date, -1) }),
};

/** The day to compare with, week or month. */
export const before: Record<Frequency, (span: Span) => Span> = {
  daily: ({ from }) => spans.daily(from),
  weekly: ({ from }) => spans.weekly(from),
  monthly: ({ from }) => spans.monthly(from),
};

export const mailedAt = (date: string, timezone: string): Date => calendar.instantOf(date, hour, timezone);

/** The first one that lies ahead, and after `last` where there was one. */
export function firstAhead(frequency: Frequency, at: Date, timezone: string, last?: string): string {
  let date = following[frequency](shifted(dayIn(timezone, at), -1));
  while (mailedAt(date, timezone) <= at || (last !== undefined && date <= last)) date = following[frequency](date);
  return date;
}

/** This one, or where later ones have fallen due by now, the latest: after a long stop nobody wants all that was missed. */
export function latest(frequency: Frequency, date: string, at: Date, timezone: string): string {
  const later = following[frequency](date);
  return mailedAt(later, timezone) > at ? date : latest(frequency, later, at, timezone);
}

/** The one after `date`, also one that is late. */
export const next = (frequency: Frequency, date: string, at: Date, timezone: string): string =>
  latest(frequency, following[frequency](date), at, timezone);
