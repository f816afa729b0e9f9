// Reads the daily totals of sites: from rollups for days that are over, from counters for the
// latest days. One query per site.

import { queryPages } from "../../adapters/dynamodb/table.ts";
import { limitExceeded } from "../../errors.ts";
import { addDays, type DateRange } from "../../kernel/calendar-dates.ts";
import { decompress } from "../../kernel/compressed-values.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { addUp, type CounterTotals } from "../../kernel/sharded-counters.ts";
import { type Key, type KeyRange, ranges } from "../../keys.ts";
import {
  type DayCountersItem,
  type DomainRollupItem,
  type DomainTotals,
  getDomainTotals,
} from "./daily-rollups.ts";

/** Of one response. */
export const maxSites = 100;

/** Totals of all the sites by date. Throws 400 for too many sites. */
export async function getTotalsByDate(
  orgId: number,
  siteIds: number[],
  span: DateRange,
): Promise<Map<string, CounterTotals>> {
  return addUpByDate((await listDayItems(orgId, siteIds, span)).flat());
}

const addUpByDate = (items: DayCountersItem[]): Map<string, CounterTotals> =>
  new Map(
    [...Map.groupBy(items, ({ sk }) => dateOf(sk))].map(([date, ofDate]) => [date, addUp(ofDate)]),
  );

async function listDayItems(
  orgId: number,
  siteIds: number[],
  span: DateRange,
): Promise<DayCountersItem[][]> {
  if (siteIds.length > maxSites)
    throw limitExceeded(
      "siteId",
      `siteId is required: one response cannot add up the metrics of more than ${maxSites} sites`,
    );
  return inParallel(10, siteIds, (siteId) =>
    queryDates<DayCountersItem>(ranges.days(orgId, siteId), span),
  );
}

const dateOf = (sk: string): string => sk.slice(0, 10);

/** Above every sort key of the date. */
const sortKeyAfter = (date: string): string => `${date}~`;

async function queryDates<T extends Key>(range: KeyRange, { from, to }: DateRange): Promise<T[]> {
  const found: T[] = [];
  const options = {
    after: sortKeyAfter(addDays(from, -1)),
    below: sortKeyAfter(to),
    limit: 1000,
  };
  for await (const { items } of queryPages<T>(range, options)) found.push(...items);
  return found;
}

export interface DailyTotals {
  /** By date. */
  days: Map<string, CounterTotals>;
  /** From provider events, by the domain of the recipient. */
  domains: Map<string, CounterTotals>;
}

/** Takes one more query per site, and one per day that is not rolled up yet. */
export async function getTotalsWithDomains(
  orgId: number,
  siteIds: number[],
  span: DateRange,
): Promise<DailyTotals> {
  const [bySite, rollups] = await Promise.all([
    listDayItems(orgId, siteIds, span),
    inParallel(10, siteIds, (siteId) =>
      queryDates<DomainRollupItem>(ranges.dayDomainsRollups(orgId, siteId), span),
    ),
  ]);
  const notRolledUp = siteIds.flatMap((siteId, i) => {
    const rolledUp = new Set(rollups[i]!.map(({ sk }) => sk));
    const dates = new Set(bySite[i]!.map(({ sk }) => dateOf(sk)));
    return [...dates].filter((date) => !rolledUp.has(date)).map((date) => ({ siteId, date }));
  });
  const byDay: DomainTotals[] = [
    ...(await inParallel(20, rollups.flat(), (item) => decompress<DomainTotals>(item))),
    ...(await inParallel(20, notRolledUp, (day) =>
      getDomainTotals({ orgId, ...day }, { consistent: false }),
    )),
  ];
  const byDomain = Map.groupBy(
    byDay.flatMap((totals) => Object.entries(totals)),
    ([domain]) => domain,
  );
  return {
    days: addUpByDate(bySite.flat()),
    domains: new Map(
      [...byDomain].map(([domain, entries]) => [domain, addUp(entries.map(([, sum]) => sum))]),
    ),
  };
}
