// Mail sources: the campaign, sequence or holiday that a marketing mail belongs to. Their counters
// change in the same transactions as the mail, so they are always exact. A source can be paused or
// cancelled while its mail is being sent.
//   candidates =
//     accepted + suppressed + unsubscribed + notInTopic + snoozed + capped + duplicate + invalid +
//     heldOut
//   accepted = queued + sending + sent + delivered + failed + uncertain + cancelled
import { get, put, queryAll, remove, update, type Write } from "../../adapters/dynamodb/table.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { toShownCount } from "../../kernel/sharded-counters.ts";
import { createSharedReads } from "../../kernel/shared-reads.ts";
import { counterShardOf, keys, ranges, type SourceKind } from "../../keys.ts";
import type { EventCounts } from "./daily-counters.ts";
import { type MailTime, type MailTimeline, timelineCounts, toTimeline } from "./mail-timeline.ts";
import type { SendItem } from "./send-schema.ts";

export interface MailSource {
  kind: SourceKind;
  id: number;
  /**
   * Id of the campaign's variant or the sequence's step. It has counters of its own, in addition to
   * those of the source.
   */
  part?: number | undefined;
}

/** Why a candidate gets no mail. */
export const exclusionReasons = [
  "suppressed",
  "unsubscribed",
  "notInTopic",
  "snoozed",
  "capped",
  "duplicate",
  "invalid",
  "heldOut",
] as const;
export type ExclusionReason = (typeof exclusionReasons)[number];
/** States of accepted mail. Mail in none of these is queued. */
export const mailStates = [
  "sending",
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "cancelled",
] as const;
export type MailState = (typeof mailStates)[number];
export type SourceCounter = "candidates" | "accepted" | ExclusionReason | MailState;
export type SourceCounts = Partial<Record<SourceCounter, number>>;

export interface SourceTotals extends Record<SourceCounter | "queued", number> {
  events: EventCounts;
  /** Contacts, events and amounts of a campaign with a conversion, by the name of the counter. */
  conversions: Record<string, number>;
  releases: Release[];
}

/** Accepted mails that wait until a time. They stay counted after it. */
export interface Release {
  /** A whole minute (ISO 8601). */
  at: string;
  mails: number;
}

export interface SourceCountChange {
  source: MailSource;
  counts: SourceCounts;
  events?: EventCounts;
  conversions?: Record<string, number>;
  releases?: Release[];
  /** Set if emails of a campaign may have been handed over, opened or clicked. */
  time?: MailTime;
}

// DynamoDB allows an update expression of at most 4 KB.
const maxCountersPerWrite = 150;

/**
 * Adds up the changes to the counters of one source, usually in one write. Writes with different
 * `shardSeed` use different counter shards, so that parallel transactions seldom conflict.
 */
export function addSourceCountWrites(
  orgId: number,
  shardSeed: number,
  changes: SourceCountChange[],
): Write[] {
  const [first] = changes;
  const sums = new Map<string, number>();
  const addTo = (attribute: string, n: number) =>
    sums.set(attribute, (sums.get(attribute) ?? 0) + n);
  for (const { source, counts, events = {}, conversions = {}, releases = [], time } of changes) {
    for (const { at, mails } of releases) addTo(releasePrefix + Date.parse(at) / minuteMs, mails);
    const prefixed = (prefix: string, given: Record<string, number>) =>
      Object.entries(given).map(([name, n]): [string, number] => [prefix + name, n]);
    for (const [name, n] of [
      ...Object.entries(counts),
      ...prefixed(eventPrefix, events),
      ...prefixed(conversionPrefix, conversions),
    ]) {
      addTo(name, n);
      if (source.part !== undefined) addTo(`${partPrefix}${source.part}.${name}`, n);
    }
    if (time && source.kind === "campaign")
      for (const [attribute, n] of timelineCounts(time, counts, events)) addTo(attribute, n);
  }
  const nonZero = [...sums].filter(([, n]) => n);
  if (!first || !nonZero.length) return [];
  return splitIntoBatches(nonZero, maxCountersPerWrite).map((group, i) =>
    update(keys.sourceCount(orgId, first.source, counterShardOf(shardSeed + i)), {
      add: Object.fromEntries(group),
    }),
  );
}

