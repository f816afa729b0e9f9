import { boundedCache } from "./cache.ts";

const mostZones = 500;

/** Formats of one form, by IANA name of the time zone. They are kept, as to make one takes 0.1 ms. */
export function zoned(locale: string, form: Intl.DateTimeFormatOptions): (timeZone: string) => Intl.DateTimeFormat {
  const formats = boundedCache<Intl.DateTimeFormat>(mostZones);
  return (timeZone) => {
    const format = formats.get(timeZone) ?? new Intl.DateTimeFormat(locale, { ...form, timeZone });
    formats.set(timeZone, format, 1);
    return format;
  };
}
