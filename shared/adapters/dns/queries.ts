// Sends one DNS query by UDP and, if the answer does not fit into a datagram, by TCP (RFC 1035). A
// deployed function loads this module with its first query, because it contains dns-packet.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { getServers } from "node:dns";
import { connect, isIPv6 } from "node:net";
import * as messages from "dns-packet";
import { config } from "../../config.ts";

export type DnsMessage = messages.DecodedPacket;
// RFC 1035, 4.1.1: the last four bits of the flags.
const noError = 0;
const nxdomain = 3;
const rcodeOf = ({ flags = 0 }: DnsMessage): number => flags & 15;

/** False if the server returned NXDOMAIN. */
export const nameExists = (answer: DnsMessage): boolean => rcodeOf(answer) !== nxdomain;

const maxAttempts = 2;
const attemptMs = 2000;

/**
 * Returns the first valid answer of up to three servers. Queries each server twice, then throws the
 * last error.
 */
export async function queryServers(type: messages.RecordType, host: string): Promise<DnsMessage> {
  const servers = (config.dnsServers.length ? config.dnsServers : getServers())
    .slice(0, 3)
    .map(parseServer);
  let lastError: unknown = new Error("No DNS server is configured");
  for (let attempt = 0; attempt < maxAttempts; attempt++)
    for (const server of servers)
      try {
        return await queryServer(server, type, host);
      } catch (error) {
        lastError = error;
      }
  throw lastError;
}

interface DnsServer {
  host: string;
  port: number;
}

function parseServer(text: string): DnsServer {
  if (isIPv6(text)) return { host: text, port: 53 };
  const [, host = text, port = "53"] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

async function queryServer(
  server: DnsServer,
  type: messages.RecordType,
  host: string,
): Promise<DnsMessage> {
  const id = randomInt(65_536);
  const question = messages.encode({
    type: "query",
    id,
    flags: messages.RECURSION_DESIRED,
    questions: [{ type, name: host, class: "IN" }],
    additionals: [
      {
        type: "OPT",
        name: ".",
        udpPayloadSize: 1232,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
  const parse = (bytes: Buffer): DnsMessage | undefined => parseAnswer(bytes, { id, type, host });
  const udpAnswer = await queryByUdp(server, question, parse);
  const answer = udpAnswer.flag_tc ? await queryByTcp(server, question, parse) : udpAnswer;
  const rcode = rcodeOf(answer);
  if (answer.flag_tc || (rcode !== noError && rcode !== nxdomain))
    throw new Error(`the DNS server responded with code ${rcode}`);
  return answer;
}

/** Undefined unless the message answers this query. */
function parseAnswer(
  bytes: Buffer,
  { id, type, host }: { id: number; type: messages.RecordType; host: string },
): DnsMessage | undefined {
  try {
    const message = messages.decode(bytes);
    const [question] = message.questions ?? [];
    return message.type === "response" &&
      message.id === id &&
      question?.type === type &&
      question.name.toLowerCase() === host
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}

type ParseAnswer = (bytes: Buffer) => DnsMessage | undefined;

function queryByUdp(
  { host, port }: DnsServer,
  question: Buffer,
  parse: ParseAnswer,
): Promise<DnsMessage> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    const end = (done: () => void) => {
      clearTimeout(timer);
      socket.close();
      done();
    };
    const timer = setTimeout(
      () => end(() => reject(new Error("the DNS server did not respond in time"))),
      attemptMs,
    );
    socket.once("error", (error) => end(() => reject(error)));
    // Ignore messages that do not match: they are forged, or answers to an earlier query.
    socket.on("message", (bytes) => {
      const message = parse(bytes);
      if (message) end(() => resolve(message));
    });
    // A connected socket receives only messages of this server.
    socket.connect(port, host, () => socket.send(question));
  });
}

/** Over TCP, each message follows its length in two bytes. */
function queryByTcp(
  { host, port }: DnsServer,
  question: Buffer,
  parse: ParseAnswer,
): Promise<DnsMessage> {
  return new Promise((resolve, reject) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    const socket = connect({ host, port });
    const end = (done: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      done();
    };
    const fail = (message: string) => end(() => reject(new Error(message)));
    const timer = setTimeout(() => fail("the DNS server did not respond in time"), attemptMs);
    let received = Buffer.alloc(0);
    socket.once("error", (error) => fail(error.message));
    socket.once("close", () => fail("the DNS server closed the connection"));
    socket.on("data", (part) => {
      received = Buffer.concat([received, part as Buffer]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const answer = parse(received.subarray(2, 2 + received.readUInt16BE(0)));
      if (answer) end(() => resolve(answer));
      else fail("the DNS response does not match the query");
    });
    socket.write(Buffer.concat([length, question]));
  });
}
