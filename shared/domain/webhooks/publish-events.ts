// Puts events on the event bus, at least once each and always with the same id.
import { type BusEvent, maxBusBytes, putEvents } from "../../adapters/eventbridge/put-events.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { config } from "../../config.ts";
import * as log from "../../kernel/log.ts";
import { type BusMessage, type OutgoingEvent, queues } from "../../queues.ts";
import { busGroup } from "./enqueue-events.ts";
import { toStreamedEvent } from "./streamed-event.ts";

const retrySeconds = 10;

/**
 * Puts the events of a message on the bus. If some fail, only these are enqueued again; if all
 * fail, throws, so that the message uses up an attempt.
 */
export async function publishEvents({ orgId, bus, events }: BusMessage): Promise<void> {
  // The setting was removed after the message was sent.
  if (!config.eventBus) return;
  const { places, error } = await putEvents(events.map((event) => toBusEvent(orgId, event)));
  if (!places.length) return;
  if (places.length === events.length) throw error;
  const failed = places.map((place) => events[place]!);
  const facts = { orgId, events: failed.length, cause: error?.message };
  log.warn("events are put on the bus again", facts);
  await enqueue(queues.forward, [{ orgId, bus, events: failed }], {
    group: busGroup(orgId),
    delaySeconds: retrySeconds,
  });
}

function toBusEvent(orgId: number, event: OutgoingEvent): BusEvent {
  const full = toStreamedEvent(orgId, event);
  const detail = JSON.stringify(full);
  // Only the values of a contact or form can be that long. The files have them.
  const isTooLong = Buffer.byteLength(detail) > maxBusBytes - 1000;
  return {
    source: "pennymail",
    detailType: event.event,
    detail: isTooLong ? JSON.stringify({ ...full, data: null }) : detail,
    time: new Date(event.timestamp),
  };
}
