import { queryAll } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { splitByBytes, splitIntoBatches } from "../../kernel/parallel.ts";
import { ranges } from "../../keys.ts";
import { maxMessageBytes, maxOutgoingEvents, type OutgoingEvent, queues } from "../../queues.ts";
import { nextPageNumber } from "./delivery-log.ts";
import type { WebhookEventType } from "./event-types.ts";
import type { Webhook } from "./webhooks.ts";

/**
 * Queues events for every active endpoint that subscribes to their type. Safe to repeat: the
 * endpoint then receives an event again, under the same webhook-id.
 */
export async function enqueueEvents(orgId: number, events: OutgoingEvent[]): Promise<void> {
  if (!events.length) return;
  const endpoints = await getActiveEndpoints(orgId);
  const messages = endpoints.flatMap((endpoint) => {
    const subscribed = events.filter(({ event }) => endpoint.events.includes(event));
    return splitIntoMessages(subscribed).map((batch) => ({
      orgId,
      webhookId: endpoint.id,
      page: nextPageNumber(),
      events: batch,
    }));
  });
  await enqueue(queues.forward, messages, { group: ({ webhookId }) => webhookId });
}

const splitIntoMessages = (events: OutgoingEvent[]): OutgoingEvent[][] =>
  splitIntoBatches(events, maxOutgoingEvents).flatMap((batch) =>
    splitByBytes(batch, maxMessageBytes),
  );

// Other processes see a changed endpoint after this time at the latest.
const cacheMs = 3000;
/** The types that an active endpoint of the organization subscribes to. */
export async function getWantedTypes(orgId: number): Promise<Set<WebhookEventType>> {
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
