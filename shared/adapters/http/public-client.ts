// HTTP requests to URLs from customers and other outsiders. They connect only to public IP
// addresses, have a time limit and follow no redirect.
import http from "node:http";
import https from "node:https";
import { isIPv4, type LookupFunction } from "node:net";
import { isConnectableIp } from "../../kernel/ip-addresses.ts";
import { findUrlFault } from "../../kernel/public-urls.ts";
import * as hostAddresses from "../dns/host-addresses.ts";
import { readBytes, timeoutError, watchConnection } from "./client.ts";
import { errorCodeOf, NoResponse, NotPublicUrl } from "./no-response.ts";

interface PostResult {
  status: number;
  /** The first bytes of the response, as UTF-8. */
  startOfText: string;
}

export interface PublicPostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutSeconds: number;
  /** Also allows this machine, for the local runner. */
  allowLoopback: boolean;
}

/**
 * POSTs to a URL of a customer. Resolves the host once, requires that every address is public, and
 * connects to one of these addresses; TLS and the Host header use the name. Throws only
 * `NoResponse`.
 */
export async function postToPublicUrl(post: PublicPostRequest): Promise<PostResult> {
  const fault = findUrlFault(post.url, post.allowLoopback);
  if (fault) throw new NoResponse(false, new NotPublicUrl(`The URL ${fault}`));
  const deadline = performance.now() + post.timeoutSeconds * 1000;
  return postOnce(post, deadline).catch((error: NoResponse & { reusedDeadConnection?: true }) => {
    // The server had closed an idle connection. That only becomes known when it is used again.
    if (!error.reusedDeadConnection) throw error;
    return postOnce(post, deadline);
  });
}

export interface PublicRequest {
  /** Default: GET. */
  method?: "GET" | "POST";
  url: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  timeoutSeconds: number;
  maxBytes: number;
  allowLoopback: boolean;
  signal?: AbortSignal | undefined;
  /** Returns the text of the response. Default: as UTF-8. */
  decode?: ((bytes: Uint8Array, contentType: string | undefined) => string) | undefined;
}

export interface PublicResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/**
 * Requests an outside URL, such as the target of a redirect, with the checks of `postToPublicUrl`,
 * and reads the response. Throws only `NoResponse`.
 */
export async function requestPublicUrl(input: PublicRequest): Promise<PublicResponse> {
  const fault = findUrlFault(input.url, input.allowLoopback);
  if (fault) throw new NoResponse(false, new NotPublicUrl(`The URL ${fault}`));
  const { request: send } = protocols[new URL(input.url).protocol as keyof typeof protocols];
  const signals = [
    AbortSignal.timeout(Math.ceil(input.timeoutSeconds * 1000)),
    ...(input.signal ? [input.signal] : []),
  ];
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(new NoResponse(true, error));
    const options = {
      method: input.method ?? "GET",
      headers: input.headers ?? {},
      agent: false as const,
      lookup: createPublicLookup(input.allowLoopback),
      signal: AbortSignal.any(signals),
    };
    const request = send(input.url, options, (response) => {
      response.on("error", fail);
      const { statusCode, headers } = response;
      readBytes(response, input.maxBytes)
        .then((bytes) => input.decode?.(bytes, headers["content-type"]) ?? bytes.toString("utf8"))
        .then((text) => resolve({ status: statusCode!, headers, text }))
        .catch((error: unknown) => {
          request.destroy();
          fail(error);
        });
    });
    request.on("error", fail);
    request.end(input.body);
  });
}

/**
 * Keeps connections open, so that one serves many requests to an endpoint. It stays at the address
 * that was checked.
 */
function keepAliveAgent<A extends http.Agent>(
  Agent: new (options: http.AgentOptions) => A,
): () => A {
  let agent: A | undefined;
  return () => {
    agent ??= new Agent({ keepAlive: true, timeout: 30_000 });
    return agent;
  };
}
const protocols = {
  "https:": { request: https.request, agent: keepAliveAgent(https.Agent) },
  "http:": { request: http.request, agent: keepAliveAgent(http.Agent) },
};

function postOnce(
  { url, headers, body, allowLoopback }: PublicPostRequest,
  deadline: number,
): Promise<PostResult> {
  const { request: send, agent } = protocols[new URL(url).protocol as keyof typeof protocols];
  const lookup = createPublicLookup(allowLoopback);
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      agent: agent(),
      lookup,
    });
    const mayHaveArrived = watchConnection(request);
    const timer = setTimeout(() => request.destroy(timeoutError()), deadline - performance.now());
    request.once("close", () => clearTimeout(timer));
    request.once("response", (response) => {
      clearTimeout(timer);
      readStart(response).then((startOfText) =>
        resolve({ status: response.statusCode!, startOfText }),
      );
    });
    request.on("error", (error) => {
      const isDeadConnection =
        request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(errorCodeOf(error));
      reject(
        Object.assign(
          new NoResponse(mayHaveArrived(), error),
          isDeadConnection && { reusedDeadConnection: true },
        ),
      );
    });
    request.end(body);
  });
}

const maxDiscardedBytes = 64_000;
const maxDiscardMs = 1000;

const startBytes = 1000;

/**
 * Returns the start of a response as soon as it is there. Drops the rest, so that the connection
 * can be reused, and closes the connection if that takes too long.
 */
function readStart(response: http.IncomingMessage): Promise<string> {
  let start = Buffer.alloc(0);
  let remainingBytes = maxDiscardedBytes;
  const timer = setTimeout(() => response.destroy(), maxDiscardMs).unref();
  return new Promise((resolve) => {
    const end = () => resolve(start.toString("utf8"));
    response.on("data", (part: Buffer) => {
      if (start.length < startBytes)
        start = Buffer.concat([start, part.subarray(0, startBytes - start.length)]);
      if (start.length >= startBytes) end();
      remainingBytes -= part.length;
      if (remainingBytes < 0) response.destroy();
    });
    response.on("error", () => {});
    response.once("close", () => {
      clearTimeout(timer);
      end();
    });
    response.once("end", end);
  });
}

const createPublicLookup =
  (allowLoopback: boolean): LookupFunction =>
  (host, { all }, done) => {
    resolvePublicHost(host, allowLoopback).then(
      (addresses) => {
        const entries = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
        if (all) done(null, entries);
        else done(null, entries[0]!.address, entries[0]!.family);
      },
      (error: Error) => done(error, ""),
    );
  };

async function resolvePublicHost(host: string, allowLoopback: boolean): Promise<string[]> {
  // findUrlFault refuses this name unless loopback is allowed.
  if (host === "localhost") return ["127.0.0.1", "::1"];
  const addresses = await hostAddresses.resolveHost(host);
  if (!addresses.length)
    throw new NotPublicUrl("The URL's host name does not resolve to an address");
  if (!addresses.every((address) => isConnectableIp(address, allowLoopback)))
    throw new NotPublicUrl("The URL's host name resolves to an address that is not public");
  return addresses;
}
