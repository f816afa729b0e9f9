// One question to DNS servers, by datagram and, where the answer does not fit in one, by stream (RFC 1035).
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { getServers } from "node:dns";
import { connect, isIPv6 } from "node:net";
import * as messages from "dns-packet";
import { config } from "../config.ts";

export type Message = messages.DecodedPacket;
// RFC 1035, 4.1.1: the last four bits of the flags.
const noError = 0;
export const nameError = 3;
export const rcodeOf = ({ flags = 0 }: Message): number => flags & 15;

const tries = 2;
const tryMs = 2000;

/** The first real answer of any server; each is asked twice. Throws what the last one came to. */
export async function exchange(type: messages.RecordType, host: string): Promise<Message> {
  const servers = (config.dnsServers.length ? config.dnsServers : getServers()).slice(0, 3).map(serverOf);
  let last: unknown = new Error("There is no DNS server to ask");
  for (let attempt = 0; attempt < tries; attempt++)
    for (const server of servers)
      try {
        return await exchangeOnce(server, type, host);
      } catch (error) {
        last = error;
      }
  throw last;
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

async function exchangeOnce(server: Server, type: messages.RecordType, host: string): Promise<Message> {
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
function answerTo(bytes: Buffer, id: number, type: messages.RecordType, host: string): Message | undefined {
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
