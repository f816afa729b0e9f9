// Numbers and times as people read them.
const number = new Intl.NumberFormat("en");
const relativeTime = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const formatNumber = (value: number): string => number.format(value);

const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

/** "$12.50" for 1,250 cents of a US dollar. */
export const formatCents = (cents: number): string => money.format(cents / 100);

/** `rate` is from 0 to 1. */
export const formatRate = (rate: number, digits = 1): string => `${(rate * 100).toFixed(digits)} %`;

export const formatDay = (iso: string): string =>
  new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

export const formatDate = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone,
  });

/** "24 Nov, 09:00" */
export const formatHour = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

export const formatTime = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

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

const steps: [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["minute", 60],
  ["hour", 3600],
  ["day", 86_400],
];

/** "3 hours ago", or the date if it is 30 days away or more. */
export function formatAgo(iso: string, timeZone: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  const distance = Math.abs(seconds);
  if (distance >= 30 * 86_400) return formatDate(iso, timeZone);
  if (distance < 60) return seconds > 0 ? "in a moment" : "just now";
  const [unit, length] = steps.findLast(([, length]) => distance >= length)!;
  return relativeTime.format(Math.trunc(seconds / length), unit);
}

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "1 contact", "2 contacts" */
export const countOf = (count: number, noun: string): string =>
  `${formatNumber(count)} ${count === 1 ? noun : `${noun}s`}`;

/** `messageStream` becomes `Message stream`, and `apiKey` becomes `API key`. */
export const wordsOf = (name: string): string =>
  capitalize(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)).replace(
    /^Api\b/,
    "API",
  );
