// Deliveries in the API: list them, redeliver one, and send a test event.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, missing } from "../../errors.ts";
import { countSkipped, type PageRequest, positionOf, toPagination } from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import {
  bodyOf,
  type DeliveryAttempt,
  deliverEvent,
  maxResponseCharacters,
} from "./deliver-event.ts";
import * as deliveryLog from "./delivery-log.ts";
import { type DeliveryRow, deliveryStatuses, resetSchedule } from "./delivery-row.ts";
import { type WebhookEventType, webhookEventTypes } from "./event-types.ts";
import { createSample } from "./sample-events.ts";
import { decryptSecrets, find as findWebhook } from "./webhooks.ts";

export const DeliveryStatus = z.enum(deliveryStatuses);

const responseBody = z
  .string()
  .nullable()
  .describe(
    `First ${maxResponseCharacters} characters of the latest response. \`null\` if there was none.`,
  );

export const Delivery = z
  .object({
    id: RecordId.describe("Id of the delivery. Unique within its endpoint."),
    eventId: RecordId.describe("Id of the event. That of an email is the same in GET /events."),
    event: z.enum(webhookEventTypes).describe("Type of the event."),
    sendId: RecordId.nullable().describe(
      "Send that the event belongs to. `null` for events about records.",
    ),
    status: DeliveryStatus.describe(
      "`pending`: waits for its first attempt or a retry. `delivered`: the endpoint " +
        "confirmed it. `dead`: all attempts failed; it can be redelivered.",
    ),
    attempts: Count.describe("Number of attempts so far."),
    responseStatus: Count.nullable().describe(
      "HTTP status of the latest response. `null` if there was none.",
    ),
    requestBody: z.string().describe("JSON that the endpoint gets."),
    responseBody,
    latencyMs: Count.nullable().describe("Duration of the latest attempt in milliseconds."),
    error: z.string().nullable().describe("Why the latest attempt failed, or `null`."),
    lastAttemptAt: Timestamp.nullable().describe(
      "When the latest attempt was made. `null`: none yet.",
    ),
    nextAttemptAt: Timestamp.nullable().describe(
      "When the next attempt is due. `null` if none is.",
    ),
  })
  .meta({ id: "WebhookDelivery" });
export type Delivery = z.output<typeof Delivery>;

/** Lists deliveries of the last 30 days, newest first. */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  { webhookId, status }: { webhookId: number; status?: DeliveryRow["status"] | undefined },
) {
  await findWebhook(caller, webhookId);
  const end = countSkipped(request) + request.limit;
  const found: Delivery[] = [];
  const before = deliveryIdFromCursor(request);
  for await (const delivery of readDeliveries(caller.orgId, webhookId, { before, status }))
    if (found.push(delivery) > end) break;
  const deliveries = found.slice(end - request.limit, end);
  const last = deliveries.at(-1);
  return {
    deliveries,
    pagination: toPagination(
      request,
      null,
      found.length > end && last ? String(last.id) : undefined,
    ),
  };
}

/** The last delivery of the previous page. */
function deliveryIdFromCursor(request: PageRequest): number | undefined {
  const id = positionOf(request, /^\d{1,16}$/);
  return id === undefined ? undefined : Number(id);
}

async function* readDeliveries(
  orgId: number,
  webhookId: number,
  { before, status }: { before: number | undefined; status: DeliveryRow["status"] | undefined },
): AsyncGenerator<Delivery> {
  const below = before === undefined ? undefined : deliveryLog.parseDeliveryId(before).batch + 1;
  for await (const batch of deliveryLog.readBatches(orgId, webhookId, { below, status }))
    for (const [i, row] of [...batch.rows.entries()].toReversed()) {
      const delivery = toApi(batch, i, row);
      if ((before === undefined || delivery.id < before) && (!status || row.status === status))
        yield delivery;
    }
}

const toApi = (
  batch: deliveryLog.DeliveryBatch,
  rowIndex: number,
  { event, ...row }: DeliveryRow,
): Delivery => ({
  id: deliveryLog.deliveryId(batch.number, rowIndex),
  eventId: event.id,
  event: event.event,
  sendId: event.sendId,
  status: row.status,
  attempts: row.attempts,
  responseStatus: row.responseStatus ?? null,
  requestBody: bodyOf(event),
  responseBody: row.responseBody ?? null,
  latencyMs: row.latencyMs ?? null,
  error: row.error ?? null,
  lastAttemptAt: row.attemptedAt ?? null,
  nextAttemptAt: row.nextAt ?? null,
});

/**
 * Delivers an event again, now, with all retries and the same webhook-id. 409 if the endpoint is
 * inactive.
 */
export async function redeliver(
  caller: CallerScope,
  webhookId: number,
  id: number,
): Promise<Delivery> {
  const webhook = await findWebhook(caller, webhookId);
  const { batch: number, row: rowIndex } = deliveryLog.parseDeliveryId(id);
  const batch = await deliveryLog.getBatch(caller.orgId, webhookId, number);
  if (!batch?.rows[rowIndex]) throw missing("Delivery not found");
  if (!webhook.active) throw conflict("The endpoint is inactive: set active to true first");
  const stored = await deliveryLog.updateBatch(batch, (rows) =>
    rows.map((row, i) => (i === rowIndex ? resetSchedule(row) : row)),
  );
  return toApi(stored, rowIndex, stored.rows[rowIndex]!);
}

export const WebhookTestResult = z.object({
  event: z.enum(webhookEventTypes).describe("Type of the event that was sent."),
  delivered: z.boolean().describe("Whether the endpoint responded with 2xx in time."),
  responseStatus: Count.nullable().describe(
    "HTTP status of the response. `null` if there was none.",
  ),
  requestBody: z.string().describe("JSON that the endpoint got."),
  responseBody,
  latencyMs: Count.describe("Duration of the call in milliseconds."),
  error: z.string().nullable().describe("Why the delivery failed, or `null`."),
});

/**
 * Calls the endpoint once with a sample event, even if it is inactive. The call is not listed and
 * does not change its health.
 */
export async function sendTestEvent(
  caller: CallerScope,
  webhookId: number,
  event?: WebhookEventType,
): Promise<z.output<typeof WebhookTestResult>> {
  const webhook = await findWebhook(caller, webhookId);
  const type = event ?? webhook.events[0]!;
  const timestamp = now().toISOString();
  const sample = {
    id: 0,
    ...createSample(type, { id: 0, email: "test@example.com" }),
    timestamp,
  };
  const { timedOut: _, ...outcome }: DeliveryAttempt = await deliverEvent(
    { ...webhook, secrets: await decryptSecrets(caller.orgId, webhook) },
    sample,
    `test ${randomUUID()}`,
  );
  return { event: type, requestBody: bodyOf(sample), ...outcome };
}
