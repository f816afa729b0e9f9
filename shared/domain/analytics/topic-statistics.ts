// The topics of a site with their subscribers, and how many contacts left each in a period.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { listDates } from "../../kernel/calendar-dates.ts";
import { Count, RecordId, RecordSiteId } from "../../kernel/record-fields.ts";
import { sumShards, toShownCount } from "../../kernel/sharded-counters.ts";
import { ranges } from "../../keys.ts";
import { listOfSite } from "../audience/topics/site-topics.ts";
import { readTopicTotals } from "../audience/topics/topic-counts.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import { dateRangeFields, type PeriodQuery, periodFields } from "./overview.ts";
import { ChartInterval, periodEndingOn, splitByInterval } from "./periods.ts";

const TopicFigures = z
  .object({
    id: RecordId.describe("Id of the topic."),
    name: z.string().describe("Name of the topic."),
    subscribers: Count.describe(
      "Contacts who are subscribed to the topic now, of every status. Only those with the status " +
        "`subscribed` get its emails.",
    ),
    left: Count.describe("How often contacts left the topic in the period."),
    series: z
      .array(
        z
          .object({
            ...dateRangeFields,
            left: Count.describe("How often contacts left the topic in the interval."),
          })
          .meta({ id: "TopicPoint" }),
      )
      .describe("One point per interval, oldest first."),
  })
  .meta({ id: "TopicFigures" });

export const TopicStatistics = z
  .object({
    ...periodFields,
    siteId: RecordSiteId,
    interval: ChartInterval,
    topics: z.array(TopicFigures).describe("Topics of the site, in their order."),
  })
  .meta({ id: "TopicStatistics" });
export type TopicStatistics = z.output<typeof TopicStatistics>;

/** Throws 404 for an unknown site. */
export async function getTopicStatistics(
  caller: CallerScope,
  { period, interval, siteId: requestedSiteId }: PeriodQuery & { interval: ChartInterval },
): Promise<TopicStatistics> {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const [{ timezone, today }, topics, contactCount, totals] = await Promise.all([
    organizations.getCalendar(orgId),
    listOfSite(orgId, siteId),
    sumShards(ranges.contactCounts(orgId, siteId)),
    readTopicTotals(orgId, siteId),
  ]);
  const span = periodEndingOn(period, today);
  const intervals = splitByInterval(span, interval);
  return {
    period,
    siteId,
    timezone,
    ...span,
    interval,
    topics: topics.map(({ id, name, defaultSubscription }) => {
      const switched = totals.switched(id);
      const series = intervals.map((point) => ({
        ...point,
        left: listDates(point).reduce((sum, date) => sum + totals.left(id, date), 0),
      }));
      return {
        id,
        name,
        subscribers: toShownCount(
          defaultSubscription === "subscribed" ? contactCount - switched : switched,
        ),
        left: series.reduce((sum, { left }) => sum + left, 0),
        series,
      };
    }),
  };
}
