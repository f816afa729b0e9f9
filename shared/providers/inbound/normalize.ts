// Converts untrusted JSON of providers to delivery events. Values of a wrong type or size are left
// out.
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import * as json from "../../kernel/json.ts";
import type { EventCause, EventType, ProviderEvent } from "./inbound-adapter.ts";

export type UntrustedJson = Record<string, unknown>;

/** A provider's event in our vocabulary, with unchecked values. */
export interface EventDetails {
  type: EventType;
  url?: unknown;
  reason?: unknown;
  bounceType?: "hard" | "soft";
  cause?: EventCause;
  userAgent?: unknown;
  ip?: unknown;
  automated?: boolean;
}

export interface RawEvent extends EventDetails {
  /** An address, or `Name <address>`. */
  email: unknown;
  sendId?: unknown;
  messageId?: unknown;
  /**
   * What distinguishes the event from all others of the provider. Objects and arrays in it are
   * ignored. Only its hash is stored, because it can contain the address of the recipient.
   */
  eventId: readonly unknown[] | undefined;
  at: string | undefined;
}

/**
 * Returns the event, or none: if it has no address, time or id, or is about a mail that is not a
 * send.
 */
export function toProviderEvents({ type, eventId, at, ...raw }: RawEvent): ProviderEvent[] {
  const email = asEmail(raw.email);
  if (!email || !eventId || !at || isNoSend(raw.sendId)) return [];
  const { url, reason, bounceType, cause, userAgent } = raw;
  return [
    {
      type,
      email,
      ...definedOnly({
        sendId: asId(raw.sendId),
        providerMessageId: asText(raw.messageId),
      }),
      providerEventId: hashEventId(eventId),
      timestamp: at,
      data: definedOnly({
        url: asText(url),
        reason: asText(reason),
        bounceType,
        cause,
        userAgent: asText(userAgent),
      }),
      ...definedOnly({
        ipAddress: asIpAddress(raw.ip),
        automated: raw.automated === true ? true : undefined,
      }),
    },
  ];
}

/** Returns undefined for invalid JSON. */
export function parseJson(source: unknown): unknown {
  return typeof source === "string" || Buffer.isBuffer(source)
    ? json.parseJson(source.toString())
    : undefined;
}

/**
 * Returns an empty object for anything else, including `[]`, which some providers send for `{}`.
 */
export const asObject = (value: unknown): UntrustedJson => (isObject(value) ? value : {});

export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns the objects of an array, or a single object as an array. */
export const asObjects = (value: unknown): UntrustedJson[] =>
  (Array.isArray(value) ? value : [value]).filter(isObject);

/** Looks a key up among the own keys of a table, so that `constructor` is not found. */
export const ownValue = <T>(table: Record<string, T>, key: unknown): T | undefined =>
  typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;

/** Returns at most 1,000 characters of a text that is not blank. */
export const asText = (value: unknown): string | undefined =>
  typeof value === "string" && /\S/.test(value)
    ? value.slice(0, maxTextLength).toWellFormed()
    : undefined;

/** Returns the first text that is not blank. */
export const firstText = (...values: unknown[]): string | undefined =>
  values.map(asText).find((value) => value !== undefined);

/** Finds a header in a list of `{name, value}`, ignoring case. */
export const headerValue = (headers: unknown, lowerName: string): unknown =>
  asObjects(headers).find(
    ({ name }) => typeof name === "string" && name.toLowerCase() === lowerName,
  )?.value;

/**
 * Returns a time as ISO 8601 in UTC. Accepts seconds or milliseconds since 1970 (a number or
 * digits) and roughly ISO 8601 texts: any fraction, a space instead of T or before the offset, an
 * offset without colon, UTC if there is none. Returns undefined outside the years 2000 to 2099.
 */
export function asIsoTime(value: unknown): string | undefined {
  const milliseconds = toMs(value);
  return milliseconds >= earliest && milliseconds < latest
    ? new Date(milliseconds).toISOString()
    : undefined;
}

/**
 * The send id of mails that are not sends: test mails of sending configs and mails to our users.
 */
export const noSend = 0;
const isNoSend = (sendId: unknown): boolean => sendId === noSend || sendId === String(noSend);

const maxTextLength = 1000;
const maxAddressLength = 320;
const earliest = Date.UTC(2000);
const latest = Date.UTC(2100);

function hashEventId(parts: readonly unknown[]): string {
  const source = JSON.stringify(parts.map((part) => (typeof part === "object" ? null : part)));
  return createHash("sha256").update(source).digest("hex");
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const definedOnly = <T extends object>(values: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Defined<T>;

function asEmail(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > maxTextLength) return undefined;
  const bare = (/<([^<>]*)>\s*$/.exec(value)?.[1] ?? value).trim();
  return bare.length <= maxAddressLength && /^[^\s\p{Cc}<>@]+@[^\s\p{Cc}<>@]+$/u.test(bare)
    ? bare.toWellFormed()
    : undefined;
}

function asId(value: unknown): number | undefined {
  const number = typeof value === "string" && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) > 0 ? (number as number) : undefined;
}

/** A request names more configs only if it is forged. */
const maxClaimedConfigs = 5;

/** The first few ids of sending configs among untrusted values. */
export const toConfigIds = (values: unknown[]): number[] =>
  [...new Set(values.flatMap((value) => asId(value) ?? []))].slice(0, maxClaimedConfigs);

const asIpAddress = (value: unknown): string | undefined =>
  typeof value === "string" && isIP(value) ? value : undefined;

const isObject = (value: unknown): value is UntrustedJson =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function toMs(value: unknown): number {
  if (typeof value === "number") return epochToMs(value);
  return typeof value === "string" ? textToMs(value) : Number.NaN;
}

// 1e11 is the year 5138 in seconds, and 1973 in milliseconds.
const epochToMs = (value: number): number => Math.round(value > 1e11 ? value : value * 1000);

const looseIso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})? ?(?:Z|([+-]\d\d):?(\d\d)?)?$/;

function textToMs(value: string): number {
  if (/^\d{9,16}(\.\d{1,9})?$/.test(value)) return epochToMs(Number(value));
  const [match, day, clock, fraction = "", hours, minutes = "00"] = looseIso.exec(value) ?? [];
  return match
    ? Date.parse(`${day}T${clock}${fraction.slice(0, 4)}${hours ? `${hours}:${minutes}` : "Z"}`)
    : Number.NaN;
}
