// Asks DNS for records of any type, with what the resolver of Node does not tell: how long an answer holds, and whether the name is
// there at all. An answer is kept as long as it says (RFC 1035, RFC 2308), within bounds.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { getServers } from "node:dns";
import { connect, isIPv6 } from "node:net";
import * as messages from "dns-packet";
import { boundedCache } from "../cache.ts";
import { now } from "../clock.ts";
import { config } from "../config.ts";

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
  const message = await inTurn(() => exchange(type, host));
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

type Message = messages.DecodedPacket;
// RFC 1035, 4.1.1: the last four bits of the flags.
const [noError, nameError] = [0, 3];
const rcodeOf = ({ flags = 0 }: Message): number => flags & 15;

const tries = 2;
const tryMs = 2000;

/** The first real answer of any server; each is asked twice. */
async function exchange(type: RecordType, host: string): Promise<Message> {
  const servers = (config.dnsServers.length ? config.dnsServers : getServers()).slice(0, 3).map(serverOf);
  let last: unknown = new Error("There is no DNS server to ask");
  for (let attempt = 0; attempt < tries; attempt++)
    for (const server of servers)
      try {
        return await exchangeOnce(server, type, host);
      } catch (error) {
        last = error;
      }
  throw new NoRecords(`${type} ${host}: ${(last as Error).message}`, { cause: last });
}

interface Server {
  host: string;
  port: number;
}

function serverOf(text: string): Server {
  if (isIPv6(text)) return { host: text, port: 53 };
  const [, host = text, port = "53"] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

async function exchangeOnce(server: Server, type: RecordType, host: string): Promise<Message> {
  const id = randomInt(65_536);
  const question = messages.encode({
    type: "query",
    id,
    flags: messages.RECURSION_DESIRED,
    questions: [{ type, name: host, class: "IN" }],
    additionals: [
      { type: "OPT", name: ".", udpPayloadSize: 1232, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: [] },
    ],
  });
  const fits = (bytes: Buffer): Message | undefined => answerTo(bytes, id, type, host);
  const brief = await byDatagram(server, question, fits);
  const answer = brief.flag_tc ? await byStream(server, question, fits) : brief;
  const rcode = rcodeOf(answer);
  if (answer.flag_tc || (rcode !== noError && rcode !== nameError)) throw new Error(`the server could not tell (${rcode})`);
  return answer;
}

/** The message, when it is an answer to this question and to no other. */
function answerTo(bytes: Buffer, id: number, type: RecordType, host: string): Message | undefined {
  try {
    const message = messages.decode(bytes);
    const [asked] = message.questions ?? [];
    return message.type === "response" && message.id === id && asked?.type === type && asked.name.toLowerCase() === host
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}

type Fits = (bytes: Buffer) => Message | undefined;

function byDatagram({ host, port }: Server, question: Buffer, fits: Fits): Promise<Message> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    const end = (done: () => void) => {
      clearTimeout(timer);
      socket.close();
      done();
    };
    const timer = setTimeout(() => end(() => reject(new Error("no answer in time"))), tryMs);
    socket.once("error", (error) => end(() => reject(error)));
    // What does not fit is someone's guess, or an answer that comes too late.
    socket.on("message", (bytes) => {
      const message = fits(bytes);
      if (message) end(() => resolve(message));
    });
    // Connected: only what this server sends comes through.
    socket.connect(port, host, () => socket.send(question));
  });
}

/** For answers that a datagram does not hold: each message behind its length, in two bytes. */
function byStream({ host, port }: Server, question: Buffer, fits: Fits): Promise<Message> {
  return new Promise((resolve, reject) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    const socket = connect({ host, port });
    const end = (done: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      done();
    };
    const fail = (why: string) => end(() => reject(new Error(why)));
    const timer = setTimeout(() => fail("no answer in time"), tryMs);
    let received = Buffer.alloc(0);
    socket.once("error", (error) => fail(error.message));
    socket.once("close", () => fail("the connection was closed"));
    socket.on("data", (part) => {
      received = Buffer.concat([received, part as Buffer]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const message = fits(received.subarray(2, 2 + received.readUInt16BE(0)));
      if (message) end(() => resolve(message));
      else fail("an answer to another question");
    });
    socket.write(Buffer.concat([length, question]));
  });
}
