// Delivers events to webhook endpoints, at least once each and always under the same webhook-id. If
// a worker crashes between a call and the write of its result, the next worker repeats the call.

import { get } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import type { QueueMessage } from "../../kernel/queue-worker.ts";
import { keys } from "../../keys.ts";
import { type EndpointMessage, type ForwardMessage, queues } from "../../queues.ts";
import * as deliveryLog from "./delivery-log.ts";
import * as deliveryRow from "./delivery-row.ts";
import * as endpointHealth from "./endpoint-health.ts";
import * as hostPace from "./host-pace.ts";
import { deliverInParallel, type EndedDelivery } from "./parallel-deliveries.ts";
import { publishEvents } from "./publish-events.ts";
import { decryptSecrets, type Webhook } from "./webhooks.ts";

/**
 * Delivers a batch of messages, per endpoint, and those for the event bus. Returns one error per
 * message, `undefined` for success.
 */
export async function forwardBatch(messages: QueueMessage<ForwardMessage>[]): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  // Each message for the bus is a target of its own.
  const byTarget = Map.groupBy(messages.keys(), (i) => {
    const { body } = messages[i]!;
    return "bus" in body ? `bus ${i}` : body.webhookId;
  });
  await Promise.all(
    [...byTarget.values()].map(async (positions) => {
      await forwardToTarget(positions.map((i) => messages[i]!)).catch((error: unknown) => {
        for (const i of positions) errors[i] = error;
      });
    }),
  );
  return errors;
}

const forwardToTarget = (messages: QueueMessage<ForwardMessage>[]): Promise<void> => {
  const { body } = messages[0]!;
  return "bus" in body
    ? publishEvents(body)
    : forwardToEndpoint(messages as QueueMessage<EndpointMessage>[]);
};

// Leaves time for calls that have started, and for storing their results, before the worker times
// out.
const workSeconds = queues.forward.timeoutSeconds - 25;

async function forwardToEndpoint(messages: QueueMessage<EndpointMessage>[]): Promise<void> {
  const { orgId, webhookId } = messages[0]!.body;
  const until = addSeconds(workSeconds);
  const [webhook, batches] = await Promise.all([
    get<Webhook>(keys.record(orgId, "WEBHOOK", webhookId)),
    loadDueBatches(messages),
  ]);
  if (webhook?.ownerUntold) await endpointHealth.notifyOwner(orgId, webhookId);
  if (!webhook?.active) return markPendingDead(batches, webhook);
  const breakerOpenUntil = await endpointHealth.checkBreaker(orgId, webhook);
  const share = breakerOpenUntil
    ? { calls: 0 }
    : await hostPace.take(orgId, webhook.url, listDueRows(batches).length);
  const attempts = await deliverDueRows(webhook, batches, { orgId, calls: share.calls, until });
  const { active, openUntil } = await endpointHealth.recordAttempts(
    orgId,
    webhook,
    attemptsInOrder(attempts),
  );
  const postponeUntil = breakerOpenUntil ?? openUntil ?? share.waitUntil ?? now();
  await Promise.all(
    batches.map((batch, i) =>
      deliveryLog.updateBatch(batch, applyAttempts(batch, attempts[i]!, { postponeUntil, active })),
    ),
  );
}

/** Loads the distinct batches that have a due delivery. */
async function loadDueBatches(
  messages: QueueMessage<EndpointMessage>[],
): Promise<deliveryLog.DeliveryBatch[]> {
  const loaded = await Promise.all(messages.map(loadBatch));
  const distinct = new Map(
    loaded.flatMap((batch) =>
      batch ? [[`${batch.number} ${batch.rows[0]?.event.id}`, batch] as const] : [],
    ),
  );
  return [...distinct.values()].filter((batch) =>
    batch.rows.some((row) => deliveryRow.isDue(row, now())),
  );
}

