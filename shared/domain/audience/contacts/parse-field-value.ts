// Reads a value of a custom field by the declared type of the field. What is stored of each type:
// text and url as texts, numbers and booleans as such, a date as 2026-11-20, a datetime in UTC as
// 2026-11-20T09:12:44.000Z, a list as an array of texts. A stored value reads as itself.
import { joinedNames, namesIn } from "../../../kernel/csv-cells.ts";
import { parseJson } from "../../../kernel/json.ts";
import { isStorableNumber } from "../../../kernel/stored-json.ts";
import { dateIn, instantOfLocalTime } from "../../../kernel/time-zones.ts";
import { readAnswer } from "../imports/consent.ts";

export const fieldTypes = ["text", "number", "boolean", "date", "datetime", "list", "url"] as const;
export type CustomFieldType = (typeof fieldTypes)[number];

export const decimalMarks = [".", ","] as const;
export const dateOrders = ["dmy", "mdy"] as const;

/** How texts are written that could mean two things. */
export interface ValueFormat {
  /** Defaults to the point. */
  decimalMark?: (typeof decimalMarks)[number] | undefined;
  /** Whether 03/04/2026 begins with the day. Without it, such a date is refused. */
  dateOrder?: (typeof dateOrders)[number] | undefined;
  /** The time zone of times without one. */
  timezone: string;
}

export type FieldValue = string | number | boolean | string[];

/** A value of null means that the field has no value. */
export type ParsedValue = { value: FieldValue | null; error?: undefined } | { error: string };

export const maxTextLength = 2000;
export const maxListItems = 100;
export const maxItemLength = 200;

/** `error` says what is wrong with the value, and shows it. */
export function parseFieldValue(
  type: CustomFieldType,
  given: unknown,
  format: ValueFormat,
): ParsedValue {
  if (given === null || (type !== "text" && isNoValue(given))) return { value: null };
  return readers[type](given, format);
}

/** An empty text, or the word or the date that databases write for none. */
const isNoValue = (given: unknown): boolean =>
  typeof given === "string" &&
  given.length <= 60 &&
  /^(?:null|\\n|0{4}-00-00(?:[ t]00:00:00(?:\.0+)?)?)?$/i.test(given.trim());

type Reader = (given: unknown, format: ValueFormat) => ParsedValue;

const maxShown = 60;

/** The error for a value that is not what `expected` says. */
function refuse(given: unknown, expected: string): ParsedValue {
  const json = JSON.stringify(given) ?? String(given);
  const shown = json.length > maxShown ? `${json.slice(0, maxShown).toWellFormed()}…` : json;
  return { error: `${shown} ${expected}` };
}

const readText: Reader = (given) => {
  const text = Array.isArray(given) ? joinedNames(given.map(String)) : given;
  if (typeof text === "object" || text === undefined) return refuse(given, "is not a text");
  return String(text).length <= maxTextLength
    ? { value: String(text) }
    : refuse(given, "is longer than 2,000 characters");
};

const readNumber: Reader = (given, { decimalMark = "." }) => {
  const number = typeof given === "string" ? parseNumber(given, decimalMark) : given;
  if (isStorableNumber(number)) return { value: number };
  const example = decimalMark === "." ? "1,299.90" : "1.299,90";
  return refuse(given, `is not a number such as ${example}`);
};