const [partPrefix, eventPrefix, conversionPrefix, releasePrefix] = ["p", "e.", "c.", "r."];
const minuteMs = 60_000;

/** The totals of the source, and of each part that has counters. None is negative. */
export const getSourceTotals = (orgId: number, source: MailSource): Promise<TotalsOfParts> =>
  getTotals(orgId, source, (sum) => withoutNegatives(toSourceTotals(sum)));

/** Totals as they are stored. Some are negative if mail was counted twice. */
export const getStoredSourceTotals = (orgId: number, source: MailSource): Promise<TotalsOfParts> =>
  getTotals(orgId, source, toSourceTotals);

interface TotalsOfParts {
  all: SourceTotals;
  parts: Map<number, SourceTotals>;
}

async function getTotals(
  orgId: number,
  source: MailSource,
  toTotals: (sum: CounterSums) => SourceTotals,
): Promise<TotalsOfParts> {
  const { "": all, ...parts } = Object.fromEntries(
    [...(await sumCounters(orgId, source))].map(([part, sum]) => [part, toTotals(sum)]),
  );
  return {
    all: all!,
    parts: new Map(Object.entries(parts).map(([part, sum]) => [Number(part), sum])),
  };
}

/** The emails, opens and clicks of a campaign by time. Reads 8 items of at most 4 KB. */
export async function getMailTimeline(orgId: number, campaignId: number): Promise<MailTimeline> {
  const sums = await sumCounters(orgId, { kind: "campaign", id: campaignId });
  return toTimeline(sums.get("")!);
}

/** By part. The key of the whole source is empty. */
async function sumCounters(orgId: number, source: MailSource): Promise<Map<string, CounterSums>> {
  const counters = await queryAll<Record<string, unknown>>(ranges.sourceCounts(orgId, source), {
    consistent: true,
  });
  const sums = new Map<string, CounterSums>([["", new Map()]]);
  for (const counter of counters)
    for (const [attribute, n] of Object.entries(counter)) {
      if (typeof n !== "number") continue;
      const [, part = "", name = ""] = /^(?:p(\d+)\.)?(.+)$/.exec(attribute) ?? [];
      const sum = sums.get(part) ?? new Map<string, number>();
      sums.set(part, sum.set(name, (sum.get(name) ?? 0) + n));
    }
  return sums;
}

type CounterSums = Map<string, number>;

/**
 * A delivery event can arrive before the provider's response. Then `sent` is negative for a moment,
 * and such mail is no longer `sending`.
 */
function toSourceTotals(sum: CounterSums): SourceTotals {
  const counts = Object.fromEntries(
    sourceCounters.map((name) => [name, sum.get(name) ?? 0]),
  ) as Record<SourceCounter, number>;
  const earlyEvents = Math.max(0, -counts.sent);
  const corrected = {
    ...counts,
    sent: counts.sent + earlyEvents,
    sending: counts.sending - earlyEvents,
  };
  const settled = mailStates.reduce((total, state) => total + corrected[state], 0);
  const listByPrefix = (prefix: string): [string, number][] =>
    [...sum].flatMap(([name, n]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), n]] : [],
    );
  const releases = listByPrefix(releasePrefix).map(([minute, mails]) => ({
    at: new Date(Number(minute) * minuteMs).toISOString(),
    mails,
  }));
  return {
    ...corrected,
    queued: corrected.accepted - settled,
    events: Object.fromEntries(listByPrefix(eventPrefix)),
    conversions: Object.fromEntries(listByPrefix(conversionPrefix)),
    releases: releases.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
  };
}

