// Numbers and times as people read them.
const number = new Intl.NumberFormat("en");
const relativeTime = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const formatNumber = (value: number): string => number.format(value);

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

export const formatTime = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

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

/** `messageStream` becomes `Message stream`, and `apiKey` becomes `API key`. */
export const wordsOf = (name: string): string =>
  capitalize(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)).replace(
    /^Api\b/,
    "API",
  );
