import { createLruCache } from "./lru-cache.ts";

const maxCachedZones = 500;

/** Date formats by IANA time zone. They are cached, because creating one takes 0.1 ms. */
export function createZonedFormats(
  locale: string,
  options: Intl.DateTimeFormatOptions,
): (timeZone: string) => Intl.DateTimeFormat {
  const formats = createLruCache<Intl.DateTimeFormat>(maxCachedZones);
  return (timeZone) => {
    const format =
      formats.get(timeZone) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone });
    formats.set(timeZone, format, 1);
    return format;
  };
}

/** Whether this is the name of a zone or an offset such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const dayFormat = createZonedFormats("en-CA", { dateStyle: "short" });

/** The local day, such as 2026-11-21. */
export const dateIn = (timezone: string, at: Date): string => dayFormat(timezone).format(at);

/** The instant of a local hour, from 0 to 24. */
export const instantOf = (date: string, hour: number, timezone: string): Date =>
  toInstant(Date.parse(`${date}T00:00:00Z`) + hour * 3_600_000, timezone);

/** The instant of a local time such as 2027-03-20T09:00. */
export const instantOfLocalTime = (localTime: string, timezone: string): Date =>
  toInstant(Date.parse(`${localTime}Z`), timezone);

const dayMs = 24 * 3_600_000;

/** The same local time so many days later, also when the clocks change in between. */
export const addLocalDays = (at: Date, days: number, timezone: string): Date =>
  toInstant(at.getTime() + getZoneOffsetMs(at.getTime(), timezone) + days * dayMs, timezone);

/**
 * `localMs` is the local time, read as UTC. A time that is skipped when clocks go forward becomes
 * as much later. Of a time that comes twice when clocks go back, it is the first.
 */
function toInstant(localMs: number, timezone: string): Date {
  const [before, after] = [-dayMs, dayMs].map((ms) => getZoneOffsetMs(localMs + ms, timezone));
  const instants = [localMs - before!, localMs - after!];
  const isExact = (instant: number) => instant + getZoneOffsetMs(instant, timezone) === localMs;
  return new Date(instants.find(isExact) ?? instants[0]!);
}

const instantFormat = createZonedFormats("en-US", {
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
});

/** The difference between local time and UTC. */
function getZoneOffsetMs(at: number, timeZone: string): number {
  const parts = Object.fromEntries(
    instantFormat(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}
