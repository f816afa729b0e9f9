// Event commits. A commit lists the events that a round counted for one site. It is written in the
// transaction that changes the counters. The commits in order are the site's event list.

import { get, put, transact, update, type Write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../clock.ts";
import { contended } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys, sha256 } from "../../keys.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import * as organizations from "../identity/organizations.ts";
import * as clickedLinks from "../sending/clicked-links.ts";
import * as dailyCounters from "../sending/daily-counters.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { type SourceCounts, sourceOf } from "../sending/mail-sources.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { hourConditions } from "../webhooks/event-hours.ts";
import type { SendUpdate } from "./send-events.ts";
import { byTimeThenId, type CounterChanges } from "./send-outcome.ts";

export interface EventCommit extends CompressedValue {
  sk: string;
  /** A tombstone: the round stopped before it counted, and another round took its events over. */
  void?: true;
  n: number;
  types: Partial<Record<EventType, number>>;
}
/** Rows are ordered by time. An overflow event has its provider event id in fourth place. */
export type EventCommitRow = [
  sendId: number,
  eventId: number,
  type: EventType,
  providerEventId?: string,
];

// A transaction takes 100 items. A round whose sends have more recipient domains, campaigns,
// variants, sequences and holidays than this makes several commits.
const maxCountersPerCommit = 60;

/** Returns a function that tells which commit of the round lists the events of a send. */
export function commitOfSend(sends: SendItem[]): (send: SendItem) => number {
  const commitByNames = new Map<string, number>();
  let commit = 0;
  let counters = new Set<string>();
  for (const names of [...new Set(sends.map(counterNames))].sort()) {
    const combined = new Set([...counters, ...names.split(" ")]);
    const fits = combined.size <= maxCountersPerCommit;
    if (!fits) commit++;
    counters = fits ? combined : new Set(names.split(" "));
    commitByNames.set(names, commit);
  }
  return (send) => commitByNames.get(counterNames(send)) ?? 0;
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
 * Commits rounds: each transaction writes one commit and its counters. Throws if another round
 * wrote a tombstone. That round may have taken over only part of the events, so the message must be
 * delivered again. The same if the files of the hour are being written.
 */
export async function commitRounds(orgId: number, updates: SendUpdate[]): Promise<void> {
  const groups = [
    ...Map.groupBy(updates, ({ send, round }) => JSON.stringify([send.siteId, round])).values(),
  ];
  if (!groups.length) return;
  const date = await organizations.getToday(orgId);
  await inParallel(8, groups, async (group) => {
    if (await transact(...(await commitWrites(orgId, date, group)))) return;
    const [{ send, round }] = group as [SendUpdate];
    const stored = await get<EventCommit>(keys.eventCommit(orgId, send.siteId, round));
    if (!stored || stored.void) throw contended("The mail");
  });
}

async function commitWrites(orgId: number, date: string, group: SendUpdate[]): Promise<Write[]> {
  const [{ round, send }] = group as [SendUpdate];
  const { siteId } = send;
  const updates = group.filter(({ send }) => !send.system);
  const rows = toRows(updates);
  const countByType = Object.fromEntries(
    [...Map.groupBy(rows, ([, , type]) => type)].map(([type, rows]) => [type, rows.length]),
  );
  const key = keys.eventCommit(orgId, siteId, round);
  const commit = { ...(await compress(key, rows)), n: rows.length, types: countByType };
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
    put(key, commit, { ifAbsent: true }),
    update(keys.eventTotals(orgId, siteId), { add: { all: rows.length, ...countByType } }),
    ...dailyCounters.dayCounterWrites(
      orgId,
      { siteId, date, shardSeed: shardSeed(round) },
      dayChanges,
    ),
    ...[...Map.groupBy(updates, ({ send }) => sourceKey(send)).values()].flatMap((ofSource) =>
      sourceCounterWrites(orgId, { round, date }, ofSource),
    ),
    ...linkCounterWrites(orgId, round, updates),
    ...(await hourConditions(orgId, siteId, round)),
  ];
}

const shardSeed = (round: string): number => Number.parseInt(sha256(round).slice(0, 4), 16);

const statusPrefix = "at.";
const eventCounts = (changes: CounterChanges): dailyCounters.EventCounts =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([name]) => !name.startsWith(statusPrefix) && !clickedLinks.isLinkCounter(name),
    ),
  );
const linkCounts = (changes: CounterChanges): clickedLinks.LinkCounts =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => clickedLinks.isLinkCounter(name)));
const statusCounts = (changes: CounterChanges): SourceCounts =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([name, n]) =>
      name.startsWith(statusPrefix) ? [[name.slice(statusPrefix.length), n]] : [],
    ),
  );

/** Counter writes of one campaign, sequence or holiday. */
function sourceCounterWrites(
  orgId: number,
  { round, date }: { round: string; date: string },
  updates: SendUpdate[],
): Write[] {
  return mailSources.addSourceCountWrites(
    orgId,
    shardSeed(round),
    updates.flatMap(({ send, counterChanges }) => {
      const source = sourceOf(send);
      const counts = statusCounts(counterChanges);
      const time = { acceptedAt: send.createdAt, date };
      return source ? [{ source, counts, events: eventCounts(counterChanges), time }] : [];
    }),
  );
}

const linkCounterWrites = (orgId: number, round: string, updates: SendUpdate[]): Write[] =>
  clickedLinks.linkCountWrites(
    orgId,
    shardSeed(round),
    updates.flatMap(({ send: { campaignId, variantId }, counterChanges }) =>
      campaignId ? [{ campaignId, variantId, counts: linkCounts(counterChanges) }] : [],
    ),
  );

function toRows(updates: SendUpdate[]): EventCommitRow[] {
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

export const readCommit = (commit: EventCommit): Promise<EventCommitRow[]> =>
  decompress<EventCommitRow[]>(commit);

// Longer than a message can wait in its queue and in the dead-letter queue.
const tombstoneSeconds = 30 * 24 * 3600;

/** Writes a tombstone, so that the round can never commit. Returns false if it has committed. */
export async function abandonRound(orgId: number, siteId: number, round: string): Promise<boolean> {
  const key = keys.eventCommit(orgId, siteId, round);
  const expires = epochSeconds(now()) + tombstoneSeconds;
  const tombstone = { void: true, n: 0, types: {}, expires };
  if (await transact(put(key, tombstone, { ifAbsent: true }))) return true;
  return Boolean((await get<EventCommit>(key))?.void);
}
