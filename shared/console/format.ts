// Numbers and times as people read them.
import { language, t } from "./language/translate.ts";

/** English dates have the day before the month. */
const dateLocale = language === "en" ? "en-GB" : language;
const number = new Intl.NumberFormat(language);
const relativeTime = new Intl.RelativeTimeFormat(language, { numeric: "auto" });

export const formatNumber = (value: number): string => number.format(value);

const money = new Intl.NumberFormat(language, { style: "currency", currency: "USD" });

/** "$12.50" for 1,250 cents of a US dollar. */
export const formatCents = (cents: number): string => money.format(cents / 100);

/** "€49.90" for 49.9 euros. */
export const formatMoney = (amount: number, currency: string): string =>
  amount.toLocaleString(language, { style: "currency", currency });

/** `rate` is from 0 to 1. */
export const formatRate = (rate: number, digits = 1): string =>
  `${formatDecimal(rate * 100, digits)} %`;

export const formatDecimal = (value: number, digits: number): string =>
  value.toLocaleString(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });

export const formatDay = (iso: string): string =>
  new Date(iso).toLocaleDateString(dateLocale, { day: "numeric", month: "short", timeZone: "UTC" });

export const formatDate = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleDateString(dateLocale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone,
  });

/** The parts of a day that has no time zone, such as 2026-12-01. */
const dayFormat = (parts: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(dateLocale, { ...parts, timeZone: "UTC" });
  return (day: string): string => format.format(new Date(`${day}T00:00:00Z`));
};
/** "December 2026" */
export const formatMonth = dayFormat({ month: "long", year: "numeric" });
/** "Tue" */
export const formatDayOfWeek = dayFormat({ weekday: "short" });
/** "Tuesday 1 December" */
export const formatLongDay = dayFormat({ weekday: "long", day: "numeric", month: "long" });

/** "24 Nov, 09:00" */
export const formatHour = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleString(dateLocale, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

export const formatTime = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleString(dateLocale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

/** Turns "2026-12-01 09:00 UTC" in a sentence of the API into the time of a zone. */
export const withLocalTimes = (text: string, timeZone: string): string =>
  text.replaceAll(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, (_, day, time) =>
    formatTime(`${day}T${time}:00Z`, timeZone),
  );

/** The offset of a zone at an instant, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(instant);
  const of = (name: string) => Number(parts.find(({ type }) => type === name)!.value);
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"));
  return shown + of("second") * 1000 - Math.floor(instant / 1000) * 1000;
}

/** `local` is the value of an input of date and time, such as `2026-11-24T09:00`. */
export function instantOf(local: string, timeZone: string): string {
  const asUtc = Date.parse(`${local}Z`);
  const guess = asUtc - offsetAt(asUtc, timeZone);
  // Near a change of the clocks, the offset at the guess is another one.
  return new Date(asUtc - offsetAt(guess, timeZone)).toISOString();
}

/** The value of an input of date and time. */
export const localTimeOf = (iso: string, timeZone: string): string =>
  new Date(Date.parse(iso) + offsetAt(Date.parse(iso), timeZone)).toISOString().slice(0, 16);

/** A unit is used up to its greatest number: 59 minutes, 23 hours. */
const units: [Intl.RelativeTimeFormatUnit, seconds: number, greatest: number][] = [
  ["minute", 60, 59],
  ["hour", 3600, 23],
  ["day", 86_400, 30],
];

/** "3 hours ago", rounded, or the date if it is 30 days away or more. */
export function formatAgo(iso: string, timeZone: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  const distance = Math.abs(seconds);
  if (distance >= 30 * 86_400) return formatDate(iso, timeZone);
  if (distance < 60) return seconds > 0 ? t("in a moment") : t("just now");
  const [unit, length] = units.find(([, size, max]) => Math.round(distance / size) <= max)!;
  return relativeTime.format(Math.round(seconds / length), unit);
}

/** A time to come: "in 2 days, 26 Nov, 09:00". */
export const formatAhead = (iso: string, timeZone: string): string =>
  `${formatAgo(iso, timeZone)}, ${formatHour(iso, timeZone)}`;

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `orderPlaced` becomes `Order placed`. */
export const wordsOf = (name: string): string =>
  capitalize(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));

/** A size of a file. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024 * 1024
    ? t("{number} KB", { number: formatNumber(Math.max(1, Math.round(bytes / 1024))) })
    : t("{number} MB", { number: formatDecimal(bytes / 1024 / 1024, 1) });

const participles: Record<string, string> = {
  Save: "saved",
  Create: "created",
  Add: "added",
  Send: "sent",
  Delete: "deleted",
  Remove: "removed",
  Revoke: "revoked",
  Publish: "published",
  Change: "changed",
  Cancel: "cancelled",
  Restore: "restored",
  Merge: "merged",
  Pause: "paused",
  Resume: "resumed",
  Suppress: "suppressed",
  Discard: "discarded",
  Replace: "replaced",
};

/**
 * "Save sender" becomes "Sender saved.", or "Done: …" in other languages. Undefined for other
 * verbs, and for actions on a number of records, which take their time.
 */
export function doneTextOf(action: string): string | undefined {
  if (language !== "en") return /\d/.test(action) ? undefined : t("Done: {action}", { action });
  const [verb = "", ...words] = action.split(" ");
  const participle = participles[verb];
  if (!participle || words[0] === "to" || /^\d/.test(words[0] ?? "")) return undefined;
  const object = words.join(" ").replace(/^(the|a) /, "");
  return `${capitalize(object ? `${object} ${participle}` : participle)}.`;
}
