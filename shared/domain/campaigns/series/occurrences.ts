// When the campaigns of a series are due. Dates and times are those of the organization, or of each
// contact.
import * as z from "zod";
import { now } from "../../../clock.ts";
import { addDays } from "../../../kernel/calendar-dates.ts";
import { dateIn, instantOfLocalTime } from "../../../kernel/time-zones.ts";
import { getLocalTimeSpan } from "../engine/local-time.ts";
import { isOccurrence, weekdays } from "./schedule-days.ts";

export const SeriesSchedule = z
  .object({
    frequency: z
      .enum(["weekly", "monthly"])
      .describe("`weekly`: on each of `weekdays`. `monthly`: once, on `dayOfMonth`."),
    weekdays: z
      .array(z.enum(weekdays))
      .min(1)
      .max(7)
      .optional()
      .describe("Days of the week. Required for `weekly`. All seven: every day."),
    dayOfMonth: z
      .int()
      .min(1)
      .max(31)
      .optional()
      .describe("Day of the month. Required for `monthly`. Shorter months use their last day."),
    time: z
      .string()
      .max(5)
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 09:00")
      .describe("Time of the day, such as `09:00`."),
    timeZone: z
      .enum(["organization", "contact"])
      .default("organization")
      .describe(
        "`organization`: all get the email at this time in the time zone of the organization. " +
          "`contact`: each contact gets it at this time in its own time zone, as with " +
          "`localTime` of POST /campaigns/:id/schedule.",
      ),
  })
  .refine(({ frequency, weekdays: days }) => frequency !== "weekly" || days !== undefined, {
    error: "is required for a weekly schedule",
    path: ["weekdays"],
  })
  .refine(({ frequency, dayOfMonth }) => frequency !== "monthly" || dayOfMonth !== undefined, {
    error: "is required for a monthly schedule",
    path: ["dayOfMonth"],
  })
  .meta({ id: "SeriesSchedule" });
export type SeriesSchedule = z.output<typeof SeriesSchedule>;

/** A schedule and the time zone of the organization. */
export interface SeriesTiming {
  schedule: SeriesSchedule;
  timezone: string;
}

export function nextDate(schedule: SeriesSchedule, after: string): string {
  const next = addDays(after, 1);
  return isOccurrence(schedule, next) ? next : nextDate(schedule, next);
}

/** The local time of each contact, if the schedule is about that. */
export const localTimeOn = (
  { time, timeZone }: SeriesSchedule,
  date: string,
): string | undefined => (timeZone === "contact" ? `${date}T${time}` : undefined);

/** When the campaign of a date starts: for local times, in the first time zone of the world. */
export function startsAt({ schedule, timezone }: SeriesTiming, date: string): Date {
  const localTime = localTimeOn(schedule, date);
  return localTime === undefined
    ? instantOfLocalTime(`${date}T${schedule.time}`, timezone)
    : getLocalTimeSpan(localTime).first;
}

// The first time zone of the world has the next date 14 hours before UTC.
const daysBefore = 2;

/** The first date in the future, after the date of the last run. */
export function firstDate(timing: SeriesTiming, lastDate = ""): string {
  const { schedule, timezone } = timing;
  let date = nextDate(schedule, addDays(dateIn(timezone, now()), -daysBefore));
  while (startsAt(timing, date) <= now() || date <= lastDate) date = nextDate(schedule, date);
  return date;
}

/**
 * The latest date from `date` on whose time has come, and the next one. After an outage, one
 * campaign takes the place of all that were missed.
 */
export function latestDate(timing: SeriesTiming, date: string): { date: string; next: string } {
  const next = nextDate(timing.schedule, date);
  return startsAt(timing, next) > now() ? { date, next } : latestDate(timing, next);
}