async function loadBatch({
  attempt,
  body: { orgId, webhookId, batch: number, events },
}: QueueMessage<EndpointMessage>): Promise<deliveryLog.DeliveryBatch | undefined> {
  const fresh = events && { orgId, webhookId, number, v: 0, rows: events.map(deliveryRow.newRow) };
  // An earlier attempt of the message may have written the batch.
  const stored =
    fresh && attempt === 1 ? undefined : await deliveryLog.getBatch(orgId, webhookId, number);
  return fresh && !(stored && deliveryLog.sameEvents(stored, fresh)) ? fresh : stored;
}

/**
 * Marks pending deliveries of an inactive endpoint dead. Deletes the batches of a deleted endpoint.
 */
async function markPendingDead(
  batches: deliveryLog.DeliveryBatch[],
  webhook: Webhook | undefined,
): Promise<void> {
  const markDead = (all: deliveryRow.DeliveryRow[]) =>
    all.map((row) => (row.status === "pending" ? deliveryRow.markDead(row, inactiveError) : row));
  await Promise.all(
    batches.map((batch) =>
      webhook ? deliveryLog.updateBatch(batch, markDead) : deliveryLog.deleteBatch(batch),
    ),
  );
}

const inactiveError = "The endpoint is inactive, so the event was not delivered";

const listDueRows = (batches: deliveryLog.DeliveryBatch[]) =>
  batches.flatMap((batch, batchIndex) =>
    batch.rows.flatMap((row, rowIndex) =>
      deliveryRow.isDue(row, now()) ? [{ batchIndex, rowIndex, event: row.event }] : [],
    ),
  );

type AttemptsByRow = Map<number, EndedDelivery>;

/** Returns the attempts of each batch by row index. */
async function deliverDueRows(
  webhook: Webhook,
  batches: deliveryLog.DeliveryBatch[],
  { orgId, calls, until }: { orgId: number; calls: number; until: Date },
): Promise<AttemptsByRow[]> {
  const due = listDueRows(batches).slice(0, calls);
  if (!due.length) return batches.map(() => new Map());
  const target = { ...webhook, secrets: await decryptSecrets(orgId, webhook) };
  const ended = await deliverInParallel(
    target,
    due.map(({ event }) => event),
    { probeCalls: endpointHealth.timeoutsLeft(webhook), until },
  );
  const byBatch = batches.map((): AttemptsByRow => new Map());
  for (const [i, { batchIndex, rowIndex }] of due.entries())
    if (ended[i]) byBatch[batchIndex]!.set(rowIndex, ended[i]);
  return byBatch;
}

const attemptsInOrder = (attempts: AttemptsByRow[]) =>
  attempts
    .flatMap((ofBatch) => [...ofBatch.values()])
    .toSorted((a, b) => a.endOrder - b.endOrder)
    .map(({ outcome }) => outcome);

/**
 * Returns the change of a batch after its attempts: due rows without an attempt wait until
 * `postponeUntil`. Another worker may have changed the rows since the batch was loaded.
 */
function applyAttempts(
  loadedBatch: deliveryLog.DeliveryBatch,
  attempts: AttemptsByRow,
  { postponeUntil, active }: { postponeUntil: Date; active: boolean },
) {
  const [factor, loadedAt] = [deliveryRow.jitter(), now()];
  const applyAttempt = (row: deliveryRow.DeliveryRow, i: number): deliveryRow.DeliveryRow => {
    const outcome = attempts.get(i)?.outcome;
    if (!outcome)
      return deliveryRow.isDue(row, loadedAt) ? deliveryRow.postponed(row, postponeUntil) : row;
    // Two simultaneous failed calls count as one attempt, and the other worker has counted it.
    const isUnchanged = row.attempts === loadedBatch.rows[i]!.attempts;
    return outcome.delivered || isUnchanged ? deliveryRow.withAttempt(row, outcome, factor) : row;
  };
  return (all: deliveryRow.DeliveryRow[]) =>
    all
      .map(applyAttempt)
      .map((row) =>
        active || row.status !== "pending"
          ? row
          : deliveryRow.markDead(row, row.error ?? inactiveError),
      );
}
