// Events as callers read them: of one send, or of sites, newest first.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { getMany, query } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import { newestOf } from "../../merge.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../../paging.ts";
import { type EventType, eventTypes } from "../../providers/inbound/inbound.ts";
import * as sites from "../sites.ts";
import * as pages from "./pages.ts";
import type { Entry } from "./timeline.ts";
import { type FurtherEntry, isAutomated, mayHaveFurther, nameOf, type TimelineItem } from "./timeline-item.ts";

export const EmailEvent = z
  .object({
    id: z.int(),
    sendId: z.int(),
    toEmail: z.string(),
    subject: z.string(),
    type: z.enum(eventTypes),
    data: z
      .object({
        url: z.string().optional().describe("click: the link"),
        reason: z.string().optional().describe("bounce, dropped, deferred: what the other server said"),
        bounceType: z.enum(["hard", "soft"]).optional(),
        userAgent: z.string().optional(),
      })
      .describe("What belongs to the type"),
    ipAddress: z.string().nullable(),
    timestamp: z.string(),
    provider: z.string(),
    providerEventId: z.string(),
    automated: z
      .boolean()
      .describe(
        "An open or click by a machine, which raises no unique count: the provider says so, the user agent is a known scanner or prefetcher, or the click came within 10 seconds of delivery",
      ),
  })
  .meta({ id: "EmailEvent" });
export type EmailEvent = z.output<typeof EmailEvent>;

// What an answer can carry. Of a link that a million people opened nobody reads them all.
const mostTold = 1000;

/** The events of a send, oldest first; at most about 1,000. */
export async function ofSend(orgId: number, send: TimelineItem): Promise<EmailEvent[]> {
  const further = mayHaveFurther(send) ? (await query<FurtherEntry>(ranges.sendEvents(orgId, send.id), { limit: mostTold })).items : [];
  // One that a run put beside the send and then died over may since lie inside.
  const entries = new Map([...further, ...(send.events ?? [])].map((entry) => [nameOf(entry), entry]));
  return [...entries.values()].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id - b.id)).map((entry) => told(send, entry));
}

const told = (send: TimelineItem, entry: Entry): EmailEvent => ({
  id: entry.id,
  sendId: send.id,
  toEmail: send.toEmail,
  subject: send.subject,
  type: entry.type,
  data: entry.data ?? {},
  ipAddress: entry.ip ?? null,
  timestamp: entry.at,
  provider: send.provider,
  providerEventId: entry.providerEventId,
  automated: (entry.type === "open" || entry.type === "click") && isAutomated(entry, send),
});

/** By the time we counted them, newest first; `total` is exact. */
export async function list(
  caller: Caller,
  request: PageRequest,
  { siteId, type }: { siteId?: number | undefined; type?: EventType | undefined },
) {
  const siteIds = await sites.visible(caller, siteId);
  const [found, total] = await Promise.all([collect(caller.orgId, siteIds, request, type), totalOf(caller.orgId, siteIds, type)]);
  return { events: found.events, pagination: pagination(request, total, found.next) };
}

async function totalOf(orgId: number, siteIds: number[], type: EventType | undefined): Promise<number> {
  const totals = await getMany<Record<string, number>>(siteIds.map((siteId) => keys.eventTotals(orgId, siteId)));
  return totals.reduce((sum, counts) => sum + (counts?.[type ?? "all"] ?? 0), 0);
}

interface Place {
  /** Absent where a search ends that has more to look through. */
  row?: pages.PageRow;
  /** Where to go on after it. */
  next: string;
}

async function collect(orgId: number, siteIds: number[], request: PageRequest, type: EventType | undefined) {
  let skip = skipped(request);
  const found: Place[] = [];
  let stoppedAt: string | undefined;
  for await (const place of places(orgId, siteIds, type, decodeCursor(request.cursor))) {
    if (!place.row) stoppedAt = place.next;
    else if (skip-- <= 0) found.push(place);
    if (found.length > request.limit) break;
  }
  const page = found.slice(0, request.limit);
  const events = await loaded(
    orgId,
    page.flatMap(({ row }) => (row ? [row] : [])),
  );
  return { events, next: found.length > request.limit ? page.at(-1)?.next : stoppedAt };
}

// A type may be rare: after so many pages without it the answer ends short, with a cursor to go on.
const mostPassed = 1000;

/** Row by row from the newest page back, or from where a cursor (`run|row`) stands. */
async function* places(orgId: number, siteIds: number[], type: EventType | undefined, from: string | undefined): AsyncGenerator<Place> {
  const [run, rowText] = from?.split("|") ?? [];
  const feeds = siteIds.map((siteId) => pagesOf(orgId, siteId, run === undefined ? undefined : `${run}~`));
  let passed = 0;
  for await (const page of newestOf(feeds)) {
    if (page.void || (type && !page.types[type])) {
      if (++passed < mostPassed) continue;
      return yield { next: `${page.sk}|0` };
    }
    const rows = await pages.read(page);
    const last = page.sk === run ? Number(rowText) - 1 : rows.length - 1;
    for (let i = last; i >= 0; i--) if (!type || rows[i]![2] === type) yield { row: rows[i]!, next: `${page.sk}|${i}` };
  }
}

async function* pagesOf(orgId: number, siteId: number, start: string | undefined): AsyncGenerator<pages.PageItem> {
  let after = start;
  do {
    const { items, next } = await query<pages.PageItem>(ranges.eventPages(orgId, siteId), { newestFirst: true, limit: 20, after });
    yield* items;
    after = next;
  } while (after !== undefined);
}

async function loaded(orgId: number, rows: pages.PageRow[]): Promise<EmailEvent[]> {
  const [sends, besides] = await Promise.all([
    getMany<TimelineItem>(rows.map(([sendId]) => keys.send(orgId, sendId))),
    getMany<FurtherEntry>(rows.flatMap(([sendId, , type, id]) => (id === undefined ? [] : [besideAt(orgId, sendId, type, id)]))),
  ]);
  const beside = new Map(besides.flatMap((entry) => (entry ? [[entry.id, entry]] : [])));
  return rows.flatMap(([, eventId], i) => {
    const send = sends[i];
    const entry = beside.get(eventId) ?? send?.events?.find(({ id }) => id === eventId);
    return send && entry ? [told(send, entry)] : [];
  });
}

const besideAt = (orgId: number, sendId: number, type: EventType, providerEventId: string) =>
  keys.sendEvent(orgId, sendId, nameOf({ type, providerEventId }));
