// Reads delivery events for the API: of one send, or of sites, newest first.
import * as z from "zod";
import { getMany, query, queryPages } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { mergeNewestFirst } from "../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { inGroups, inParallel } from "../../kernel/parallel.ts";
import { keys, ranges } from "../../keys.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import * as sites from "../identity/sites.ts";
import { getAcceptedSends } from "../sending/list-sends.ts";
import { findSend } from "../sending/read-sends.ts";
import { addressPosition, readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import { Send, type SendItem, toApi as toSend } from "../sending/send-schema.ts";
import { loadCommittedEvents } from "./committed-events.ts";
import { EmailEvent, toApi } from "./email-event.ts";
import * as eventCommits from "./event-commits.ts";
import {
  eventKey,
  mayHaveOverflow,
  type OverflowEvent,
  type SendWithEvents,
} from "./send-events.ts";
import { byTimeThenId } from "./send-outcome.ts";

// Bounds the size of a response: a link can have a million opens.
const maxEventsReturned = 1000;

export const SendDetail = Send.extend({
  events: z.array(EmailEvent).describe("Events of the send, oldest first. At most about 1,000."),
}).meta({ id: "SendDetail" });
export type SendDetail = z.output<typeof SendDetail>;

/** A send with its events. Throws 404. */
export async function findDetail(caller: Caller, id: number): Promise<SendDetail> {
  const item = await findSend(caller, id);
  return {
    ...toSend(item),
    events: await listEventsOfSend(caller.orgId, item),
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
  // An overflow event of an abandoned round may since be stored inside the send: list it once.
  const events = new Map(
    [...overflow, ...(send.events ?? [])].map((event) => [eventKey(event), event]),
  );
  return [...events.values()].toSorted(byTimeThenId).map((event) => toApi(send, event));
}

export interface EventFilter {
  siteId?: number | undefined;
  type?: EventType | undefined;
  /** Only events of the sends to this address. */
  email?: string | undefined;
}

/**
 * Lists the events of sites by the time they were counted, newest first; `total` is exact. With
 * `email`, lists those of the newest send first, without a total.
 */
export async function listEvents(
  caller: Caller,
  request: PageRequest,
  { siteId, type, email }: EventFilter,
) {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const query = { orgId: caller.orgId, siteIds, type };
  const [collected, total] =
    email === undefined
      ? await Promise.all([collectPage(query, request), countEvents(query)])
      : [await collectPageOfAddress({ ...query, email }, request), null];
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
  row?: eventCommits.EventCommitRow;
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
  const found = await loadCommittedEvents(query.orgId, rows);
  const events = found.map(({ send, event }) => toApi(send, event));
  return { events, next: collected.length > request.limit ? page.at(-1)?.next : stoppedAt };
}

// A type may be rare: after this many commits without it the response is short and has a cursor.
const maxCommitsScanned = 1000;

/** `<round id>|<row>`; `loadSends` in apply-events.ts makes the round ids. */
const positionPattern = new RegExp(
  `^${positionParts.time}#[\\w-]{1,20}#\\d{1,16}#\\d{1,4}\\|\\d{1,6}$`,
);

/** Yields rows from the newest commit backwards, starting at a position if one is given. */
async function* readRows(
  { orgId, siteIds, type }: EventQuery,
  from: string | undefined,
): AsyncGenerator<EventPosition> {
  const [round, rowText] = from?.split("|") ?? [];
  const feeds = siteIds.map((siteId) =>
    readCommits(orgId, siteId, round === undefined ? undefined : `${round}~`),
  );
  let scanned = 0;
  for await (const commit of mergeNewestFirst(feeds)) {
    if (commit.void || (type && !commit.types[type])) {
      if (++scanned < maxCommitsScanned) continue;
      return yield { next: `${commit.sk}|0` };
    }
    const rows = await eventCommits.readCommit(commit);
    const last = Math.min(commit.sk === round ? Number(rowText) : rows.length, rows.length) - 1;
    for (let i = last; i >= 0; i--)
      if (!type || rows[i]![2] === type) yield { row: rows[i]!, next: `${commit.sk}|${i}` };
  }
}

/** `<position of a send>|<number of its events that are older>` */
const addressEventPattern = new RegExp(`^${addressPosition}\\|\\d{1,4}$`);
const sendsPerRead = 25;
// Each send is a read of its own: after this many the response is short and has a cursor.
const maxSendsScanned = 200;

/** Events of copies belong to other addresses, so only sends with this recipient count. */
async function collectPageOfAddress(
  { orgId, siteIds, type, email }: EventQuery & { email: string },
  request: PageRequest,
): Promise<{ events: EmailEvent[]; next: string | undefined }> {
  const [start, olderText] = positionOf(request, addressEventPattern)?.split("|") ?? [];
  // The last page can end within a send, so the send is read again: "~" sorts after it.
  const positions = readSendsTo({ orgId, email, before: start && `${start}~` });
  const isWanted = ({ siteId, toEmail }: SendItem) =>
    siteIds.includes(siteId) && normalizeEmail(toEmail) === normalizeEmail(email);
  const skipped = countSkipped(request);
  const found: { event: EmailEvent; next: string }[] = [];
  let scanned = 0;
  let stoppedAt: string | undefined;
  for await (const some of inGroups(positions, sendsPerRead)) {
    const sends = await getAcceptedSends(orgId, some);
    const eventsOfSends = await inParallel(8, sends, (send) =>
      send && isWanted(send) ? listEventsOfSend(orgId, send) : Promise.resolve([]),
    );
    for (const [i, events] of eventsOfSends.entries()) {
      const { next } = some[i]!;
      const older = next === start ? Number(olderText) : events.length;
      for (const [n, event] of [...events.slice(0, older).entries()].toReversed())
        if (!type || event.type === type) found.push({ event, next: `${next}|${n}` });
    }
    scanned += some.length;
    if (found.length > skipped + request.limit) break;
    stoppedAt = scanned >= maxSendsScanned ? `${some.at(-1)!.next}|0` : undefined;
    if (stoppedAt) break;
  }
  const page = found.slice(skipped, skipped + request.limit);
  const hasMore = found.length > skipped + request.limit;
  return { events: page.map(({ event }) => event), next: hasMore ? page.at(-1)?.next : stoppedAt };
}

async function* readCommits(
  orgId: number,
  siteId: number,
  start: string | undefined,
): AsyncGenerator<eventCommits.EventCommit> {
  const options = { newestFirst: true, limit: 20, after: start };
  for await (const { items } of queryPages<eventCommits.EventCommit>(
    ranges.eventCommits(orgId, siteId),
    options,
  ))
    yield* items;
}
