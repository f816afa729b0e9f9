// Daily growth of a site's contacts. It is stored as attributes of the contact counters, so one
// write changes the number and the growth.
import { addDays } from "../../../kernel/calendar-dates.ts";

// The longest reporting period, with a margin for time zones.
const keptDays = 92;
// Each update removes the 31 days before the kept 92. Older days may stay in the item and are never
// read.
const expiredDays = 31;

/** Short, such as `d261121`, so that 100 of them keep the item below 1 KB. */
const dayAttribute = (date: string): string => `d${date.slice(2).replaceAll("-", "")}`;

/** Changes for the update of a counter. `date`: the day of the organization. */
export const growthChanges = (date: string, by: number) => ({
  add: { count: by, [dayAttribute(date)]: by },
  remove: Array.from({ length: expiredDays }, (_, i) => dayAttribute(addDays(date, -keptDays - i))),
});

export type ContactCounter = { count: number } & Record<string, unknown>;

/** Growth from `date` on, including that day. */
export function growthSince(counter: ContactCounter, date: string): number {
  const first = dayAttribute(date);
  return Object.entries(counter).reduce(
    (sum, [name, n]) => (/^d\d{6}$/.test(name) && name >= first ? sum + Number(n) : sum),
    0,
  );
}