const maxNumberLength = 60;
const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
/** Groups of three digits, and as in India, groups of two before the last three. */
const grouped = /^[+-]?\d{1,3}(?:([,.' ])\d{2,3}(?:\1\d{2,3})*(?<=\1\d{3}))?$/;

/** Undefined if the text is not a number that is written with the decimal mark. */
function parseNumber(given: string, decimalMark: string): number | undefined {
  if (given.length > maxNumberLength) return undefined;
  const text = given
    .trim()
    .replace(/^\u2212/, "-")
    .replace(/[\u00a0\u2009\u202f]/g, " ")
    .replace(/\u2019/g, "'");
  const [whole = "", fraction, ...more] = text.split(decimalMark);
  if (more.length) return undefined;
  const digits = grouped.test(whole) ? whole.replace(/[,.' ]/g, "") : whole;
  const number = fraction === undefined ? digits : `${digits}.${fraction}`;
  return plainNumber.test(number) ? Number(number) : undefined;
}

const readBoolean: Reader = (given) => {
  if (typeof given === "boolean") return { value: given };
  const isShort = typeof given === "number" || (typeof given === "string" && given.length <= 30);
  const answer = isShort ? readAnswer(String(given)) : undefined;
  if (answer === "yes" || answer === "no") return { value: answer === "yes" };
  return refuse(given, "is not yes or no, true or false, 1 or 0");
};

const readDate: Reader = (given, format) => {
  const parts = parseDate(given, format);
  if ("error" in parts) return refuse(given, parts.error);
  return { value: dayOf(parts, format.timezone) };
};

const readDatetime: Reader = (given, format) => {
  const parts = parseDate(given, format);
  if ("error" in parts) return refuse(given, parts.error);
  return { value: toInstant(parts, format.timezone).toISOString() };
};

interface DateParts {
  /** As written, such as 2026-11-20. */
  day: string;
  /** As written, such as 09:12:44.000. Undefined: only the day is written. */
  time?: string | undefined;
  /** The offset from UTC, such as +02:00. Undefined: it is not written. */
  offset?: string | undefined;
}

/**
 * The day of a time. Programs write a day without a time as midnight, mostly of UTC, so midnight is
 * the day as it is written. Any other time with a zone is an instant.
 */
function dayOf(parts: DateParts, timezone: string): string {
  const isInstant = parts.offset !== undefined && parts.time !== midnight;
  return isInstant ? dateIn(timezone, toInstant(parts, timezone)) : parts.day;
}

const midnight = "00:00:00.000";

const toInstant = ({ day, time = midnight, offset }: DateParts, timezone: string): Date =>
  offset === undefined
    ? instantOfLocalTime(`${day}T${time}`, timezone)
    : new Date(`${day}T${time}${offset}`);

const datePattern = new RegExp(
  "^(?:" +
    [
      String.raw`(?<year>\d{4})(?<mark>[-/.])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})`,
      String.raw`(?<first>\d{1,2})(?<sep>[-/.])(?<second>\d{1,2})\k<sep>(?<lastYear>\d{4})`,
      String.raw`(?<digits>\d{8})`,
    ].join("|") +
    String.raw`)(?:(?:t| {1,2}|, ?)(?<hour>\d{1,2}):(?<minute>\d\d)` +
    String.raw`(?::(?<rest>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?<half>[ap])\.?m\.?)?` +
    String.raw`(?: ?(?<zone>z|utc|gmt|[+-]\d\d(?::?\d\d)?))?)?$`,
  "i",
);
type Found = Record<string, string | undefined>;

const maxDateLength = 60;
const notDate = "is not a date such as 2026-11-20";

/** The parts of a date as databases, spreadsheets and programs write it. */
function parseDate(given: unknown, { dateOrder }: ValueFormat): DateParts | { error: string } {
  if (typeof given !== "string" || given.length > maxDateLength) return { error: notDate };
  const found = datePattern.exec(given.trim().replace(/\s/g, " "))?.groups as Found | undefined;
  if (!found) return { error: notDate };
  const day = readDay(found, dateOrder);
  if (!/^\d/.test(day)) return { error: day };
  if (found.hour === undefined) return { day };
  const time = readTime(found);
  const offset = readOffset(found.zone);
  if (time === undefined || offset === "") return { error: "has no time of a day, such as 09:12" };
  return { day, time, offset };
}

/** The day, or why it is not one. */
function readDay(found: Found, order: ValueFormat["dateOrder"]): string {
  const { year, month, day, digits, first, second, lastYear } = found;
  if (year) return realDay(year, month!, day!);
  if (digits) return realDay(digits.slice(0, 4), digits.slice(4, 6), digits.slice(6));
  const asDayFirst = realDay(lastYear!, second!, first!);
  // With points, the day is first in every country.
  if (found.sep === "." || order === "dmy" || first === second) return asDayFirst;
  const asMonthFirst = realDay(lastYear!, first!, second!);
  if (order === "mdy") return asMonthFirst;
  const possible = [asDayFirst, asMonthFirst].filter((one) => one !== notDay);
  return possible.length === 2 ? eitherDay : (possible[0] ?? notDay);
}

const notDay = "is not a day of the calendar";
const eitherDay =
  "is one of two dates, because the order of day and month is not known: write 2026-11-20, or " +
  "set dateOrder to dmy or mdy";

/** Within the years of dates in rules, in every time zone. */
const [minYear, maxYear] = [1001, 9997];

function realDay(year: string, month: string, day: string): string {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const isReal = y >= minYear && y <= maxYear && m >= 1 && m <= 12 && d >= 1 && d <= daysOf(y, m);
  return isReal ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : notDay;
}

const daysOf = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Undefined if no day has this time. */
function readTime({ hour, minute, rest = "00", fraction = "", half }: Found): string | undefined {
  const [h, m, s] = [Number(hour), Number(minute), Number(rest)];
  if (m > 59 || s > 59 || (half ? h < 1 || h > 12 : h > 23)) return undefined;
  const hours = half ? (h % 12) + (half.toLowerCase() === "p" ? 12 : 0) : h;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  return `${String(hours).padStart(2, "0")}:${minute}:${rest}.${milliseconds}`;
}

/** An empty text if there is no such offset. */
function readOffset(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  if (/^[a-z]/i.test(zone)) return "Z";
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(":", "") || "00"];
  return Math.abs(Number(hours)) <= 14 && Number(minutes) <= 59 ? `${hours}:${minutes}` : "";
}

const readList: Reader = (given) => {
  const items = Array.isArray(given) ? given : splitList(given);
  if (!items?.every((item) => ["string", "number", "boolean"].includes(typeof item)))
    return refuse(given, "is not a list of texts");
  const texts = [...new Set(items.map((item) => String(item).trim()).filter(Boolean))];
  if (texts.length > maxListItems) return refuse(given, `has more than ${maxListItems} entries`);
  if (texts.some((text) => text.length > maxItemLength))
    return refuse(given, `has an entry of more than ${maxItemLength} characters`);
  return { value: texts.length ? texts : null };
};

/** The entries of a text with commas or semicolons, or of a JSON array. */
function splitList(given: unknown): unknown[] | undefined {
  if (typeof given === "number" || typeof given === "boolean") return [given];
  if (typeof given !== "string") return undefined;
  const json = given.trim().startsWith("[") ? parseJson(given) : undefined;
  return Array.isArray(json) ? json : namesIn(given);
}

const readUrl: Reader = (given) => {
  const text = typeof given === "string" ? given.trim() : "";
  const url = text.length <= maxTextLength && /^[^\s\p{Cc}]+$/u.test(text) ? URL.parse(text) : null;
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? { value: text }
    : refuse(given, "is not an address such as https://example.com, of at most 2,000 characters");
};

const readers: Record<CustomFieldType, Reader> = {
  text: readText,
  number: readNumber,
  boolean: readBoolean,
  date: readDate,
  datetime: readDatetime,
  list: readList,
  url: readUrl,
};
