// The request log: the requests that were made with API keys. A process collects them and writes
// them in compressed blocks, each with requests of one organization and one minute, because a write
// per request would cost as much as some requests. Requests that a process has not written when it
// is stopped are missing.
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { put, writeMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
import * as log from "../../kernel/log.ts";
import { type Key, keys } from "../../keys.ts";

export const requestRetentionDays = 30;

export interface LoggedRequest {
  /** ISO 8601. */
  at: string;
  requestId: string;
  keyId: number;
  method: string;
  /** Path of the route, with the names of its parameters. */
  route: string;
  /** Path of the request. Parameters that are not ids are left out. */
  path: string;
  status: number;
  code: string | null;
  milliseconds: number;
  address: string;
}

/** A request as a block stores it: names would need more space than values. */
type StoredRequest = [
  at: string,
  requestId: string,
  keyId: number,
  method: string,
  route: string,
  path: string,
  status: number,
  code: string | null,
  milliseconds: number,
  address: string,
];

export interface RequestBlock extends Key {
  gz: Uint8Array;
}

interface Pending {
  requests: LoggedRequest[];
  since: Date;
}
const pendingByOrg = new Map<number, Pending>();

/** How long a request waits for others. */
const maxWaitSeconds = 20;
/** After a refused request, the next write is at most this far away. */
const errorWaitSeconds = 1;
const maxRequestsPerBlock = 500;
const maxPending = 5000;
const lastErrorWrite = new Map<number, Date>();

/** Set on one machine, where a timer writes what was collected. */
let hasTimer = false;

/**
 * Collects the request, and writes what was collected if it is due. A Lambda function waits for the
 * write, because it is paused after the response.
 */
export async function logRequest(orgId: number, request: LoggedRequest): Promise<void> {
  const pending = pendingByOrg.get(orgId) ?? { requests: [], since: now() };
  pendingByOrg.set(orgId, pending);
  pending.requests.push(request);
  if (isDue(orgId, pending, request)) await writePending(orgId);
}

function isDue(orgId: number, { requests, since }: Pending, { status }: LoggedRequest): boolean {
  if (requests.length >= maxRequestsPerBlock) return true;
  if (hasTimer) return false;
  if (since <= addSeconds(-maxWaitSeconds)) return true;
  return status >= 400 && isErrorDue(orgId);
}

/** Errors are written at once, but not more often than once a second. */
function isErrorDue(orgId: number): boolean {
  const last = lastErrorWrite.get(orgId);
  if (last && last > addSeconds(-errorWaitSeconds)) return false;
  if (lastErrorWrite.size >= 1000) lastErrorWrite.clear();
  lastErrorWrite.set(orgId, now());
  return true;
}

/** Writes all that was collected. */
export async function writeRequests(): Promise<void> {
  await Promise.all([...pendingByOrg.keys()].map(writePending));
}

/** A failure must not fail the request: the requests wait for the next write. */
async function writePending(orgId: number): Promise<void> {
  const { requests = [] } = pendingByOrg.get(orgId) ?? {};
  pendingByOrg.delete(orgId);
  if (!requests.length) return;
  try {
    await writeMany(await toBlockWrites(orgId, requests));
  } catch (error) {
    log.error("request log not written", error, { orgId });
    const later = pendingByOrg.get(orgId)?.requests ?? [];
    pendingByOrg.set(orgId, {
      requests: [...requests, ...later].slice(-maxPending),
      since: now(),
    });
  }
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);

async function toBlockWrites(orgId: number, requests: LoggedRequest[]) {
  const byMinute = Map.groupBy(requests, ({ at }) => minuteOf(at));
  const expires = epochSeconds() + requestRetentionDays * 86_400;
  return Promise.all(
    [...byMinute].map(async ([minute, some]) => {
      const key = keys.requestBlock(orgId, dayOf(minute), `${minute}#${randomBase62(8)}`);
      return put(key, { gz: await zip(JSON.stringify(some.map(toStored))), expires });
    }),
  );
}

/** The minute of a time, such as `2026-12-01T09:00`. */
export const minuteOf = (time: string): string => time.slice(0, 16);
export const dayOf = (time: string): string => time.slice(0, 10);

const toStored = (request: LoggedRequest): StoredRequest => [
  request.at,
  request.requestId,
  request.keyId,
  request.method,
  request.route,
  request.path,
  request.status,
  request.code,
  request.milliseconds,
  request.address,
];

function fromStored(stored: StoredRequest): LoggedRequest {
  const [at, requestId, keyId, method, route, path, status, code, milliseconds, address] = stored;
  return { at, requestId, keyId, method, route, path, status, code, milliseconds, address };
}

export async function readBlock({ gz }: RequestBlock): Promise<LoggedRequest[]> {
  const stored = JSON.parse((await unzip(gz)).toString("utf8")) as StoredRequest[];
  return stored.map(fromStored);
}

const timerMs = 10_000;

/**
 * Writes what was collected every ten seconds, instead of when a later request finds it due. For a
 * service on one machine. Returns a function that stops the timer and writes the rest.
 */
export function writeEveryTenSeconds(writeMore: () => Promise<void>): () => Promise<void> {
  hasTimer = true;
  const writeAll = async () => {
    await Promise.all([writeRequests(), writeMore()]).catch((error: unknown) =>
      log.error("logs not written", error),
    );
  };
  const timer = setInterval(writeAll, timerMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    hasTimer = false;
    await writeAll();
  };
}
