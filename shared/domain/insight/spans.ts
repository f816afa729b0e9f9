// Days of the calendar as text (2026-11-21), and runs of them. Which day it is where is the caller's to say.
import * as z from "zod";

export const periods = ["7d", "30d", "90d"] as const;
export const Period = z.enum(periods).default("30d").describe("So many days of the organization, the last of them today");
export type Period = z.output<typeof Period>;
export const intervals = ["day", "week", "month"] as const;
export const Interval = z
  .enum(intervals)
  .default("day")
  .describe("week: from Monday to Sunday; month: of the calendar. The first and the last of a chart end where the period does");
export type Interval = z.output<typeof Interval>;

/** Both days are part of it. */
export interface Span {
  from: string;
  to: string;
}

const dayMs = 24 * 3_600_000;
// Days of the calendar have no time, so those of UTC do: each of them is equally long.
const at = (date: string): number => Date.parse(`${date}T00:00:00Z`);
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const shifted = (date: string, days: number): string => dateOf(at(date) + days * dayMs);
export const lengthOf = ({ from, to }: Span): number => Math.round((at(to) - at(from)) / dayMs) + 1;
export const datesOf = (span: Span): string[] => Array.from({ length: lengthOf(span) }, (_, i) => shifted(span.from, i));

/** The period that ends today. */
export const spanOf = (period: Period, today: string): Span => ({ from: shifted(today, 1 - Number.parseInt(period, 10)), to: today });

/** As long, and ends the day before. */
export const previousOf = (span: Span): Span => ({ from: shifted(span.from, -lengthOf(span)), to: shifted(span.from, -1) });

/** The pieces of a chart, in order; together they are the span. */
export function piecesOf(span: Span, interval: Interval): Span[] {
  const groups = Map.groupBy(datesOf(span), (date) => starts[interval](date));
  return [...groups.values()].map((dates) => ({ from: dates[0]!, to: dates.at(-1)! }));
}

/** The first day of the piece that a day lies in. */
const starts: Record<Interval, (date: string) => string> = {
  day: (date) => date,
  week: (date) => shifted(date, -((new Date(at(date)).getUTCDay() + 6) % 7)),
  month: (date) => `${date.slice(0, 7)}-01`,
};

export const isMonday = (date: string): boolean => starts.week(date) === date;

/** The first day of the month that is `n` months later. */
export function monthsLater(date: string, n: number): string {
  const day = new Date(at(`${date.slice(0, 7)}-01`));
  return dateOf(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + n, 1));
}
