// Calls over HTTP to hosts that customers name, or that others do: only to public addresses, those that were checked. Every call has a
// time limit, and follows no redirect.
import http from "node:http";
import https from "node:https";
import { isIPv4, type LookupFunction } from "node:net";
import { allowed, objection } from "../public-urls.ts";
import * as dns from "./dns.ts";
import { codeOf, NoAnswer, NotPublic } from "./no-answer.ts";
import { textOf } from "./web.ts";

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
