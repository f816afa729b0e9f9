// Reads what providers send without trusting its shape: whatever comes in, what comes out is in bounds or absent.
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { parsed } from "../../json.ts";
import type { EventType, ProviderEvent } from "./inbound.ts";

export type Fields = Record<string, unknown>;

/** What a provider's kind of event is in our words; texts as they came. */
export interface Happening {
  type: EventType;
  url?: unknown;
  reason?: unknown;
  bounceType?: "hard" | "soft";
  userAgent?: unknown;
  ip?: unknown;
  automated?: boolean;
}

export interface Draft extends Happening {
  /** Bare or as `Name <address>`. */
  email: unknown;
  sendId?: unknown;
  messageId?: unknown;
  eventId: string | undefined;
  at: string | undefined;
}

/** The event, if it has an address, a time and an id; otherwise none. */
export function event({ type, eventId, at, ...draft }: Draft): ProviderEvent[] {
  const email = address(draft.email);
  if (!email || !eventId || !at) return [];
  const { url, reason, bounceType, userAgent } = draft;
  return [
    {
      type,
      email,
      ...present({ sendId: sendId(draft.sendId), providerMessageId: text(draft.messageId) }),
      providerEventId: eventId.length > maxIdLength ? sha256(eventId) : eventId.toWellFormed(),
      timestamp: at,
      data: present({ url: text(url), reason: text(reason), bounceType, userAgent: text(userAgent) }),
      ...present({ ipAddress: ipAddress(draft.ip), automated: draft.automated === true ? true : undefined }),
    },
  ];
}

/** An event id for providers that give none: the same for the same parts. Only texts, numbers and booleans count. */
export const hashed = (...parts: unknown[]): string =>
  sha256(JSON.stringify(parts.map((part) => (typeof part === "object" ? null : part))));

/** Parsed JSON; undefined if it is none. */
export function json(source: unknown): unknown {
  return typeof source === "string" || Buffer.isBuffer(source) ? parsed(source.toString()) : undefined;
}

/** The fields of an object; none for anything else, an array too: empty objects are often written as `[]`. */
export const fields = (value: unknown): Fields => (isObject(value) ? value : {});

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The objects of an array, or the one that came alone. */
export const rows = (value: unknown): Fields[] => (Array.isArray(value) ? value : [value]).filter(isObject);

/** What a table says for a key, and for its own keys only: `constructor` is none. */
export const entry = <T>(table: Record<string, T>, key: unknown): T | undefined =>
  typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;

/** At most 1,000 characters, not blank. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && /\S/.test(value) ? value.slice(0, maxTextLength).toWellFormed() : undefined;

/** The first of them that is not blank. */
export const firstText = (...values: unknown[]): string | undefined => values.map(text).find((value) => value !== undefined);

/** The value of a header in a list of `{name, value}`, its name in whatever case. */
export const headerIn = (headers: unknown, lowerName: string): unknown =>
  rows(headers).find(({ name }) => typeof name === "string" && name.toLowerCase() === lowerName)?.value;

/**
 * ISO 8601 in UTC, from seconds or milliseconds since 1970 (as number or digits), or from a date and time in about ISO form:
 * any fraction, a blank for the T or before the offset, no colon in it; without an offset it is UTC. Years 2000 to 2099.
 */
export function time(value: unknown): string | undefined {
  const milliseconds = typeof value === "number" ? sinceEpoch(value) : typeof value === "string" ? fromText(value) : Number.NaN;
  return milliseconds >= earliest && milliseconds < latest ? new Date(milliseconds).toISOString() : undefined;
}

const maxTextLength = 1000;
const maxIdLength = 200;
const maxAddressLength = 320;
const earliest = Date.UTC(2000);
const latest = Date.UTC(2100);

const sha256 = (source: string): string => createHash("sha256").update(source).digest("hex");

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const present = <T extends object>(values: T): Present<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;

function address(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > maxTextLength) return undefined;
  const bare = (/<([^<>]*)>\s*$/.exec(value)?.[1] ?? value).trim();
  return bare.length <= maxAddressLength && /^[^\s\p{Cc}<>@]+@[^\s\p{Cc}<>@]+$/u.test(bare) ? bare.toWellFormed() : undefined;
}

function sendId(value: unknown): number | undefined {
  const number = typeof value === "string" && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) > 0 ? (number as number) : undefined;
}

const ipAddress = (value: unknown): string | undefined => (typeof value === "string" && isIP(value) ? value : undefined);

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

// Seconds reach 1e11 in the year 5138; milliseconds passed it in 1973.
const sinceEpoch = (value: number): number => Math.round(value > 1e11 ? value : value * 1000);

const looseIso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})? ?(?:Z|([+-]\d\d):?(\d\d)?)?$/;

function fromText(value: string): number {
  if (/^\d{9,16}(\.\d{1,9})?$/.test(value)) return sinceEpoch(Number(value));
  const [match, day, clock, fraction = "", hours, minutes = "00"] = looseIso.exec(value) ?? [];
  return match ? Date.parse(`${day}T${clock}${fraction.slice(0, 4)}${hours ? `${hours}:${minutes}` : "Z"}`) : Number.NaN;
}