/**
 * An event can be counted before the one that it follows, such as a bounce before a delivery whose
 * worker crashed. Then the mail is counted in its last state and still in its first, and a state in
 * between is negative. Such mail is taken out of its first state.
 */
function withoutNegatives(totals: SourceTotals): SourceTotals {
  const missing = (...states: MailState[]): number =>
    states.reduce((sum, state) => sum + toShownCount(-totals[state]), 0);
  const sent = totals.sent - missing("delivered", "failed");
  const shown = {
    ...totals,
    sending: toShownCount(totals.sending - toShownCount(-sent) - missing("uncertain", "cancelled")),
    sent: toShownCount(sent),
    delivered: toShownCount(totals.delivered),
    failed: toShownCount(totals.failed),
    uncertain: toShownCount(totals.uncertain),
    cancelled: toShownCount(totals.cancelled),
  };
  const settled = mailStates.reduce((total, state) => total + shown[state], 0);
  const events = Object.entries(totals.events).map(([name, n]) => [name, toShownCount(n)]);
  return {
    ...shown,
    queued: toShownCount(shown.accepted - settled),
    events: Object.fromEntries(events),
  };
}

const sourceCounters: SourceCounter[] = [
  "candidates",
  "accepted",
  ...exclusionReasons,
  ...mailStates,
];

/**
 * `paused`: its chunks are suspended until it is resumed. `cancelled`: no further mail is handed
 * over.
 */
export type SourceState = "going" | "paused" | "cancelled";

/** For the transaction that changes the record of the source. */
export const setSourceStateWrite = (
  orgId: number,
  source: MailSource,
  state: SourceState,
): Write =>
  state === "going"
    ? remove(keys.sourceState(orgId, source))
    : put(keys.sourceState(orgId, source), { state });

export async function getSourceState(orgId: number, source: MailSource): Promise<SourceState> {
  return (await get<{ state: SourceState }>(keys.sourceState(orgId, source)))?.state ?? "going";
}

/** Reads states for one worker: calls at the same time share a read. */
export type SourceStateReader = (source: MailSource) => Promise<SourceState>;

export function createSourceStateReader(orgId: number): SourceStateReader {
  const readTogether = createSharedReads<SourceState>();
  return (source) =>
    readTogether(`${source.kind}#${source.id}`, () => getSourceState(orgId, source));
}

/**
 * What a settled mail counts. A recipient who was excluded at hand-over is counted under the
 * exclusion reason and no longer as accepted.
 */
export function countsOfSettled({
  status,
  error,
}: Pick<SendItem, "status" | "error">): SourceCounts {
  if (status !== "failed") return { [status]: 1 };
  const reason = error as ExclusionReason;
  return exclusionReasons.includes(reason) ? { accepted: -1, [reason]: 1 } : { failed: 1 };
}

type SourceFields = Pick<
  SendItem,
  "campaignId" | "variantId" | "sequenceId" | "stepId" | "holidayId"
>;

/** The fields of a send that name its source. */
export const toSourceFields = ({ kind, id, part }: MailSource): SourceFields =>
  sourceFieldsByKind[kind](id, part);

const sourceFieldsByKind: Record<
  SourceKind,
  (id: number, part: number | undefined) => SourceFields
> = {
  campaign: (campaignId, variantId) => ({ campaignId, variantId }),
  sequence: (sequenceId, stepId) => ({ sequenceId, stepId }),
  holiday: (holidayId) => ({ holidayId }),
};

export function sourceOf({
  campaignId,
  variantId,
  sequenceId,
  stepId,
  holidayId,
}: SourceFields): MailSource | undefined {
  if (campaignId) return { kind: "campaign", id: campaignId, part: variantId ?? undefined };
  if (sequenceId) return { kind: "sequence", id: sequenceId, part: stepId ?? undefined };
  return holidayId ? { kind: "holiday", id: holidayId } : undefined;
}
