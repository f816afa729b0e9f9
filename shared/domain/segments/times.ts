// Dates and times as people write them in rules and custom fields: a date is the whole day in UTC.

/** From the first instant to that after the last, in milliseconds since 1970. */
export interface Span {
  from: number;
  until: number;
}

const dayMs = 86_400_000;
const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const [earliest, latest] = [Date.parse("1000-01-01"), Date.parse("9999-01-01")];

/** undefined for what is neither `2026-12-31` nor `2026-12-31T09:00:00Z` (with any offset). */
export function readTime(text: unknown): Span | undefined {
  if (typeof text !== "string" || !pattern.test(text)) return undefined;
  const from = Date.parse(text);
  // 2026-02-30 is read as the 2nd of March.
  const real = Number(text.slice(8, 10)) <= new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
  if (!real || !(from >= earliest && from < latest)) return undefined;
  return { from, until: from + (text.length === 10 ? dayMs : 1) };
}

export const daysMs = (days: number): number => days * dayMs;

/** As times are stored. */
export const stored = (ms: number): string => new Date(ms).toISOString();
