// What happened to the mail of a site on one day of its organization: in all, by sending config, and by domain of the recipients as far
// as events tell of it (to count each domain at the hand-over would cost more than the hand-over).
// Moved in the transactions that end a chunk, a single send or a run of events, and so exact; a day never changes once it is over, and
// is folded then: see insight/folds.ts.
import { update, type Write } from "../doors/table.ts";
import { countShardOf, dueShard, keys, on, shelves } from "../keys.ts";
import { chunked } from "../parallel.ts";
import type { Counts } from "./events/timeline.ts";

/**
 * `sent`: a provider took it; `failed`: it was refused, by a provider or by us; `uncertain`: nobody can tell; `recovered`: it was
 * uncertain until events told of it; the others are told by events.
 */
export type DayCounts = Counts & { sent?: number; failed?: number; uncertain?: number; recovered?: number };

export interface Happening {
  configId: number;
  /** Of the recipient: what events tell is counted by domain too. */
  domain?: string;
  counts: DayCounts;
}

// An expression has at most 4 KB.
const mostMoves = 150;

/** One write for the day, one for each domain that is named. `spread`: writes of different numbers seldom meet in transactions. */
export function counting(orgId: number, siteId: number, date: string, spread: number, happenings: Happening[]): Write[] {
  const whole = new Map<string, number>();
  for (const { configId, counts } of happenings)
    for (const [name, n = 0] of Object.entries(counts))
      for (const attribute of [name, `g.${configId}.${name}`]) whole.set(attribute, (whole.get(attribute) ?? 0) + n);
  const byDomain = Map.groupBy(happenings, ({ domain }) => domain);
  const shard = countShardOf(spread);
  return [
    ...chunked(moving(whole), mostMoves).map((some, i) =>
      update(keys.day(orgId, siteId, date, countShardOf(spread + i)), {
        add: Object.fromEntries(some),
        initialize: { of: [orgId, siteId, date], ...dueToFold(siteId, date) },
      }),
    ),
    ...[...byDomain].flatMap(([domain, some]) => {
      if (domain === undefined) return [];
      const moves = moving(sum(some.map(({ counts }) => counts)));
      return moves.length ? [update(keys.dayDomain(orgId, siteId, date, domain, shard), { add: Object.fromEntries(moves) })] : [];
    }),
  ];
}

function sum(all: DayCounts[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const counts of all) for (const [name, n = 0] of Object.entries(counts)) total.set(name, (total.get(name) ?? 0) + n);
  return total;
}

const moving = (moves: Map<string, number>): [string, number][] => [...moves].filter(([, n]) => n);

/** For whoever finds it on the due index. */
export type Of = [orgId: number, siteId: number, date: string];

/** An hour after the day is over everywhere on earth: an organization may have taken another timezone meanwhile. */
export const foldedFrom = (date: string): string => new Date(Date.parse(`${date}T00:00:00Z`) + (24 + 12 + 1) * 3_600_000).toISOString();

const dueToFold = (siteId: number, date: string): Record<string, string> => on(shelves.due("DAY", dueShard(siteId)), foldedFrom(date));
