// The days of a recurring schedule. The console draws them in its calendar.
import { addDays, addMonths, dayOfWeek } from "../../../kernel/calendar-dates.ts";

/** In the order of `dayOfWeek`. */
export const weekdays = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;

interface ScheduleDays {
  frequency: "weekly" | "monthly";
  weekdays?: readonly (typeof weekdays)[number][] | undefined;
  dayOfMonth?: number | undefined;
}

export function isOccurrence(schedule: ScheduleDays, date: string): boolean {
  if (schedule.frequency === "weekly")
    return schedule.weekdays!.includes(weekdays[dayOfWeek(date)]!);
  const lastDay = Number(addDays(addMonths(date, 1), -1).slice(-2));
  return Number(date.slice(-2)) === Math.min(schedule.dayOfMonth!, lastDay);
}
