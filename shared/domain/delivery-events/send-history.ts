// Reads delivery events for the API: of one send, or of sites, newest first.
import * as z from "zod";
import { getMany, query, queryPages } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { mergeNewestFirst } from "../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { keys, ranges } from "../../keys.ts";
import { type EventType, eventTypes } from "../../providers/inbound/inbound-adapter.ts";
import * as sites from "../identity/sites.ts";
import * as chunks from "../sending/bulk/chunks.ts";
import * as stored from "../sending/sends.ts";
import * as pages from "./event-pages.ts";
import {
  eventKey,
  isAutomatedEvent,
  mayHaveOverflow,
  type OverflowEvent,
  type SendWithEvents,
} from "./send-events.ts";
import { byTimeThenId, type SendEvent } from "./send-outcome.ts";

export const EmailEvent = z
  .object({
    id: RecordId.describe("Id of the event. Higher ids are newer."),
    sendId: RecordId.describe("Send that the event belongs to."),
    toEmail: z.string().describe("Email address of the recipient."),
    subject: z.string().describe("Subject line of the send."),
    type: z.enum(eventTypes).describe("Type of the event."),
    data: z
      .object({
        url: z.string().optional().describe("For `click`: URL of the link."),
        reason: z
          .string()
          .optional()
          .describe("For `bounce`, `dropped` and `deferred`: reason given by the other server."),
        bounceType: z.enum(["hard", "soft"]).optional().describe("For `bounce`: `hard` or `soft`."),
        userAgent: z
          .string()
          .optional()
          .describe("For `open` and `click`: user agent of the recipient's program."),
      })
      .describe("Further data, by type."),
    ipAddress: z
      .string()
      .nullable()
      .describe(
        "IP address that opened, clicked or unsubscribed, if the provider reports it, or `null`.",
      ),
    timestamp: Timestamp.describe("When the event happened, as reported by the provider."),
    provider: z.string().describe("Email provider that reported the event."),
    providerEventId: z
      .string()
      .describe("Id of the event at the provider. An event that is reported twice is stored once."),
    automated: z
      .boolean()
      .describe(
        "Whether a machine opened or clicked: the provider says so, the user agent is a " +
          "known scanner or prefetcher, or the click came within 10 seconds of delivery. Such " +
          "events are left out of unique counts.",
      ),
  })
  .meta({ id: "EmailEvent" });
export type EmailEvent = z.output<typeof EmailEvent>;

// Bounds the size of a response: a link can have a million opens.
const maxEventsReturned = 1000;

export const SendDetail = stored.Send.extend({
  events: z.array(EmailEvent).describe("Events of the send, oldest first. At most about 1,000."),
}).meta({ id: "SendDetail" });
export type SendDetail = z.output<typeof SendDetail>;

/** A send with its events. Throws 404. */
export async function findDetail(caller: Caller, id: number): Promise<SendDetail> {
  const item = await stored.findStored(caller, id);
  return {
    ...stored.toApi(item),
    events: await listEventsOfSend(caller.orgId, { v: 0, ...item }),
  };
}

/** Lists the events of a send, oldest first; at most about 1,000. */
export async function listEventsOfSend(orgId: number, send: SendWithEvents): Promise<EmailEvent[]> {
  const overflow = mayHaveOverflow(send)
    ? (
        await query<OverflowEvent>(ranges.overflowEvents(orgId, send.id), {
          limit: maxEventsReturned,
        })
      ).items
    : [];
  // An overflow event of an abandoned run may since be stored inside the send: list it once.
  const events = new Map(
    [...overflow, ...(send.events ?? [])].map((event) => [eventKey(event), event]),
  );
  return [...events.values()].toSorted(byTimeThenId).map((event) => toApi(send, event));
}

const toApi = (send: SendWithEvents, event: SendEvent): EmailEvent => ({
  id: event.id,
  sendId: send.id,
  toEmail: send.toEmail,
  subject: send.subject,
  type: event.type,
  data: event.data ?? {},
  ipAddress: event.ip ?? null,
  timestamp: event.at,
  provider: send.provider,
  providerEventId: event.providerEventId,
  automated: (event.type === "open" || event.type === "click") && isAutomatedEvent(event, send),
});

