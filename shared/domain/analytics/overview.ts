// The metrics of a period and the previous one, in total and as a series for charts.
import * as z from "zod";
import { type CallerScope, onlySiteIdOf } from "../../caller.ts";
import { type DateRange, rangeBefore } from "../../kernel/calendar-dates.ts";
import { QueryId } from "../../kernel/digits.ts";
import { Day, RecordId } from "../../kernel/record-fields.ts";
import { addUp, type CounterTotals } from "../../kernel/sharded-counters.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as contactCount from "./contact-count.ts";
import { ContactCount } from "./contact-count.ts";
import * as dailyTotals from "./daily-totals.ts";
import { compareMetrics, MailMetrics, MetricsChange, toMetrics } from "./mail-metrics.ts";
import {
  type AnalyticsPeriod,
  ChartInterval,
  AnalyticsPeriod as PeriodSchema,
  periodEndingOn,
  splitByInterval,
} from "./periods.ts";

export const dateRangeFields = {
  from: Day.describe("First day, such as `2026-11-21`."),
  to: Day.describe("Last day, such as `2026-11-21`."),
};
export const periodQueryFields = {
  period: PeriodSchema,
  siteId: QueryId.optional().describe(
    "Site of the figures. Defaults to all sites that the caller can access, at most 100.",
  ),
};
export const periodFields = {
  period: z.string().describe("Number of days, as in the request, such as `30d`."),
  siteId: RecordId.nullable().describe(
    "Site of the figures. `null`: all sites that the caller can access.",
  ),
  timezone: z.string().describe("Time zone of the organization, which decides where a day begins."),
  ...dateRangeFields,
};

export const PreviousPeriod = z
  .object({ ...dateRangeFields, totals: MailMetrics })
  .describe("The period of the same length directly before.")
  .meta({ id: "PreviousPeriod" });

const SeriesPoint = z
  .object({ ...dateRangeFields, ...MailMetrics.shape })
  .meta({ id: "FiguresPoint" });
export const Overview = z
  .object({
    ...periodFields,
    interval: ChartInterval,
    contacts: ContactCount,
    totals: MailMetrics,
    previous: PreviousPeriod,
    change: MetricsChange,
    series: z
      .array(SeriesPoint)
      .describe("One point per interval, oldest first, including intervals without email."),
    previousSeries: z.array(SeriesPoint).describe("The same for the previous period."),
  })
  .meta({ id: "AnalyticsOverview" });
export type Overview = z.output<typeof Overview>;

export interface PeriodQuery {
  period: AnalyticsPeriod;
  siteId?: number | undefined;
}

export async function getOverview(
  caller: CallerScope,
  { period, siteId, interval }: PeriodQuery & { interval: ChartInterval },
): Promise<Overview> {
  const { head: periodHead, span, siteIds } = await resolvePeriod(caller, { period, siteId });
  const previousRange = rangeBefore(span);
  const [totalsByDate, contacts] = await Promise.all([
    dailyTotals.getTotalsByDate(caller.orgId, siteIds, { from: previousRange.from, to: span.to }),
    contactCount.countSince(caller.orgId, siteIds, span.from),
  ]);
  const [totals, previousTotals] = [
    toMetrics(sumWithin(totalsByDate, span)),
    toMetrics(sumWithin(totalsByDate, previousRange)),
  ];
  const buildSeries = (range: DateRange) =>
    splitByInterval(range, interval).map((point) => ({
      ...point,
      ...toMetrics(sumWithin(totalsByDate, point)),
    }));
  return {
    ...periodHead,
    interval,
    contacts,
    totals,
    previous: { ...previousRange, totals: previousTotals },
    change: compareMetrics(totals, previousTotals),
    series: buildSeries(span),
    previousSeries: buildSeries(previousRange),
  };
}

/** `head` has the first fields of every response about a period. */
export async function resolvePeriod(caller: CallerScope, { period, siteId }: PeriodQuery) {
  const [{ timezone, today }, siteIds] = await Promise.all([
    organizations.getCalendar(caller.orgId),
    sites.listVisibleSiteIds(caller, siteId),
  ]);
  const span = periodEndingOn(period, today);
  return {
    head: { period, siteId: siteId ?? onlySiteIdOf(caller) ?? null, timezone, ...span },
    span,
    siteIds,
  };
}

export function sumWithin(
  totalsByDate: Map<string, CounterTotals>,
  { from, to }: DateRange,
): CounterTotals {
  return addUp(
    [...totalsByDate].flatMap(([date, sum]) => (date >= from && date <= to ? [sum] : [])),
  );
}
