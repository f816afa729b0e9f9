// Event pages. A page lists the events that a run counted for one site. It is written in the
// transaction that changes the counters. The pages in order are the site's event list.

import { get, put, transact, update, type Write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../clock.ts";
import { contended } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys, sha256 } from "../../keys.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import * as organizations from "../identity/organizations.ts";
import * as links from "../sending/clicked-links.ts";
import * as dailyCounters from "../sending/daily-counters.ts";
import * as sources from "../sending/mail-sources.ts";
import { type SourceCounts, sourceOf } from "../sending/mail-sources.ts";
import type { SendItem } from "../sending/sends.ts";
import type { SendUpdate } from "./send-events.ts";
import { byTimeThenId, type CounterChanges } from "./send-outcome.ts";

export interface EventPage extends CompressedValue {
  sk: string;
  /** A tombstone: the run stopped before it counted, and another run took its events over. */
  void?: true;
  n: number;
  types: Partial<Record<EventType, number>>;
}
/** Rows are ordered by time. An overflow event has its provider event id in fourth place. */
export type EventPageRow = [
  sendId: number,
  eventId: number,
  type: EventType,
  providerEventId?: string,
];

// A transaction takes 100 items. A run whose sends have more recipient domains, campaigns,
// variants, sequences and holidays than this writes several pages.
const maxCountersPerPage = 60;

/** Returns a function that tells which page of the run lists the events of a send. */
export function pageOfSend(sends: SendItem[]): (send: SendItem) => number {
  const pageByNames = new Map<string, number>();
  let page = 0;
  let counters = new Set<string>();
  for (const names of [...new Set(sends.map(counterNames))].sort()) {
    const combined = new Set([...counters, ...names.split(" ")]);
    const fits = combined.size <= maxCountersPerPage;
    if (!fits) page++;
    counters = fits ? combined : new Set(names.split(" "));
    pageByNames.set(names, page);
  }
  return (send) => pageByNames.get(counterNames(send)) ?? 0;
}

/**
 * The counters of a send: its recipient domain, its source, and the links of its variant. None
 * contains a space.
 */
const counterNames = (send: SendItem): string =>
  `${domainOf(send.toEmail)} ${sourceKey(send)} ${linksKey(send)}`;

const linksKey = ({ campaignId, variantId }: SendItem): string =>
  campaignId ? `links#${campaignId}#${variantId ?? ""}` : "";

function sourceKey(send: SendItem): string {
  const source = sourceOf(send);
  return source ? `${source.kind}#${source.id}` : "";
}

/**
 * Commits runs: one transaction per site and page writes the page and the counters. Throws if
 * another run wrote a tombstone. That run may have taken over only part of the events, so the
 * message must be delivered again.
 */
export async function commitRuns(orgId: number, updates: SendUpdate[]): Promise<void> {
  const groups = [
    ...Map.groupBy(updates, ({ send, run }) => JSON.stringify([send.siteId, run])).values(),
  ];
  if (!groups.length) return;
  const date = await organizations.getToday(orgId);
  await inParallel(8, groups, async (group) => {
    if (await transact(...(await commitWrites(orgId, date, group)))) return;
    const [{ send, run }] = group as [SendUpdate];
    if ((await get<EventPage>(keys.eventPage(orgId, send.siteId, run)))?.void)
      throw contended("The mail");
  });
}

