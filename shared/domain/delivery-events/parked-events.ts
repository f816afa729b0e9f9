// Parks events whose send is not stored yet: a provider can be faster than our write. A parked
// event waits on the due index and is retried up to four times; then it is counted, and kept for a
// week to be listed.

import { absent, all, equals, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  queryPages,
  remove,
  transact,
  update,
  updateReturning,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys, ranges } from "../../keys.ts";
import type { QueuedEvent } from "../../queues.ts";
import { leaveEverywhere, suppressRecipients } from "./event-reactions.ts";

/** The stored item; the queue message of its next attempt is built from it. */
export interface ParkedEvent {
  orgId: number;
  provider: string;
  event: QueuedEvent;
}

export interface StoredUnmatchedEvent extends ParkedEvent {
  /** Set when the event was given up. */
  expires?: number;
}

const retrySeconds = [60, 600, 3600, 24 * 3600];
/** A message id is stored within seconds after the provider has the mail. */
const retriesByMessageId = 2;

/**
 * Parks events without a stored send. Suppresses the address even though the send is unknown, but
 * on the first attempt only, because a user may have removed the suppression since.
 */
export async function parkEvents(orgId: number, unmatched: ParkedEvent[]): Promise<void> {
  if (!unmatched.length) return;
  const reports = unmatched
    .filter(({ event }) => !event.parked)
    .map(({ event: { email, type, data }, provider }) => ({
      email,
      type,
      detail: data.reason,
      provider,
    }));
  const unsubscribes = reports.filter(({ type }) => type === "unsubscribe");
  const others = reports.filter(({ type }) => type !== "unsubscribe");
  await Promise.all([leaveEverywhere(orgId, unsubscribes), suppressRecipients(orgId, others)]);
  await inParallel(8, unmatched, parkEvent);
}

async function parkEvent({ orgId, provider, event }: ParkedEvent): Promise<void> {
  const tries = event.parked?.tries ?? 0;
  if (tries >= maxTries(event)) return giveUp({ orgId, provider, event }, tries > 0);
  const parked = { since: event.parked?.since ?? now().toISOString(), tries: tries + 1 };
  const due = indexAttributes(
    indexes.due("EVENT", dueShardOf(event.id)),
    addSeconds(retrySeconds[tries]!).toISOString(),
  );
  const item: ParkedEvent & object = { orgId, provider, event: { ...event, parked }, ...due };
  // Another worker may have matched or dropped the event since it was read.
  const unchanged = tries ? equals(["event", "parked", "tries"], tries) : isNew;
  await transact(put(keys.unmatchedEvent(orgId, event.id), item, { if: unchanged }));
}

function maxTries({ sendId, providerMessageId }: QueuedEvent): number {
  if (sendId !== undefined) return retrySeconds.length;
  // An event without any id can never be matched.
  return providerMessageId === undefined ? 0 : retriesByMessageId;
}

const keptSeconds = 7 * 24 * 3600;
/** Further events of the same day are only counted. */
const maxKeptPerDay = 1000;

/** Counts the event exactly once. The item says so, also if it is not kept. */
async function giveUp(parked: ParkedEvent, isParked: boolean): Promise<void> {
  const { orgId, event } = parked;
  const expires = epochSeconds() + ((await isKeptToday(orgId)) ? keptSeconds : 0);
  const isWaiting = all(exists, absent("expires"));
  await transact(
    put(
      keys.unmatchedEvent(orgId, event.id),
      { ...parked, expires },
      { if: isParked ? isWaiting : isNew },
    ),
    update(keys.droppedEventCount(orgId), { add: { count: 1 } }),
  );
}

async function isKeptToday(orgId: number): Promise<boolean> {
  const key = keys.unmatchedEventsOfDay(orgId, now().toISOString().slice(0, 10));
  const counted = await updateReturning<{ count: number }>(
    update(key, { add: { count: 1 }, set: { expires: epochSeconds() + keptSeconds } }),
  );
  return counted!.count <= maxKeptPerDay;
}

/** Deletes the events about an address that were given up. */
export async function eraseGivenUp(orgId: number, email: string): Promise<void> {
  const range = ranges.unmatchedEvents(orgId);
  for await (const { items } of queryPages<StoredUnmatchedEvent & Key>(range, { limit: 500 })) {
    const erased = items.filter(
      ({ event, expires }) =>
        expires !== undefined && normalizeEmail(event.email) === normalizeEmail(email),
    );
    await writeMany(erased.map((item) => remove(item)));
  }
}

/** Deletes the parked items of events that have been applied. */
export const deleteParked = (orgId: number, events: QueuedEvent[]): Promise<void> =>
  writeMany(
    events.filter(({ parked }) => parked).map(({ id }) => remove(keys.unmatchedEvent(orgId, id))),
  );
