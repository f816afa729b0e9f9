// Calendar dates as text (2026-11-21) and ranges of them. The caller knows the time zone.

/** Includes both dates. */
export interface DateRange {
  from: string;
  to: string;
}

const dayMs = 24 * 3_600_000;
// In UTC every day has 24 hours.
const toUtcMs = (date: string): number => Date.parse(`${date}T00:00:00Z`);
const toDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const addDays = (date: string, days: number): string => toDate(toUtcMs(date) + days * dayMs);
export const countDays = ({ from, to }: DateRange): number =>
  Math.round((toUtcMs(to) - toUtcMs(from)) / dayMs) + 1;
export const listDates = (span: DateRange): string[] =>
  Array.from({ length: countDays(span) }, (_, i) => addDays(span.from, i));

/** The same day of another year. 29 February is the 28th in most years. */
export function inYear(date: string, year: number): string {
  const rest = date.slice("2026".length);
  const isLeapYear = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  return `${String(year).padStart(4, "0")}${rest === "-02-29" && !isLeapYear ? "-02-28" : rest}`;
}

/** 0 is Sunday. */
export const dayOfWeek = (date: string): number => new Date(toUtcMs(date)).getUTCDay();

/** The range of the same length that ends the day before. */
export const rangeBefore = (span: DateRange): DateRange => ({
  from: addDays(span.from, -countDays(span)),
  to: addDays(span.from, -1),
});

/** The first day of the month that is `n` months later. */
export function addMonths(date: string, n: number): string {
  const day = new Date(toUtcMs(`${date.slice(0, 7)}-01`));
  return toDate(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + n, 1));
}