async function commitWrites(orgId: number, date: string, group: SendUpdate[]): Promise<Write[]> {
  const [{ run, send }] = group as [SendUpdate];
  const { siteId } = send;
  const updates = group.filter(({ send }) => !send.system);
  const rows = toRows(updates);
  const countByType = Object.fromEntries(
    [...Map.groupBy(rows, ([, , type]) => type)].map(([type, rows]) => [type, rows.length]),
  );
  const key = keys.eventPage(orgId, siteId, run);
  const page = { ...(await compress(key, rows)), n: rows.length, types: countByType };
  const dayChanges = updates.map(({ counterChanges, send }) => ({
    configId: send.sendingConfigId,
    domain: domainOf(send.toEmail),
    counts: {
      ...eventCounts(counterChanges),
      ...(counterChanges["at.uncertain"] === -1 && { recovered: 1 }),
      // A user had given the mail up, which counted it as failed.
      ...(counterChanges["at.failed"] === -1 &&
        send.resolution?.outcome === "failed" && { failed: -1, sent: 1 }),
    },
  }));
  return [
    put(key, page, { ifAbsent: true }),
    update(keys.eventTotals(orgId, siteId), { add: { all: rows.length, ...countByType } }),
    ...dailyCounters.dayCounterWrites(
      orgId,
      { siteId, date, shardSeed: shardSeed(run) },
      dayChanges,
    ),
    ...[...Map.groupBy(updates, ({ send }) => sourceKey(send)).values()].flatMap((ofSource) =>
      sourceCounterWrites(orgId, { run, date }, ofSource),
    ),
    ...linkCounterWrites(orgId, run, updates),
  ];
}

const shardSeed = (run: string): number => Number.parseInt(sha256(run).slice(0, 4), 16);

const statusPrefix = "at.";
const eventCounts = (changes: CounterChanges): dailyCounters.EventCounts =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([name]) => !name.startsWith(statusPrefix) && !links.isLinkCounter(name),
    ),
  );
const linkCounts = (changes: CounterChanges): links.LinkCounts =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => links.isLinkCounter(name)));
const statusCounts = (changes: CounterChanges): SourceCounts =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([name, n]) =>
      name.startsWith(statusPrefix) ? [[name.slice(statusPrefix.length), n]] : [],
    ),
  );

/** Counter writes of one campaign, sequence or holiday. */
function sourceCounterWrites(
  orgId: number,
  { run, date }: { run: string; date: string },
  updates: SendUpdate[],
): Write[] {
  return sources.addSourceCountWrites(
    orgId,
    shardSeed(run),
    updates.flatMap(({ send, counterChanges }) => {
      const source = sourceOf(send);
      const counts = statusCounts(counterChanges);
      const time = { acceptedAt: send.createdAt, date };
      return source ? [{ source, counts, events: eventCounts(counterChanges), time }] : [];
    }),
  );
}

const linkCounterWrites = (orgId: number, run: string, updates: SendUpdate[]): Write[] =>
  links.linkCountWrites(
    orgId,
    shardSeed(run),
    updates.flatMap(({ send: { campaignId, variantId }, counterChanges }) =>
      campaignId ? [{ campaignId, variantId, counts: linkCounts(counterChanges) }] : [],
    ),
  );

function toRows(updates: SendUpdate[]): EventPageRow[] {
  const events = updates.flatMap(({ send, countedEvents, overflow }) => {
    const overflowIds = new Set(overflow.map(({ event }) => event.id));
    return countedEvents.map((event) => ({
      ...event,
      sendId: send.id,
      isOverflow: overflowIds.has(event.id),
    }));
  });
  return events
    .toSorted(byTimeThenId)
    .map(({ sendId, id, type, providerEventId, isOverflow }) =>
      isOverflow ? [sendId, id, type, providerEventId] : [sendId, id, type],
    );
}

export const readPage = (page: EventPage): Promise<EventPageRow[]> =>
  decompress<EventPageRow[]>(page);

// Longer than SQS can redeliver a message.
const tombstoneSeconds = 30 * 24 * 3600;

/** Writes a tombstone, so that the run can never commit. Returns false if it has committed. */
export async function abandonRun(orgId: number, siteId: number, run: string): Promise<boolean> {
  const key = keys.eventPage(orgId, siteId, run);
  const expires = epochSeconds(now()) + tombstoneSeconds;
  const tombstone = { void: true, n: 0, types: {}, expires };
  if (await transact(put(key, tombstone, { ifAbsent: true }))) return true;
  return Boolean((await get<EventPage>(key))?.void);
}
