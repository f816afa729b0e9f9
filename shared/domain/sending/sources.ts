// What marketing mail comes from: a campaign, a sequence, a holiday. Its numbers are moved in the same transactions as its mail, so
// that they are true at every instant, and it can be stopped while its mail is on its way.
//   candidates = accepted + suppressed + unsubscribed + capped + duplicate + invalid
//   accepted = queued + sending + sent + delivered + failed + uncertain + cancelled
import { get, put, queryAll, remove, update, type Write } from "../../doors/table.ts";
import { countShardOf, keys, ranges, type SourceKind } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import type { Counts } from "../events/timeline.ts";
import type { SendItem } from "../sends.ts";

export interface Source {
  kind: SourceKind;
  id: number;
  /** A variant of the campaign, a step of the sequence: counted beside the whole. */
  part?: number | undefined;
}

/** Why somebody who might have got the mail does not. */
export const leftOut = ["suppressed", "unsubscribed", "capped", "duplicate", "invalid"] as const;
export type LeftOut = (typeof leftOut)[number];
/** Where a mail stands. What is accepted and in none of these is queued. */
export const places = ["sending", "sent", "delivered", "failed", "uncertain", "cancelled"] as const;
export type Place = (typeof places)[number];
export type Tally = "candidates" | "accepted" | LeftOut | Place;
export type Tallies = Partial<Record<Tally, number>>;

export interface Numbers extends Record<Tally | "queued", number> {
  /** What people and their mail servers did with it. */
  events: Counts;
}

/** Something to count for a source and its part. */
export interface Counted {
  source: Source;
  tallies: Tallies;
  events?: Counts;
}

// An expression has at most 4 KB.
const mostMoves = 150;

/** All that is counted of one source, most often one write; none where nothing moves. `spread`: writes of different numbers seldom meet. */
export function counting(orgId: number, spread: number, counted: Counted[]): Write[] {
  const [first] = counted;
  const add = new Map<string, number>();
  for (const { source, tallies, events = {} } of counted)
    for (const [name, n] of [...Object.entries(tallies), ...Object.entries(events).map(([event, n]) => [eventMark + event, n] as const)])
      for (const attribute of source.part === undefined ? [name] : [name, `${partMark}${source.part}.${name}`])
        add.set(attribute, (add.get(attribute) ?? 0) + n);
  const moves = [...add].filter(([, n]) => n);
  if (!first || !moves.length) return [];
  const { kind, id } = first.source;
  return chunked(moves, mostMoves).map((some, i) =>
    update(keys.sourceCount(orgId, kind, id, countShardOf(spread + i)), { add: Object.fromEntries(some) }),
  );
}

const [partMark, eventMark] = ["p", "e."];

/** Of the whole, and of each part that has any. */
export async function numbers(orgId: number, { kind, id }: Source): Promise<{ all: Numbers; parts: Map<number, Numbers> }> {
  const counters = await queryAll<Record<string, unknown>>(ranges.sourceCounts(orgId, kind, id), { consistent: true });
  const sums = new Map<string, Sum>([["", new Map()]]);
  for (const counter of counters)
    for (const [attribute, n] of Object.entries(counter)) {
      if (typeof n !== "number") continue;
      const [, part = "", name = ""] = /^(?:p(\d+)\.)?(.+)$/.exec(attribute) ?? [];
      const sum = sums.get(part) ?? new Map<string, number>();
      sums.set(part, sum.set(name, (sum.get(name) ?? 0) + n));
    }
  const { "": all, ...parts } = Object.fromEntries([...sums].map(([part, sum]) => [part, told(sum)]));
  return { all: all!, parts: new Map(Object.entries(parts).map(([part, sum]) => [Number(part), sum])) };
}

type Sum = Map<string, number>;

/** An event may be faster than the word of the provider: then more has arrived than was handed over, and is not being sent any more. */
function told(sum: Sum): Numbers {
  const of = (name: Tally) => sum.get(name) ?? 0;
  const tallies = Object.fromEntries(tallyNames.map((name) => [name, of(name)])) as Record<Tally, number>;
  const ahead = Math.max(0, -tallies.sent);
  const standing = { ...tallies, sent: tallies.sent + ahead, sending: tallies.sending - ahead };
  const settled = places.reduce((total, place) => total + standing[place], 0);
  const events = [...sum].flatMap(([name, n]) => (name.startsWith(eventMark) ? [[name.slice(eventMark.length), n]] : []));
  return { ...standing, queued: standing.accepted - settled, events: Object.fromEntries(events) };
}

const tallyNames: Tally[] = ["candidates", "accepted", ...leftOut, ...places];

/** `paused`: its chunks are held back until it goes on; `cancelled`: nothing more of it is handed over. */
export type State = "going" | "paused" | "cancelled";

/** In the transaction that changes the record of the source. */
export const setting = (orgId: number, { kind, id }: Source, state: State): Write =>
  state === "going" ? remove(keys.sourceState(orgId, kind, id)) : put(keys.sourceState(orgId, kind, id), { state });

export async function stateOf(orgId: number, { kind, id }: Source): Promise<State> {
  return (await get<{ state: State }>(keys.sourceState(orgId, kind, id)))?.state ?? "going";
}

type Sourced = Pick<SendItem, "campaignId" | "variantId" | "sequenceId" | "stepId" | "holidayId">;

/** As it stands on a send. */
export const marked = ({ kind, id, part }: Source): Sourced => marks[kind](id, part);

const marks: Record<SourceKind, (id: number, part: number | undefined) => Sourced> = {
  campaign: (campaignId, variantId) => ({ campaignId, variantId }),
  sequence: (sequenceId, stepId) => ({ sequenceId, stepId }),
  holiday: (holidayId) => ({ holidayId }),
};

export function sourceOf({ campaignId, variantId, sequenceId, stepId, holidayId }: Sourced): Source | undefined {
  if (campaignId) return { kind: "campaign", id: campaignId, part: variantId ?? undefined };
  if (sequenceId) return { kind: "sequence", id: sequenceId, part: stepId ?? undefined };
  return holidayId ? { kind: "holiday", id: holidayId } : undefined;
}