/** Lists the events of sites by the time they were counted, newest first. `total` is exact. */
export async function listEvents(
  caller: Caller,
  request: PageRequest,
  { siteId, type }: { siteId?: number | undefined; type?: EventType | undefined },
) {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const query = { orgId: caller.orgId, siteIds, type };
  const [collected, total] = await Promise.all([collectPage(query, request), countEvents(query)]);
  return { events: collected.events, pagination: toPagination(request, total, collected.next) };
}

interface EventQuery {
  orgId: number;
  siteIds: number[];
  type: EventType | undefined;
}

async function countEvents({ orgId, siteIds, type }: EventQuery): Promise<number> {
  const totals = await getMany<Record<string, number>>(
    siteIds.map((siteId) => keys.eventTotals(orgId, siteId)),
  );
  return totals.reduce((sum, counts) => sum + (counts?.[type ?? "all"] ?? 0), 0);
}

interface EventPosition {
  /** Absent if the search stopped at its limit before it found the next row. */
  row?: pages.EventPageRow;
  /** The cursor that continues after this row. */
  next: string;
}

async function collectPage(query: EventQuery, request: PageRequest) {
  let skip = countSkipped(request);
  const collected: EventPosition[] = [];
  let stoppedAt: string | undefined;
  const from = positionOf(request, positionPattern);
  for await (const position of readRows(query, from)) {
    if (!position.row) stoppedAt = position.next;
    else if (skip-- <= 0) collected.push(position);
    if (collected.length > request.limit) break;
  }
  const page = collected.slice(0, request.limit);
  const rows = page.flatMap(({ row }) => (row ? [row] : []));
  const events = await loadEvents(query.orgId, rows);
  return { events, next: collected.length > request.limit ? page.at(-1)?.next : stoppedAt };
}

// A type may be rare: after this many pages without it the response is short and has a cursor.
const maxPagesScanned = 1000;

/** `<run id>|<row>`; `loadSends` in apply-events.ts makes the run ids. */
const positionPattern = new RegExp(
  `^${positionParts.time}#[\\w-]{1,20}#\\d{1,16}#\\d{1,4}\\|\\d{1,6}$`,
);

/** Yields rows from the newest page backwards, starting at a position if one is given. */
async function* readRows(
  { orgId, siteIds, type }: EventQuery,
  from: string | undefined,
): AsyncGenerator<EventPosition> {
  const [run, rowText] = from?.split("|") ?? [];
  const feeds = siteIds.map((siteId) =>
    readPages(orgId, siteId, run === undefined ? undefined : `${run}~`),
  );
  let scanned = 0;
  for await (const page of mergeNewestFirst(feeds)) {
    if (page.void || (type && !page.types[type])) {
      if (++scanned < maxPagesScanned) continue;
      return yield { next: `${page.sk}|0` };
    }
    const rows = await pages.readPage(page);
    const last = Math.min(page.sk === run ? Number(rowText) : rows.length, rows.length) - 1;
    for (let i = last; i >= 0; i--)
      if (!type || rows[i]![2] === type) yield { row: rows[i]!, next: `${page.sk}|${i}` };
  }
}

async function* readPages(
  orgId: number,
  siteId: number,
  start: string | undefined,
): AsyncGenerator<pages.EventPage> {
  const options = { newestFirst: true, limit: 20, after: start };
  for await (const { items } of queryPages<pages.EventPage>(
    ranges.eventPages(orgId, siteId),
    options,
  ))
    yield* items;
}

async function loadEvents(orgId: number, rows: pages.EventPageRow[]): Promise<EmailEvent[]> {
  const [sends, overflowItems] = await Promise.all([
    getMany<SendWithEvents>(rows.map(([sendId]) => keys.send(orgId, sendId))).then((items) =>
      chunks.addAcceptedFields(orgId, items),
    ),
    getMany<OverflowEvent>(
      rows.flatMap(([sendId, , type, providerEventId]) =>
        providerEventId === undefined
          ? []
          : [keys.overflowEvent(orgId, sendId, eventKey({ type, providerEventId }))],
      ),
    ),
  ]);
  const overflow = new Map(overflowItems.flatMap((event) => (event ? [[event.id, event]] : [])));
  return rows.flatMap(([, eventId], i) => {
    const send = sends[i];
    const event = overflow.get(eventId) ?? send?.events?.find(({ id }) => id === eventId);
    return send && event ? [toApi(send, event)] : [];
  });
}
