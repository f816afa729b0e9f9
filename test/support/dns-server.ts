// A small DNS server on this machine, over UDP and TCP, for tests of domains.
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import * as messages from "dns-packet";

type DnsValue = string | { preference: number; exchange: string };

/**
 * `servfail`, `refused`: the response code. `silent`: no response. `truncated`: the answer is only
 * available over TCP. `torn`: like truncated, but the TCP connection is cut. `garbage`: bytes that
 * are no DNS message. `stranger`: an answer to another question.
 */
export type DnsFault =
  | "servfail"
  | "refused"
  | "silent"
  | "truncated"
  | "torn"
  | "garbage"
  | "stranger";

export interface DnsZone {
  /** Records by `<type> <name>`. Names without records do not exist. */
  records: Record<string, DnsValue[]>;
  /** Faults by name or by `<type> <name>`. */
  faults?: Record<string, DnsFault>;
  ttlSeconds?: number;
}

export interface DnsServer {
  /** The address for the setting DNS_SERVERS. */
  address: string;
  /** All queries so far, such as `TXT shop.example`. */
  queries: string[];
  zone: DnsZone;
  close(): Promise<void>;
}

export async function startDnsServer(zone: DnsZone): Promise<DnsServer> {
  const queries: string[] = [];
  const served: DnsServer = { address: "", queries, zone, close: async () => {} };
  const udp = createSocket("udp4");
  const tcp = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const reply = answerQuery(served.zone, (bytes as Buffer).subarray(2), "tcp");
      if (!reply) return socket.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      // Two writes, because a network can split the message.
      socket.write(length);
      socket.write(reply);
    });
  });
  udp.on("message", (query, { port, address }) => {
    const [{ type, name } = { type: "", name: "" }] = messages.decode(query).questions ?? [];
    queries.push(`${type} ${name}`);
    const reply = answerQuery(served.zone, query, "udp");
    if (reply) udp.send(reply, port, address);
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = tcp.address() as { port: number };
  await new Promise<void>((resolve, reject) =>
    udp.once("error", reject).bind(port, "127.0.0.1", resolve),
  );
  served.address = `127.0.0.1:${port}`;
  served.close = async () => {
    await new Promise<void>((resolve) => udp.close(() => resolve()));
    await new Promise<void>((resolve) => tcp.close(() => resolve()));
  };
  return served;
}

const [authoritative, truncated] = [1 << 10, 1 << 9];
const codes = { servfail: 2, refused: 5, missing: 3 };

function answerQuery(
  { records, faults = {}, ttlSeconds = 300 }: DnsZone,
  query: Buffer,
  over: "udp" | "tcp",
): Buffer | undefined {
  const { id = 0, questions = [] } = messages.decode(query);
  const [question] = questions;
  const { type, name } = question!;
  const host = name.toLowerCase();
  const fault = faults[`${type} ${host}`] ?? faults[host];
  const response = (
    flags: number,
    answers: messages.Answer[] = [],
    authorities: messages.Answer[] = [],
  ) =>
    messages.encode({
      type: "response",
      id,
      flags: flags | authoritative,
      questions,
      answers,
      authorities,
    });
  if (fault === "silent") return undefined;
  if (fault === "servfail" || fault === "refused") return response(codes[fault]);
  if (fault === "garbage") return Buffer.from("this is no message");
  if (fault === "stranger")
    return messages.encode({
      type: "response",
      id,
      questions: [{ type: "A", name: "elsewhere.example" }],
    });
  if ((fault === "truncated" || fault === "torn") && over === "udp") return response(truncated);
  if (fault === "torn") return undefined;
  const answers = resolveAliases(records, type, host, ttlSeconds);
  const exists = Object.keys(records).some(
    (key) => key.endsWith(` ${host}`) || key.endsWith(`.${host}`),
  );
  return response(exists ? 0 : codes.missing, answers, answers.length ? [] : [soa(ttlSeconds)]);
}

/** Returns the records and the aliases that lead to them, like a resolver. */
function resolveAliases(
  records: DnsZone["records"],
  type: string,
  host: string,
  ttl: number,
): messages.Answer[] {
  const [alias] = type === "CNAME" ? [] : (records[`CNAME ${host}`] ?? []);
  if (alias)
    return [
      { type: "CNAME", name: host, ttl, data: alias as string },
      ...resolveAliases(records, type, alias as string, ttl),
    ];
  return (records[`${type} ${host}`] ?? []).map(
    (data) => ({ type, name: host, ttl, data: encodeValue(type, data) }) as messages.Answer,
  );
}

/** A TXT record consists of strings of at most 255 bytes. */
const encodeValue = (type: string, data: DnsValue): unknown =>
  type === "TXT" ? (String(data).match(/[\s\S]{1,200}/g) ?? [""]) : data;

const soa = (minimum: number): messages.Answer => ({
  type: "SOA",
  name: "example",
  ttl: minimum,
  data: {
    mname: "ns.example",
    rname: "root.example",
    serial: 1,
    refresh: 3600,
    retry: 600,
    expire: 86_400,
    minimum,
  },
});
