// Events about records, such as contact.created. The transaction that changes a record also writes
// an outbox item with its events, so a crash neither loses nor invents one. Afterwards the events
// are queued and the item is deleted; if the process dies before that, the due index finds it.
import { exists } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, transact, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import * as ids from "../../ids.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import * as log from "../../kernel/log.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { enqueueEvents, getWantedTypes, RefusedEvents } from "./enqueue-events.ts";
import type { RecordEventType } from "./event-types.ts";
import { logEvents } from "./record-event-log.ts";

export interface RecordEvent {
  event: RecordEventType;
  sendId?: number;
  /** ISO 8601. Undefined: now. */
  timestamp?: string;
  contactId?: number | null | undefined;
  email?: string | undefined;
  /** Fields of the body beside those that each event has. */
  details: Record<string, unknown>;
}

export interface PreparedEvents {
  /** At most one, for the transaction of the change. */
  writes: Write[];
  /** Call it after the transaction. */
  afterCommit(): Promise<void>;
}

export const noEvents: PreparedEvents = { writes: [], afterCommit: async () => {} };

/**
 * Prepares the events that an endpoint of the organization subscribes to. Without one this costs
 * nothing but a read of the endpoints every three seconds, and `listEvents` is not called.
 */
export async function prepareEvents(
  orgId: number,
  listEvents: () => RecordEvent[],
): Promise<PreparedEvents> {
  const wanted = await getWantedTypes(orgId);
  const events = wanted.size ? listEvents().filter(({ event }) => wanted.has(event)) : [];
  if (!events.length) return noEvents;
  const firstId = await ids.nextEventIds(events.length);
  const preparedAt = now().toISOString();
  const outgoing = events.map(
    (
      { event, sendId = null, contactId = null, email = null, timestamp = preparedAt, details },
      i,
    ): OutgoingEvent => {
      const id = firstId + i;
      return { id, event, sendId, contactId, email, timestamp, details };
    },
  );
  const key = keys.outboxItem(orgId, firstId);
  const item = { orgId, ...(await compress(key, outgoing)), ...dueAttributes(firstId) };
  return {
    writes: [put(key, item)],
    afterCommit: () => enqueueSoon(key, orgId, outgoing),
  };
}

// Longer than a request takes to queue its events.
const graceSeconds = 60;

const dueAttributes = (id: number) =>
  indexAttributes(indexes.due("OUTBOX", dueShardOf(id)), addSeconds(graceSeconds).toISOString());

/** A failure does not fail the request, because the change is made and the item is stored. */
async function enqueueSoon(key: Key, orgId: number, events: OutgoingEvent[]): Promise<void> {
  try {
    await enqueueAndDelete(key, orgId, events);
  } catch (error) {
    log.error("events are queued later", error, { orgId });
  }
}

/**
 * Queues an event twice if the process dies in between; its webhook-id is then the same. Events
 * that the queue refuses stay in the item alone, so that a later try does not repeat the others.
 */
async function enqueueAndDelete(key: Key, orgId: number, events: OutgoingEvent[]): Promise<void> {
  await logEvents(key, orgId, events);
  try {
    await enqueueEvents(orgId, events);
  } catch (error) {
    if (error instanceof RefusedEvents && error.events.length < events.length)
      await keepOnly(key, error.events);
    throw error;
  }
  await write(remove(key));
}

async function keepOnly(key: Key, events: OutgoingEvent[]): Promise<void> {
  const { gz, blob } = await compress(key, events);
  const change = gz ? { set: { gz }, remove: ["blob"] } : { set: { blob }, remove: ["gz"] };
  await transact(update(key, change, { if: exists }));
}

export interface OutboxItem extends Key, CompressedValue {
  orgId: number;
}

/** Queues the events of an item that its process has left. */
export async function enqueueLeftEvents({ pk, sk, orgId, ...value }: OutboxItem): Promise<void> {
  await enqueueAndDelete({ pk, sk }, orgId, await decompress<OutgoingEvent[]>(value));
}
