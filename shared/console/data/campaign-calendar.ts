// What a calendar of campaigns shows: campaigns, the coming dates of recurring ones, and holidays.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Campaign, CampaignSeries, Holiday } from "pennymail";
import { isOccurrence } from "../../domain/campaigns/series/schedule-days.ts";
import { addDays, type DateRange, listDates } from "../../kernel/calendar-dates.ts";
import { instantOf, localTimeOf } from "../format.ts";
import { api } from "./client.ts";

export interface CalendarEntry {
  kind: "campaign" | "series" | "holiday";
  id: number;
  name: string;
  status: string;
  /** The day in the time zone of the organization: `2026-12-01`. */
  date: string;
  /** The time of the day: `09:00`. */
  time: string;
}

interface Calendar {
  /** By time. */
  entries: CalendarEntry[];
  /** Whether there are more campaigns than were read. */
  isCut: boolean;
}

const maxRead = 500;

/** `range` has days of the organization's time zone. */
export const calendarQuery = (siteId: number, range: DateRange, timezone: string) =>
  queryOptions({
    queryKey: ["campaigns", "calendar", siteId, range.from, range.to],
    queryFn: () => readCalendar(siteId, range, timezone),
    placeholderData: keepPreviousData,
  });

async function readCalendar(siteId: number, range: DateRange, timezone: string): Promise<Calendar> {
  const from = instantOf(`${range.from}T00:00`, timezone);
  const to = instantOf(`${addDays(range.to, 1)}T00:00`, timezone);
  const [campaigns, { series }, holidays] = await Promise.all([
    readSome(api.campaigns.list({ siteId, from, to, limit: 100 })),
    api.campaignSeries.list({ siteId, limit: 50 }),
    readSome(api.holidays.list({ siteId, limit: 100 })),
  ]);
  const entries = [
    ...campaigns.flatMap((campaign) => campaignEntry(campaign, timezone)),
    ...series.flatMap((one) => seriesEntries(one, range, timezone)),
    ...holidays.flatMap((holiday) => holidayEntry(holiday, range)),
  ];
  return {
    entries: entries.sort((a, b) => (`${a.date}${a.time}` < `${b.date}${b.time}` ? -1 : 1)),
    isCut: campaigns.length >= maxRead,
  };
}

async function readSome<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) {
    found.push(one);
    if (found.length === maxRead) break;
  }
  return found;
}

function campaignEntry(campaign: Campaign, timezone: string): CalendarEntry[] {
  const { id, name, status, startedAt, scheduledAt } = campaign;
  const at = startedAt ?? scheduledAt;
  const neverStarts = status === "cancelled" && !startedAt;
  if (!at || neverStarts) return [];
  const [date, time] = localTimeOf(at, timezone).split("T") as [string, string];
  return [{ kind: "campaign", id, name, status, date, time }];
}

/** The dates to come. Each earlier date has a campaign of its own. */
function seriesEntries(
  { id, name, schedule, nextAt }: CampaignSeries,
  range: DateRange,
  timezone: string,
): CalendarEntry[] {
  if (!nextAt) return [];
  const next = localTimeOf(nextAt, timezone).slice(0, 10);
  const from = next > range.from ? next : range.from;
  if (from > range.to) return [];
  return listDates({ from, to: range.to })
    .filter((date) => isOccurrence(schedule, date))
    .map((date) => ({
      ...{ kind: "series" as const, id, name, status: "scheduled" },
      ...{ date, time: schedule.time },
    }));
}

/** Holiday emails start at nine. */
const holidayTime = "09:00";

const holidayEntry = (
  { id, name, status, date }: Holiday,
  { from, to }: DateRange,
): CalendarEntry[] =>
  status === "cancelled" || date < from || date > to
    ? []
    : [{ kind: "holiday", id, name, status, date, time: holidayTime }];
