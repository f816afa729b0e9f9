// Outgoing webhooks without the events that lead to them. For tests in engine/, on virtual queues.
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import { type EventType, eventTypes } from "../../shared/providers/inbound/inbound.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { settle } from "./virtual-queues.ts";

export const workers = [forward, drain];

let lastId = 0;

/** `n` events that nobody was told of. */
export const happened = (n = 1, event: EventType = "delivered"): webhooks.Announcement[] =>
  Array.from({ length: n }, () => {
    const id = ++lastId;
    return { id, event, sendId: 1_000_000 + id, contactId: 17, email: `ann-${id}@example.net`, timestamp: clock.now().toISOString() };
  });

export interface Listener {
  caller: Caller;
  id: number;
  secret: string;
  there: Endpoint;
  /** As callers see them, newest first. */
  deliveries(): Promise<deliveries.Delivery[]>;
  webhook(): Promise<webhooks.Webhook>;
}

let lastOrgId = 1_000_000;

/** An endpoint that hears of everything, of an organization of its own. Nobody has to have signed up for it. */
export const listener = (answer?: Endpoint["answer"]): Promise<Listener> =>
  another({ orgId: ++lastOrgId, plan: "free", kind: "session", userId: 1, scopes: ["*"] }, answer);

export async function another(caller: Caller, answer: Endpoint["answer"] = 200): Promise<Listener> {
  const there = await endpoint(answer);
  const { id, secret } = await webhooks.create(caller, webhooks.NewWebhook.parse({ url: there.url, events: [...eventTypes] }));
  return {
    caller,
    id,
    secret,
    there,
    deliveries: () => all(caller, id),
    webhook: () => webhooks.find(caller, id),
  };
}

async function all(caller: Caller, id: number): Promise<deliveries.Delivery[]> {
  const found: deliveries.Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await deliveries.list(caller, id, { limit: 100, cursor });
    found.push(...page.deliveries);
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor);
  return found;
}

/** Announces, and works until nothing is left to do within the time. */
export async function announced(caller: Caller, events: webhooks.Announcement[], forSeconds = 0): Promise<void> {
  await webhooks.announce(caller.orgId, events);
  await settle(workers, { forSeconds });
}
