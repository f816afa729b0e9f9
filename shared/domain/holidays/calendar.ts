// A day in the organization's timezone, as instants.
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { zoned } from "../../time-zones.ts";
import type { Organization } from "../organizations.ts";

/** In the morning, when people read their mail. */
const startHour = 9;

/** From when on a day's mail goes, and when the day is over. `date`: 2026-12-24 */
export async function dayOf(orgId: number, date: string): Promise<{ startsAt: Date; endsAt: Date }> {
  const organization = await get<Organization>(keys.organization(orgId));
  const timezone = organization?.timezone ?? "UTC";
  return { startsAt: instantOf(date, startHour, timezone), endsAt: instantOf(date, 24, timezone) };
}

/** Where an hour falls out because clocks are set forward, the one after it. */
export function instantOf(date: string, hour: number, timezone: string): Date {
  const asUtc = Date.parse(`${date}T00:00:00Z`) + hour * 3_600_000;
  const first = asUtc - offsetMs(asUtc, timezone);
  return new Date(asUtc - offsetMs(first, timezone));
}

const instantFormat = zoned("en-US", {
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
});

/** How far local time is ahead of UTC. */
function offsetMs(at: number, timeZone: string): number {
  const parts = Object.fromEntries(
    instantFormat(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}
