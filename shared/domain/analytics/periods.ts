// The periods that analytics endpoints take, and the intervals of their charts.
import * as z from "zod";
import { addDays, type DateRange, dayOfWeek, listDates } from "../../kernel/calendar-dates.ts";

export const analyticsPeriods = ["7d", "30d", "90d"] as const;
export const AnalyticsPeriod = z
  .enum(analyticsPeriods)
  .default("30d")
  .describe("Number of days, ending today in the organization's time zone.");
export type AnalyticsPeriod = z.output<typeof AnalyticsPeriod>;
export const chartIntervals = ["day", "week", "month"] as const;
export const ChartInterval = z
  .enum(chartIntervals)
  .default("day")
  .describe(
    "Length of each point. `week`: Monday to Sunday. `month`: calendar month. The first and " +
      "the last point may be shorter, because they end with the period.",
  );
export type ChartInterval = z.output<typeof ChartInterval>;

export const periodEndingOn = (period: AnalyticsPeriod, today: string): DateRange => ({
  from: addDays(today, 1 - Number.parseInt(period, 10)),
  to: today,
});

/** The points of a chart, in order. */
export function splitByInterval(span: DateRange, interval: ChartInterval): DateRange[] {
  const groups = Map.groupBy(listDates(span), (date) => intervalStart[interval](date));
  return [...groups.values()].map((dates) => ({ from: dates[0]!, to: dates.at(-1)! }));
}

/** The first day of the interval that contains the date. */
const intervalStart: Record<ChartInterval, (date: string) => string> = {
  day: (date) => date,
  week: (date) => addDays(date, -((dayOfWeek(date) + 6) % 7)),
  month: (date) => `${date.slice(0, 7)}-01`,
};

export const isMonday = (date: string): boolean => intervalStart.week(date) === date;
