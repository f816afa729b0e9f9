// Deliveries as callers see them: what each event came to at an endpoint, and telling it again.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, missing } from "../../errors.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../../paging.ts";
import { type EventType, eventTypes } from "../../providers/inbound/inbound.ts";
import { find as findWebhook, secrets } from "../webhooks.ts";
import { type Outcome, post } from "./calls.ts";
import { deliveryId, placeOf } from "./page-numbers.ts";
import * as pages from "./pages.ts";
import { again, deliveryStatuses, type Row } from "./rows.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export const Status = z.enum(deliveryStatuses);

export const Delivery = z
  .object({
    id: z.int().describe("Unique at its endpoint"),
    eventId: z.int(),
    event: z.enum(eventTypes),
    sendId: z.int(),
    status: Status.describe("`pending`: it will be tried (again); `dead`: given up, and can be delivered again"),
    attempts: z.int(),
    responseStatus: z.int().nullable().describe("HTTP status of the last answer; null without one"),
    latencyMs: z.int().nullable().describe("Of the last attempt"),
    error: z.string().nullable().describe("Why the last attempt failed"),
    lastAttemptAt: z.string().nullable(),
    nextAttemptAt: z.string().nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type Delivery = z.output<typeof Delivery>;

/** Newest first; of the last 30 days. */
export async function list(who: Who, webhookId: number, request: PageRequest, status?: Row["status"]) {
  await findWebhook(who, webhookId);
  const wanted = skipped(request) + request.limit;
  const found: Delivery[] = [];
  for await (const delivery of newestFirst(who.orgId, webhookId, lastOf(request), status)) if (found.push(delivery) > wanted) break;
  const deliveries = found.slice(wanted - request.limit, wanted);
  const last = deliveries.at(-1);
  return { deliveries, pagination: pagination(request, null, found.length > wanted && last ? String(last.id) : undefined) };
}

/** The delivery that the last page ended with. */
function lastOf({ cursor }: PageRequest): number | undefined {
  const place = decodeCursor(cursor);
  return place === undefined ? undefined : Number(place) || 0;
}

async function* newestFirst(orgId: number, webhookId: number, last: number | undefined, status?: Row["status"]): AsyncGenerator<Delivery> {
  const below = last === undefined ? undefined : placeOf(last).page + 1;
  for await (const page of pages.newestFirst(orgId, webhookId, below, status))
    for (const [i, row] of [...page.rows.entries()].toReversed()) {
      const delivery = shown(page, i, row);
      if ((last === undefined || delivery.id < last) && (!status || row.status === status)) yield delivery;
    }
}

const shown = (page: pages.Page, place: number, { event, ...row }: Row): Delivery => ({
  id: deliveryId(page.number, place),
  eventId: event.id,
  event: event.event,
  sendId: event.sendId,
  status: row.status,
  attempts: row.attempts,
  responseStatus: row.responseStatus ?? null,
  latencyMs: row.latencyMs ?? null,
  error: row.error ?? null,
  lastAttemptAt: row.attemptedAt ?? null,
  nextAttemptAt: row.nextAt ?? null,
});

/** Tells the endpoint again, now, with all retries before it and under the same webhook-id. 409 when the endpoint is inactive. */
export async function redeliver(who: Who, webhookId: number, id: number): Promise<Delivery> {
  const webhook = await findWebhook(who, webhookId);
  const { page: number, row: place } = placeOf(id);
  const page = await pages.find(who.orgId, webhookId, number);
  if (!page?.rows[place]) throw missing("There is no such delivery");
  if (!webhook.active) throw conflict("The endpoint is inactive: set it active first");
  const stored = await pages.store(page, (rows) => rows.map((row, i) => (i === place ? again(row) : row)));
  return shown(stored, place, stored.rows[place]!);
}

export const Tested = z.object({
  event: z.enum(eventTypes),
  delivered: z.boolean(),
  responseStatus: z.int().nullable().describe("null: no answer came"),
  latencyMs: z.int(),
  error: z.string().nullable(),
});

/** Calls the endpoint once with a made-up event, active or not; not listed, and nothing depends on how it goes. */
export async function test(who: Who, webhookId: number, event?: EventType): Promise<z.output<typeof Tested>> {
  const webhook = await findWebhook(who, webhookId);
  const type = event ?? webhook.events[0]!;
  const timestamp = now().toISOString();
  const sample = { id: 0, event: type, sendId: 0, contactId: 0, email: "test@example.com", timestamp };
  const { timedOut: _, ...outcome }: Outcome = await post(
    { ...webhook, secrets: await secrets(who.orgId, webhook) },
    sample,
    `test ${randomUUID()}`,
  );
  return { event: type, ...outcome };
}
