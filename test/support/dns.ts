// A minimal DNS server for addresses of host names.
import { createSocket } from "node:dgram";

export interface Dns {
  /** The address for the setting DNS_SERVERS. */
  address: string;
  /** All queries so far, such as `A hooks.shop.example`. */
  queries: string[];
  close(): Promise<void>;
}

/** The answers to a question in order. The last one repeats. Without one, there is no response. */
export type AnswersInTurn = Record<string, string[][]>;

const types: Record<number, string> = { 1: "A", 28: "AAAA" };

/** `answers` has keys like `A hooks.shop.example`. Other names have no address. */
export async function startDnsServer(answers: AnswersInTurn): Promise<Dns> {
  const queries: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = question(query);
    const key = `${types[type]} ${name}`;
    const timesAsked = queries.filter((one) => one === key).length;
    queries.push(key);
    const answersInTurn = answers[key] ?? [[]];
    const addresses = answersInTurn[Math.min(timesAsked, answersInTurn.length - 1)];
    if (addresses) socket.send(response(query.subarray(0, end), type, addresses), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const close = () => new Promise<void>((resolve) => socket.close(() => resolve()));
  return { address: `127.0.0.1:${socket.address().port}`, queries, close };
}

const headerBytes = 12;

function question(query: Buffer) {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at]!; length; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function response(asked: Buffer, type: number, addresses: string[]): Buffer {
  const header = Buffer.from(asked.subarray(0, headerBytes));
  header.writeUInt16BE(0x8180, 2); // an answer, without error
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([
    header,
    asked.subarray(headerBytes),
    ...addresses.map((address) => record(type, bytesOf(address))),
  ]);
}

function record(type: number, address: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | headerBytes, 0); // the name asked for
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
}

function bytesOf(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [left = "", right = ""] = address.split("::");
  const groups = (text: string) => (text ? text.split(":") : []);
  const [head, tail] = [groups(left), groups(right)];
  const all = [...head, ...Array(8 - head.length - tail.length).fill("0"), ...tail];
  return Buffer.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
