// The only file that calls out over HTTP. Every call has a time limit and a size cap, and follows no redirect. `call` is for hosts
// that we know, `callPublic` for those that customers name.
import http from "node:http";
import https from "node:https";
import { isIPv4, type LookupFunction } from "node:net";
import { allowed, objection } from "../public-urls.ts";
import * as dns from "./dns.ts";

export interface WebRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | FormData | undefined;
  timeoutSeconds?: number;
  maxBytes?: number;
}

export interface WebResponse {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * The call brought no answer. `reached` false: the connection was never made, so nothing can have happened;
 * true: the request may have been carried out before the answer was lost.
 */
export class NoAnswer extends Error {
  readonly reached: boolean;
  constructor(reached: boolean, cause: unknown) {
    super(reached ? "The connection was lost before an answer came" : "No connection could be made", { cause });
    this.reached = reached;
  }

  /** In one sentence that may be shown to whoever runs the other end. */
  get reason(): string {
    const { cause } = this;
    if (cause instanceof NotPublic) return cause.message;
    if (this.timedOut) return "No answer came in time";
    if (badCertificate(cause)) return `The TLS certificate was not accepted (${codeOf(cause)})`;
    const code = codeOf(cause);
    return code ? `${this.message} (${code})` : this.message;
  }

  get timedOut(): boolean {
    return this.cause instanceof Error && this.cause.name === "TimeoutError";
  }
}

/** A URL leads where customers' URLs must not. */
class NotPublic extends Error {}

/** Any status is an answer; throws only NoAnswer. Defaults: GET, 15 s, 1 MB of answer. */
export async function call({
  method = "GET",
  url,
  headers = {},
  body,
  timeoutSeconds = 15,
  maxBytes = 1_000_000,
}: WebRequest): Promise<WebResponse> {
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, text: await textOf(response, maxBytes) };
  } catch (error) {
    throw new NoAnswer(!neverConnected(error), error);
  }
}

interface Answer {
  body: AsyncIterable<Uint8Array> | null;
}

const textOf = async (response: Answer, maxBytes: number): Promise<string> => (await bytesOf(response, maxBytes)).toString("utf8");

async function bytesOf({ body }: Answer, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** GETs bytes from a host that we know, in one answer of at most `maxBytes`. Throws only NoAnswer. */
export async function download(
  url: string,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: Uint8Array }> {
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(15_000) });
    return { status: response.status, bytes: await bytesOf(response, maxBytes) };
  } catch (error) {
    throw new NoAnswer(!neverConnected(error), error);
  }
}

export interface PublicPost {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutSeconds: number;
  /** Also to this machine, as the local runner lets one. */
  allowLoopback: boolean;
}

/**
 * POSTs to a URL that a customer gave. Its host is resolved once, every address is checked to be public, and the connection is made
 * to one that was checked; the name stays what TLS and the Host header say. Any status is an answer, and nothing else of it is
 * looked at. Throws only NoAnswer.
 */
export async function callPublic(post: PublicPost): Promise<{ status: number }> {
  const against = objection(post.url, post.allowLoopback);
  if (against) throw new NoAnswer(false, new NotPublic(`The URL ${against}`));
  const until = performance.now() + post.timeoutSeconds * 1000;
  return postOnce(post, until).catch((error: NoAnswer & { stale?: true }) => {
    // The other side had closed a connection that we kept, which is found out by using it.
    if (!error.stale) throw error;
    return postOnce(post, until);
  });
}

export interface PublicRead {
  url: string;
  headers?: Record<string, string>;
  timeoutSeconds: number;
  maxBytes: number;
  allowLoopback: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * GETs a URL that somebody else named, such as where a registry redirects to, under the same checks as `callPublic`; no redirect is
 * followed. Throws only NoAnswer.
 */
export async function readPublic(read: PublicRead): Promise<{ status: number; location: string | undefined; text: string }> {
  const against = objection(read.url, read.allowLoopback);
  if (against) throw new NoAnswer(false, new NotPublic(`The URL ${against}`));
  const { request: send } = protocols[new URL(read.url).protocol as keyof typeof protocols];
  const signals = [AbortSignal.timeout(Math.ceil(read.timeoutSeconds * 1000)), ...(read.signal ? [read.signal] : [])];
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => reject(new NoAnswer(true, error));
    const options = {
      headers: read.headers ?? {},
      agent: false as const,
      lookup: publicLookup(read.allowLoopback),
      signal: AbortSignal.any(signals),
    };
    const request = send(read.url, options, (response) => {
      response.on("error", failed);
      textOf({ body: response }, read.maxBytes)
        .then((text) => resolve({ status: response.statusCode!, location: response.headers.location, text }))
        .catch((error: unknown) => {
          request.destroy();
          failed(error);
        });
    });
    request.on("error", failed);
    request.end();
  });
}

