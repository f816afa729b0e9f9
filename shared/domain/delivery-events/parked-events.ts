// Parks events whose send is not stored yet: a provider can be faster than our write. A parked
// event waits on the due index and is retried four times; then it is dropped and counted.

import { equals, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, transact, update, write, writeMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import type { QueuedEvent } from "../../queues.ts";
import { leaveEverywhere, suppressRecipients } from "./event-reactions.ts";

/** The stored item; the queue message of its next attempt is built from it. */
export interface ParkedEvent {
  orgId: number;
  provider: string;
  event: QueuedEvent;
}

const retrySeconds = [60, 600, 3600, 24 * 3600];

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
  // An event without a `sendId` can never be matched, so it is dropped at once.
  if (tries >= retrySeconds.length || event.sendId === undefined)
    return dropEvent(orgId, event, tries > 0);
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

async function dropEvent(orgId: number, event: QueuedEvent, isParked: boolean): Promise<void> {
  const countWrite = update(keys.droppedEventCount(orgId), { add: { count: 1 } });
  if (isParked)
    await transact(remove(keys.unmatchedEvent(orgId, event.id), { if: exists }), countWrite);
  else await write(countWrite);
}

/** Deletes the parked items of events that have been applied. */
export const deleteParked = (orgId: number, events: QueuedEvent[]): Promise<void> =>
  writeMany(
    events.filter(({ parked }) => parked).map(({ id }) => remove(keys.unmatchedEvent(orgId, id))),
  );
