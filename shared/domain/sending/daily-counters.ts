// Counts the mail of a site per day of its organization: in total, by sending config, and by
// recipient domain. Only events are counted by domain, because counting domains at hand-over would
// cost more than the hand-over itself. The counters are exact: they move in the transactions that
// end a chunk, a single send or a round of events. analytics/daily-rollups.ts folds finished days.

import { update, type Write } from "../../adapters/dynamodb/table.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { counterShardOf, dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import type { LeaveReason } from "../audience/contacts/leave-reason.ts";
import type { ReasonCounter } from "./bounce-reasons.ts";

/**
 * Counters that the events of a send move. Those with `unique` count a send at most once, and
 * only events caused by people.
 */
export type EventCounter =
  | "delivered"
  | "bouncedHard"
  | "bouncedSoft"
  | "dropped"
  | "complained"
  | "unsubscribed"
  | "deferred"
  | "opened"
  | "openedByMachine"
  | "uniqueOpened"
  | "clicked"
  | "clickedByMachine"
  | "uniqueClicked"
  | ReasonCounter
  | `left.${LeaveReason}`;
export type EventCounts = Partial<Record<EventCounter, number>>;

/**
 * `sent`: a provider accepted the mail; `failed`: a provider or the service refused it;
 * `uncertain`:
 * the outcome is unknown; `recovered`: an event decided an uncertain outcome. Events move the other
 * counters.
 */
export type DayCounts = EventCounts & {
  sent?: number;
  failed?: number;
  uncertain?: number;
  recovered?: number;
};

export interface DayCounterChange {
  configId: number;
  /** Domain of the recipient. Set for events, which are counted by domain too. */
  domain?: string;
  counts: DayCounts;
}

// DynamoDB allows an update expression of at most 4 KB.
const maxCountersPerWrite = 150;

/**
 * One write for the day, and one for each domain. Writes with different `shardSeed` rarely
 * conflict.
 */
export function dayCounterWrites(
  orgId: number,
  { siteId, date, shardSeed }: { siteId: number; date: string; shardSeed: number },
  changes: DayCounterChange[],
): Write[] {
  const siteCounts = new Map<string, number>();
  for (const { configId, counts } of changes)
    for (const [name, n = 0] of Object.entries(counts))
      for (const attribute of [name, `g.${configId}.${name}`])
        siteCounts.set(attribute, (siteCounts.get(attribute) ?? 0) + n);
  const byDomain = Map.groupBy(changes, ({ domain }) => domain);
  const shard = counterShardOf(shardSeed);
  return [
    ...splitIntoBatches(nonZero(siteCounts), maxCountersPerWrite).map((group, i) =>
      update(keys.dayCounters(orgId, siteId, { date, shard: counterShardOf(shardSeed + i) }), {
        add: Object.fromEntries(group),
        setIfAbsent: { of: [orgId, siteId, date], ...rollupDueAttributes(siteId, date) },
      }),
    ),
    ...[...byDomain].flatMap(([domain, group]) => {
      if (domain === undefined) return [];
      const moves = nonZero(sumCounts(group.map(({ counts }) => counts)));
      return moves.length
        ? [
            update(keys.dayDomainCounters(orgId, siteId, { date, domain, shard }), {
              add: Object.fromEntries(moves),
            }),
          ]
        : [];
    }),
  ];
}

function sumCounts(all: DayCounts[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const counts of all)
    for (const [name, n = 0] of Object.entries(counts)) total.set(name, (total.get(name) ?? 0) + n);
  return total;
}

const nonZero = (changes: Map<string, number>): [string, number][] =>
  [...changes].filter(([, n]) => n);

/** Stored on the counters, for the rollup that finds them on the due index. */
export type DayId = [orgId: number, siteId: number, date: string];

/**
 * One hour after the day has ended in every timezone, because the organization may change its
 * timezone.
 */
export const rollupDueAt = (date: string): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + (24 + 12 + 1) * 3_600_000).toISOString();

const rollupDueAttributes = (siteId: number, date: string): Record<string, string> =>
  indexAttributes(indexes.due("DAY", dueShardOf(siteId)), rollupDueAt(date));
