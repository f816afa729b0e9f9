import { queryAll } from "../../adapters/dynamodb/table.ts";
import { enqueueDivisible } from "../../adapters/sqs/enqueue.ts";
import { config } from "../../config.ts";
import { splitByBytes, splitIntoBatches } from "../../kernel/parallel.ts";
import { ranges } from "../../keys.ts";
import { maxMessageBytes, maxOutgoingEvents, type OutgoingEvent, queues } from "../../queues.ts";
import { nextBatchNumber } from "./delivery-log.ts";
import { type WebhookEventType, webhookEventTypes } from "./event-types.ts";
import type { Webhook } from "./webhooks.ts";

/** The queue refuses these events because of their content. It has accepted all others. */
export class RefusedEvents extends Error {
  readonly events: OutgoingEvent[];
  constructor(events: OutgoingEvent[]) {
    super(
      `The queue refuses events: ${events.map(({ id, event }) => `${id} ${event}`).join(", ")}`,
    );
    this.name = "RefusedEvents";
    this.events = events;
  }
}

/**
 * Queues events for every active endpoint that subscribes to their type, and for the event bus if
 * there is one. Safe to repeat: they then receive an event again, under the same id. Throws
 * `RefusedEvents` after the other events are queued.
 */
export async function enqueueEvents(orgId: number, events: OutgoingEvent[]): Promise<void> {
  if (!events.length) return;
  const endpoints = await getActiveEndpoints(orgId);
  const forEndpoints = endpoints.flatMap((endpoint) => {
    const subscribed = events.filter(({ event }) => endpoint.events.includes(event));
    return splitIntoMessages(subscribed).map((batch) => ({
      orgId,
      webhookId: endpoint.id,
      batch: nextBatchNumber(),
      events: batch,
    }));
  });
  const forBus = config.eventBus
    ? splitIntoMessages(events).map((batch) => ({ orgId, bus: true as const, events: batch }))
    : [];
  const refused = await enqueueDivisible(queues.forward, [...forEndpoints, ...forBus], {
    group: (message) => ("bus" in message ? busGroup(orgId) : message.webhookId),
    withEvents: (message, some) =>
      "bus" in message
        ? { ...message, events: some }
        : { ...message, batch: nextBatchNumber(), events: some },
  });
  if (!refused.length) return;
  const refusedIds = new Set(refused.map((message) => message.events[0]!.id));
  throw new RefusedEvents(events.filter(({ id }) => refusedIds.has(id)));
}

/** The messages for the bus, of each organization. */
export const busGroup = (orgId: number): string => `bus ${orgId}`;

const splitIntoMessages = (events: OutgoingEvent[]): OutgoingEvent[][] =>
  splitIntoBatches(events, maxOutgoingEvents).flatMap((batch) =>
    splitByBytes(batch, maxMessageBytes),
  );

// Other processes see a changed endpoint after this time at the latest.
const cacheMs = 3000;
/** The types that an active endpoint subscribes to; with an event bus or event files all. */
export async function getWantedTypes(orgId: number): Promise<Set<WebhookEventType>> {
  if (config.eventBus || config.writesEventFiles) return new Set(webhookEventTypes);
  const endpoints = await getActiveEndpoints(orgId);
  return new Set(endpoints.flatMap(({ events }) => events));
}

type CachedEndpoint = Pick<Webhook, "id" | "events">;
const endpointCache = new Map<number, { endpoints: CachedEndpoint[]; until: number }>();

export const clearEndpointCache = (orgId: number): void => void endpointCache.delete(orgId);

async function getActiveEndpoints(orgId: number): Promise<CachedEndpoint[]> {
  const cached = endpointCache.get(orgId);
  if (cached && cached.until > performance.now()) return cached.endpoints;
  const all = await queryAll<Webhook>(ranges.records(orgId, "WEBHOOK"));
  const endpoints = all.filter(({ active }) => active);
  if (endpointCache.size >= 1000) endpointCache.clear();
  endpointCache.set(orgId, { endpoints, until: performance.now() + cacheMs });
  return endpoints;
}
