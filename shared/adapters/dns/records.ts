// Looks up DNS records. Unlike the resolver of Node, it knows the lifetime of an answer and whether
// the name exists. Answers are cached for their lifetime (RFC 1035, RFC 2308), within limits.
import type * as messages from "dns-packet";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { type DnsMessage, nameExists, queryServers } from "./queries.ts";

interface RecordValues {
  A: string;
  AAAA: string;
  CNAME: string;
  MX: { exchange: string; preference: number };
  /** The strings of one record, concatenated. */
  TXT: string;
}
export type DnsRecordType = keyof RecordValues;

export interface DnsAnswer<T> {
  records: T[];
  /** False if neither the name nor any name below it exists. */
  exists: boolean;
}

/**
 * The lookup failed: every server timed out or returned an error. Whether the name exists is
 * unknown.
 */
export class DnsLookupFailed extends Error {}

export interface DnsLookupOptions {
  /** Queries the servers even if an answer is cached. */
  skipCache?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

interface CachedAnswer {
  answer: DnsAnswer<unknown>;
  /** Milliseconds since 1970. */
  expires: number;
}
const answerCache = createLruCache<CachedAnswer>(4_000_000);
const pendingLookups = new Map<string, Promise<DnsAnswer<unknown>>>();

/** Follows aliases. Throws only `DnsLookupFailed`. */
export async function lookUpRecords<T extends DnsRecordType>(
  type: T,
  name: string,
  { skipCache, signal }: DnsLookupOptions = {},
): Promise<DnsAnswer<RecordValues[T]>> {
  const host = name.toLowerCase().replace(/\.$/, "");
  if (!isQueryableName(host))
    throw new DnsLookupFailed(`${name.slice(0, 300)} is not a valid DNS name`);
  const key = `${config.dnsServers.join()} ${type} ${host}`;
  const cached = skipCache ? undefined : answerCache.get(key);
  if (cached && cached.expires > now().getTime())
    return cached.answer as DnsAnswer<RecordValues[T]>;
  const lookup =
    pendingLookups.get(key) ??
    queryAndCache(key, type, host).finally(() => pendingLookups.delete(key));
  pendingLookups.set(key, lookup);
  return (await raceAbort(lookup, signal)) as DnsAnswer<RecordValues[T]>;
}

const isQueryableName = (host: string): boolean =>
  host.length > 0 &&
  host.length <= 253 &&
  host.split(".").every((label) => /^[\x21-\x7e]{1,63}$/.test(label));

function raceAbort<T>(lookup: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return lookup;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new DnsLookupFailed("The DNS lookups took too long"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    lookup.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

const maxTtlSeconds = 3600;
const maxNegativeTtlSeconds = 300;

async function queryAndCache(
  key: string,
  type: DnsRecordType,
  host: string,
): Promise<DnsAnswer<unknown>> {
  const message = await withConcurrencyLimit(() => queryServers(type, host)).catch(
    (error: Error) => {
      throw new DnsLookupFailed(`${type} ${host}: ${error.message}`, { cause: error });
    },
  );
  const entries = message.answers ?? [];
  const records = entries.flatMap((entry) =>
    entry.type === type ? [parsers[type](entry.data)] : [],
  );
  const answer = { records, exists: nameExists(message) };
  const ttlSeconds = records.length
    ? Math.min(maxTtlSeconds, ...entries.map((entry) => ("ttl" in entry ? (entry.ttl ?? 0) : 0)))
    : Math.min(maxNegativeTtlSeconds, negativeTtlSeconds(message));
  if (ttlSeconds > 0)
    answerCache.set(
      key,
      { answer, expires: now().getTime() + ttlSeconds * 1000 },
      key.length + JSON.stringify(answer).length,
    );
  return answer;
}

const parsers: { [T in DnsRecordType]: (data: unknown) => RecordValues[T] } = {
  A: String,
  AAAA: String,
  CNAME: (data) => String(data).toLowerCase(),
  MX: (data) => {
    const { exchange = "", preference = 0 } = data as messages.MxData;
    return { exchange: exchange.toLowerCase(), preference };
  },
  TXT: (data) => Buffer.concat([data as Buffer | Buffer[]].flat()).toString("utf8"),
};

function negativeTtlSeconds({ authorities = [] }: DnsMessage): number {
  const [soa] = authorities.filter(({ type }) => type === "SOA") as messages.SoaAnswer[];
  return Math.min(soa?.ttl ?? 60, soa?.data.minimum ?? 60);
}

const maxConcurrentLookups = 100;
let activeLookups = 0;
const waitingLookups: (() => void)[] = [];

/** Limits the open sockets. A Lambda function has 1,024 file descriptors for everything. */
async function withConcurrencyLimit<T>(work: () => Promise<T>): Promise<T> {
  if (activeLookups >= maxConcurrentLookups)
    await new Promise<void>((resolve) => waitingLookups.push(resolve));
  else activeLookups++;
  try {
    return await work();
  } finally {
    const next = waitingLookups.shift();
    if (next) next();
    else activeLookups--;
  }
}
