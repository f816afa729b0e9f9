// Outgoing webhooks on virtual queues, without the delivery events that cause them.
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import { enqueueEvents } from "../../shared/domain/webhooks/enqueue-events.ts";
import type { WebhookEventType } from "../../shared/domain/webhooks/event-types.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import { type EventType, eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import type { OutgoingEvent } from "../../shared/queues.ts";
import { type CustomerEndpoint, startCustomerEndpoint } from "./customer-endpoint.ts";
import { runWorkers } from "./virtual-queues.ts";

export const workers = [forward, drain];

let lastId = 0;

/** Creates `n` new events. */
export const createEvents = (n = 1, event: EventType = "delivered"): OutgoingEvent[] =>
  Array.from({ length: n }, () => {
    const id = ++lastId;
    return {
      id,
      event,
      sendId: 1_000_000 + id,
      contactId: 17,
      email: `ann-${id}@example.net`,
      timestamp: clock.now().toISOString(),
      details: {},
    };
  });

export interface WebhookListener {
  caller: Caller;
  id: number;
  secret: string;
  endpoint: CustomerEndpoint;
  /** The deliveries as the API returns them, newest first. */
  deliveries(): Promise<deliveries.Delivery[]>;
  webhook(): Promise<webhooks.Webhook>;
}

let lastOrgId = 1_000_000;

/**
 * Creates an endpoint for all event types in a new organization without a user.
 */
export const createListener = (answer?: CustomerEndpoint["answer"]): Promise<WebhookListener> =>
  addEndpoint(
    { orgId: ++lastOrgId, plan: "free", kind: "session", userId: 1, scopes: ["*"] },
    answer,
  );

export async function addEndpoint(
  caller: Caller,
  answer: CustomerEndpoint["answer"] = 200,
  events: WebhookEventType[] = [...eventTypes],
): Promise<WebhookListener> {
  const endpoint = await startCustomerEndpoint(answer);
  const { id, secret } = await webhooks.create(
    caller,
    webhooks.NewWebhook.parse({ url: endpoint.url, events }),
  );
  return {
    caller,
    id,
    secret,
    endpoint,
    deliveries: () => listDeliveries(caller, id),
    webhook: () => webhooks.find(caller, id),
  };
}

async function listDeliveries(caller: Caller, id: number): Promise<deliveries.Delivery[]> {
  const found: deliveries.Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await deliveries.list(caller, { limit: 100, cursor }, { webhookId: id });
    found.push(...page.deliveries);
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor);
  return found;
}

/** Enqueues the events, and runs workers until nothing is left to do within the time. */
export async function enqueueAndDeliver(
  caller: Caller,
  events: OutgoingEvent[],
  forSeconds = 0,
): Promise<void> {
  await enqueueEvents(caller.orgId, events);
  await runWorkers(workers, { forSeconds });
}
