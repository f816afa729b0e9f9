// Events about records, such as contact.created. The transaction that changes a record also writes
// an outbox item with its events, so a crash neither loses nor invents one. Afterwards the events
// are queued and the item is deleted; if the process dies before that, the due index finds it.
import { put, remove, type Write, write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import * as ids from "../../ids.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import * as log from "../../kernel/log.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { enqueueEvents, getWantedTypes } from "./enqueue-events.ts";
import type { RecordEventType } from "./event-types.ts";

export interface RecordEvent {
  event: RecordEventType;
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
  const timestamp = now().toISOString();
  const outgoing = events.map(
    ({ event, contactId = null, email = null, details }, i): OutgoingEvent => {
      const id = firstId + i;
      return { id, event, sendId: null, contactId, email, timestamp, details };
    },
  );
  const key = keys.outboxItem(orgId, firstId);
  const item = { orgId, ...(await compress(key, outgoing)), ...dueAttributes(firstId) };
  return {
    writes: [put(key, item)],
    afterCommit: () => enqueueSoon(orgId, firstId, outgoing),
  };
}

// Longer than a request takes to queue its events.
const graceSeconds = 60;

const dueAttributes = (id: number) =>
  indexAttributes(indexes.due("OUTBOX", dueShardOf(id)), addSeconds(graceSeconds).toISOString());

/** A failure does not fail the request, because the change is made and the item is stored. */
async function enqueueSoon(orgId: number, id: number, events: OutgoingEvent[]): Promise<void> {
  try {
    await enqueueAndDelete(orgId, id, events);
  } catch (error) {
    log.error("events are queued later", error, { orgId });
  }
}

/** Queues an event twice if the process dies in between; its webhook-id is then the same. */
async function enqueueAndDelete(orgId: number, id: number, events: OutgoingEvent[]): Promise<void> {
  await enqueueEvents(orgId, events);
  await write(remove(keys.outboxItem(orgId, id)));
}

export interface OutboxItem extends CompressedValue {
  orgId: number;
}

/** Queues the events of an item that its process has left. */
export async function enqueueLeftEvents({ orgId, ...value }: OutboxItem): Promise<void> {
  const events = await decompress<OutgoingEvent[]>(value);
  await enqueueAndDelete(orgId, events[0]!.id, events);
}