/** Connections are kept for a while: one to an endpoint serves many calls, and stays at the address that was checked. */
function keeping<A extends http.Agent>(Agent: new (options: http.AgentOptions) => A): () => A {
  let agent: A | undefined;
  return () => {
    agent ??= new Agent({ keepAlive: true, timeout: 30_000 });
    return agent;
  };
}
const protocols = {
  "https:": { request: https.request, agent: keeping(https.Agent), connected: "secureConnect" },
  "http:": { request: http.request, agent: keeping(http.Agent), connected: "connect" },
};

function postOnce({ url, headers, body, allowLoopback }: PublicPost, until: number): Promise<{ status: number }> {
  const { request: send, agent, connected } = protocols[new URL(url).protocol as keyof typeof protocols];
  const lookup = publicLookup(allowLoopback);
  return new Promise((resolve, reject) => {
    let reached = false;
    const request = send(url, {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      agent: agent(),
      lookup,
    });
    const timer = setTimeout(() => request.destroy(new DOMException("No answer in time", "TimeoutError")), until - performance.now());
    request.once("close", () => clearTimeout(timer));
    request.once("socket", (socket) => {
      if (request.reusedSocket) reached = true;
      else
        socket.once(connected, () => {
          reached = true;
        });
    });
    request.once("response", (response) => {
      clearTimeout(timer);
      drain(response);
      resolve({ status: response.statusCode! });
    });
    request.on("error", (error) => {
      const stale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(codeOf(error));
      reject(Object.assign(new NoAnswer(reached, error), stale && { stale }));
    });
    request.end(body);
  });
}

const mostDrainedBytes = 64_000;
const mostDrainedMs = 1000;

/** Reads off what is left of an answer, so that its connection can be used again; a long or slow one costs the connection. */
function drain(response: http.IncomingMessage) {
  let left = mostDrainedBytes;
  const timer = setTimeout(() => response.destroy(), mostDrainedMs).unref();
  response.on("data", (part: Buffer) => {
    left -= part.length;
    if (left < 0) response.destroy();
  });
  response.on("error", () => {});
  response.once("close", () => clearTimeout(timer));
}

const publicLookup =
  (allowLoopback: boolean): LookupFunction =>
  (host, { all }, done) => {
    checkedAddresses(host, allowLoopback).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
        if (all) done(null, found);
        else done(null, found[0]!.address, found[0]!.family);
      },
      (error: Error) => done(error, ""),
    );
  };

async function checkedAddresses(host: string, allowLoopback: boolean): Promise<string[]> {
  // Where loopback is not allowed, nobody gets here with this name.
  if (host === "localhost") return ["127.0.0.1", "::1"];
  const addresses = await dns.addresses(host);
  if (!addresses.length) throw new NotPublic("The host of the URL has no address");
  if (!addresses.every((address) => allowed(address, allowLoopback)))
    throw new NotPublic("The host of the URL has an address that is not public");
  return addresses;
}

const connectFaults = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const faults: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return faults.every((fault) => fault instanceof Error && (connectFaults.has(codeOf(fault)) || failedHandshake(fault)));
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? "");

// The certificate is looked at, and a common version and cipher found, before anything of the request is sent. Other TLS alerts may
// also come later: TLS 1.3 tells after the first request that it wants a certificate of the client's.
const handshakeFaults =
  /^(ERR_TLS_CERT|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE)|.*UNRECOGNIZED_NAME)$)/;
const certificateFaults = /^(?!ERR_)(.*CERT|CRL_|.*ISSUER|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH)/;

const failedHandshake = (fault: Error): boolean => badCertificate(fault) || handshakeFaults.test(codeOf(fault)) || cutShort(fault);

const badCertificate = (fault: unknown): boolean => codeOf(fault).startsWith("ERR_TLS_CERT") || certificateFaults.test(codeOf(fault));

// Node gives it the code of a lost connection, and only the message tells.
const cutShort = ({ message }: Error): boolean => message.includes("before secure TLS connection was established");
