// Asks DNS for records of any type, with what the resolver of Node does not tell: how long an answer holds, and whether the name is
// there at all. An answer is kept as long as it says (RFC 1035, RFC 2308), within bounds.
import type * as messages from "dns-packet";
import { boundedCache } from "../cache.ts";
import { now } from "../clock.ts";
import { config } from "../config.ts";
import { exchange, type Message, nameError, rcodeOf } from "./dns-servers.ts";

interface Values {
  A: string;
  AAAA: string;
  CNAME: string;
  MX: { exchange: string; preference: number };
  /** The strings of one record, put together. */
  TXT: string;
}
export type RecordType = keyof Values;

export interface Found<T> {
  records: T[];
  /** False: there is no such name, and nothing below it. */
  exists: boolean;
}

/** Nobody could tell: no server answered in time, or each said that it cannot. Says nothing about the name. */
export class NoRecords extends Error {}

export interface LookUpOptions {
  /** Asks again, whatever is kept. */
  fresh?: boolean | undefined;
  /** Gives up when it is aborted. */
  signal?: AbortSignal | undefined;
}

interface Kept {
  found: Found<unknown>;
  /** ms since 1970. */
  until: number;
}
const kept = boundedCache<Kept>(4_000_000);
const asking = new Map<string, Promise<Found<unknown>>>();

/** Aliases are followed. Throws only NoRecords. */
export async function lookUp<T extends RecordType>(
  type: T,
  name: string,
  { fresh, signal }: LookUpOptions = {},
): Promise<Found<Values[T]>> {
  const host = name.toLowerCase().replace(/\.$/, "");
  if (!isName(host)) throw new NoRecords(`${name.slice(0, 300)} is no name that can be asked for`);
  const key = `${config.dnsServers.join()} ${type} ${host}`;
  const known = fresh ? undefined : kept.get(key);
  if (known && known.until > now().getTime()) return known.found as Found<Values[T]>;
  const answer = asking.get(key) ?? ask(key, type, host).finally(() => asking.delete(key));
  asking.set(key, answer);
  return (await unlessAborted(answer, signal)) as Found<Values[T]>;
}

const isName = (host: string): boolean =>
  host.length > 0 && host.length <= 253 && host.split(".").every((label) => /^[\x21-\x7e]{1,63}$/.test(label));

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const gaveUp = () => reject(new NoRecords("The time for all lookups was over"));
    if (signal.aborted) gaveUp();
    signal.addEventListener("abort", gaveUp, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", gaveUp));
  });
}

const longestKeptSeconds = 3600;
const longestKeptMissingSeconds = 300;

async function ask(key: string, type: RecordType, host: string): Promise<Found<unknown>> {
  const message = await inTurn(() => exchange(type, host)).catch((error: Error) => {
    throw new NoRecords(`${type} ${host}: ${error.message}`, { cause: error });
  });
  const answers = message.answers ?? [];
  const records = answers.flatMap((answer) => (answer.type === type ? [values[type](answer.data)] : []));
  const found = { records, exists: rcodeOf(message) !== nameError };
  const ttlSeconds = records.length
    ? Math.min(longestKeptSeconds, ...answers.map((answer) => ("ttl" in answer ? (answer.ttl ?? 0) : 0)))
    : Math.min(longestKeptMissingSeconds, missingForSeconds(message));
  if (ttlSeconds > 0) kept.set(key, { found, until: now().getTime() + ttlSeconds * 1000 }, key.length + JSON.stringify(found).length);
  return found;
}

const values: { [T in RecordType]: (data: unknown) => Values[T] } = {
  A: String,
  AAAA: String,
  CNAME: (data) => String(data).toLowerCase(),
  MX: (data) => {
    const { exchange = "", preference = 0 } = data as messages.MxData;
    return { exchange: exchange.toLowerCase(), preference };
  },
  TXT: (data) => Buffer.concat([data as Buffer | Buffer[]].flat()).toString("utf8"),
};

function missingForSeconds({ authorities = [] }: Message): number {
  const [soa] = authorities.filter(({ type }) => type === "SOA") as messages.SoaAnswer[];
  return Math.min(soa?.ttl ?? 60, soa?.data.minimum ?? 60);
}

const mostAtOnce = 100;
let atWork = 0;
const queue: (() => void)[] = [];

/** Sockets are few: a Lambda has 1,024 files, and other requests want some too. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (atWork >= mostAtOnce) await new Promise<void>((resolve) => queue.push(resolve));
  else atWork++;
  try {
    return await work();
  } finally {
    const next = queue.shift();
    if (next) next();
    else atWork--;
  }
}
