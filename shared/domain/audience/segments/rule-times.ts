// Parses dates and times in rules and custom fields. A date means the whole day in UTC.
import { dateIn } from "../../../kernel/time-zones.ts";

/** In milliseconds since 1970; `until` is exclusive. */
export interface RuleTimeRange {
  from: number;
  until: number;
}

const dayMs = 86_400_000;
const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const [earliest, latest] = [Date.parse("1000-01-01"), Date.parse("9999-01-01")];

/** Takes `2026-12-31` and `2026-12-31T09:00:00Z` (with any offset). Undefined for anything else. */
export function parseRuleTime(text: unknown): RuleTimeRange | undefined {
  if (typeof text !== "string" || !pattern.test(text)) return undefined;
  const from = Date.parse(text);
  // Date.parse reads 2026-02-30 as March 2.
  const real =
    Number(text.slice(8, 10)) <=
    new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
  if (!real || !(from >= earliest && from < latest)) return undefined;
  return { from, until: from + (isDay(text) ? dayMs : 1) };
}

/** Whether a text that is a date or a time is a date, such as 2026-12-31. */
export const isDay = (text: string): boolean => text.length === "2026-12-31".length;

/** The day of a date, or of a time in the time zone. Undefined for anything else. */
export function dayOfValue(value: unknown, timezone: string): string | undefined {
  const time = parseRuleTime(value);
  if (!time) return undefined;
  return isDay(value as string) ? (value as string) : dateIn(timezone, new Date(time.from));
}

export const daysToMs = (days: number): number => days * dayMs;

export const toIsoTime = (ms: number): string => new Date(ms).toISOString();
