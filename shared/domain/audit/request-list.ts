// Reads the request log, newest first.
import * as z from "zod";
import { query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { type PageRequest, type Pagination, positionOf, readPage } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { ranges } from "../../keys.ts";
import { findActorNames } from "./actor-names.ts";
import {
  dayOf,
  type LoggedRequest,
  minuteOf,
  type RequestBlock,
  readBlock,
  requestRetentionDays,
} from "./request-log.ts";

export const RequestEntry = z
  .object({
    requestId: z.string().describe("`X-Request-Id` of the response."),
    at: Timestamp.describe("When the response was ready."),
    key: z
      .object({
        id: RecordId.describe("Id of the API key."),
        name: z.string().nullable().describe("Name of the API key. `null`: it was revoked."),
      })
      .describe("The API key of the request."),
    method: z.string().describe("Method of the request."),
    route: z.string().describe("Path of the endpoint: `/api/v1/contacts/{id}`."),
    path: z
      .string()
      .describe(
        "Path of the request with its ids, without the query. Parameters that are not ids, such " +
          "as email addresses, keep the name of the parameter.",
      ),
    status: Count.describe("HTTP status of the response."),
    code: z.string().nullable().describe("Code of the error. `null`: no error."),
    milliseconds: Count.describe("How long the service worked on the request."),
    address: z.string().describe("IP address of the client."),
  })
  .meta({ id: "RequestLogEntry" });
export type RequestEntry = z.output<typeof RequestEntry>;

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;

export interface RequestFilter {
  keyId?: number | undefined;
  status?: (typeof statusClasses)[number] | undefined;
  method?: string | undefined;
  path?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const positionPattern = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#[\w=+/-]{1,100}$/;
/** Requests that one call looks at, before it ends the page. */
const maxRead = 20_000;
const blocksPerRead = 50;

/** `time#requestId`: the order of the list. */
const positionOfRequest = ({ at, requestId }: LoggedRequest): string => `${at}#${requestId}`;

/** Requests of the last 30 days. A page may have fewer entries than `limit` and a `nextCursor`. */
export async function list(
  { orgId }: CallerScope,
  request: PageRequest & RequestFilter,
): Promise<{ items: RequestEntry[]; pagination: Pagination }> {
  return readPage(request, {
    read: (needed) => readRequests(orgId, request, needed),
    toApi: (requests) => toApi(orgId, requests),
  });
}

async function readRequests(
  orgId: number,
  { from, to, ...request }: PageRequest & RequestFilter,
  needed: number,
): Promise<{ found: LoggedRequest[]; next: string | undefined }> {
  // Both are limited, because every day in between is a read.
  const [oldest, newest] = [addSeconds(-requestRetentionDays * 86_400), addSeconds(60)];
  const first = toUtc(from, oldest, newest) ?? oldest.toISOString();
  const end = toUtc(to, oldest, newest) ?? newest.toISOString();
  const below = positionOf(request, positionPattern) ?? end;
  const found: LoggedRequest[] = [];
  let read = 0;
  for await (const { minute, requests } of readMinutes(orgId, first, below)) {
    const wanted = requests
      .filter((one) => positionOfRequest(one) < below && one.at >= first && matches(one, request))
      .sort((a, b) => (positionOfRequest(a) > positionOfRequest(b) ? -1 : 1));
    found.push(...wanted);
    read += requests.length;
    if (found.length > needed)
      return { found: found.slice(0, needed), next: positionOfRequest(found[needed - 1]!) };
    if (read >= maxRead) return { found, next: `${minute}:00.000Z#0` };
  }
  return { found, next: undefined };
}

function toUtc(time: string | undefined, min: Date, max: Date): string | undefined {
  if (time === undefined) return undefined;
  const limited = Math.min(Math.max(Date.parse(time), min.getTime()), max.getTime());
  return new Date(limited).toISOString();
}

/** All requests minute by minute, from the newest. A minute has the blocks of several processes. */
async function* readMinutes(
  orgId: number,
  first: string,
  below: string,
): AsyncGenerator<{ minute: string; requests: LoggedRequest[] }> {
  let minute = "";
  let requests: LoggedRequest[] = [];
  for await (const blocks of readBlocks(orgId, first, below)) {
    const read = await inParallel(8, blocks, readBlock);
    for (const [i, { sk }] of blocks.entries()) {
      if (minuteOf(sk) !== minute && requests.length) {
        yield { minute, requests };
        requests = [];
      }
      minute = minuteOf(sk);
      requests.push(...read[i]!);
    }
  }
  if (requests.length) yield { minute, requests };
}

async function* readBlocks(
  orgId: number,
  first: string,
  below: string,
): AsyncGenerator<RequestBlock[]> {
  // Sort keys are `minute#...`, so this includes the whole minute of `below`.
  let end: string | undefined = `${minuteOf(below)}~`;
  for (let day = dayOf(below); day >= dayOf(first); day = dayBefore(day)) {
    for (;;) {
      const page: { items: RequestBlock[]; next?: string } = await query<RequestBlock>(
        ranges.requestBlocks(orgId, day),
        { newestFirst: true, limit: blocksPerRead, below: end },
      );
      const blocks = page.items.filter(({ sk }) => minuteOf(sk) >= minuteOf(first));
      if (blocks.length) yield blocks;
      if (page.next === undefined || blocks.length < page.items.length) break;
      end = page.next;
    }
    end = undefined;
  }
}

const dayBefore = (day: string): string => {
  const time = new Date(`${day}T00:00:00.000Z`);
  return dayOf(addSeconds(-86_400, time).toISOString());
};

function matches(request: LoggedRequest, filter: RequestFilter): boolean {
  const { keyId, status, method, path } = filter;
  return (
    (keyId === undefined || request.keyId === keyId) &&
    (status === undefined || String(request.status)[0] === status[0]) &&
    (method === undefined || request.method === method) &&
    (path === undefined || request.path.startsWith(path) || request.route === path)
  );
}

async function toApi(orgId: number, requests: LoggedRequest[]): Promise<RequestEntry[]> {
  const toActor = ({ keyId }: LoggedRequest) => ({ type: "api_key" as const, id: keyId });
  const nameOf = await findActorNames(orgId, requests.map(toActor));
  return requests.map(({ keyId, ...request }) => ({
    ...request,
    key: { id: keyId, name: nameOf({ type: "api_key", id: keyId }) },
  }));
}
