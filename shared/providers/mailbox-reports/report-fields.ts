// Fields that DMARC and TLS reports have in common.

export interface ReportHead {
  /** Name of the organization that made the report. */
  reporter: string;
  /** Unique for the reporter. */
  reportId: string;
  /** Start of the time that the report is about, in milliseconds since 1970. */
  from: number;
  /** Its end. */
  to: number;
}

const maxLength = 200;
const maxCount = 1_000_000_000;

export const cleanText = (text: unknown): string | undefined =>
  typeof text === "string"
    ? text
        .slice(0, maxLength)
        .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
        .trim()
        .toWellFormed() || undefined
    : undefined;

/** In ASCII and lower case. Undefined if it is no domain name. */
export function toDomain(text: unknown): string | undefined {
  const name = typeof text === "string" ? text.trim().toLowerCase().replace(/\.$/, "") : "";
  const isName = name.length <= 253 && /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/.test(name);
  return isName ? name : undefined;
}

/** A whole number of at most ten digits; times are seconds since 1970. */
export const toCount = (text: unknown): number | undefined =>
  /^\d{1,10}$/.test(String(text)) ? Number(text) : undefined;

/** A number of emails or sessions. */
export const toBoundedCount = (value: unknown): number => Math.min(toCount(value) ?? 0, maxCount);
