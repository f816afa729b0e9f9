// The delivery log of an endpoint: one batch per message of up to 100 events. A batch is written
// after the first attempt. It stays on the due index while one of its deliveries is pending.

import { all, equals, greaterThan, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, queryPages, remove, transact, write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now, secondsUntil } from "../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { dueShardOf, indexAttributes, indexes, keys, ranges } from "../../keys.ts";
import { maxOutgoingEvents, queues } from "../../queues.ts";
import type { DeliveryRow } from "./delivery-row.ts";

export interface DeliveryBatch {
  orgId: number;
  webhookId: number;
  number: number;
  /** Version: grows with every write; 0 while the batch is not stored. */
  v: number;
  rows: DeliveryRow[];
}

interface DeliveryBatchItem extends CompressedValue, Record<DeliveryRow["status"], number> {
  orgId: number;
  webhookId: number;
  batch: number;
  v: number;
  expires: number;
}

// A batch number is a time in sixteenths of a millisecond. So batches are in order of time, and the
// id of a delivery tells its batch. Stays below 2^53 until the year 2148.
const batchesPerMillisecond = 16;
let lastNumber = 0;

/** Two processes may choose the same number. The one that writes its batch later takes the next. */
export function nextBatchNumber(): number {
  lastNumber = Math.max(lastNumber + 1, now().getTime() * batchesPerMillisecond);
  return lastNumber;
}

export const batchTime = (batch: number): Date =>
  new Date(Math.floor(batch / batchesPerMillisecond));

export const deliveryId = (batch: number, row: number): number => batch * maxOutgoingEvents + row;
export const parseDeliveryId = (id: number): { batch: number; row: number } => ({
  batch: Math.floor(id / maxOutgoingEvents),
  row: id % maxOutgoingEvents,
});

const batchTtlSeconds = 30 * 24 * 3600;

export async function getBatch(
  orgId: number,
  webhookId: number,
  number: number,
): Promise<DeliveryBatch | undefined> {
  const item = await get<DeliveryBatchItem>(keys.deliveryBatch(orgId, webhookId, number));
  return item && item.expires > epochSeconds() ? fromItem(item) : undefined;
}

const fromItem = async ({
  orgId,
  webhookId,
  batch,
  v,
  ...value
}: DeliveryBatchItem): Promise<DeliveryBatch> => ({
  orgId,
  webhookId,
  number: batch,
  v,
  rows: await decompress<DeliveryRow[]>(value),
});

/**
 * Reads batches, newest first: those with a number below `below`, and with a row of `status` if
 * given.
 */
export async function* readBatches(
  orgId: number,
  webhookId: number,
  { below, status }: { below?: number | undefined; status?: DeliveryRow["status"] | undefined },
): AsyncGenerator<DeliveryBatch> {
  const notExpired = greaterThan("expires", epochSeconds());
  const filter = status ? all(notExpired, greaterThan(status, 0)) : notExpired;
  const end = below === undefined ? undefined : keys.deliveryBatch(orgId, webhookId, below).sk;
  const range = ranges.deliveryBatches(orgId, webhookId);
  const options = { newestFirst: true, limit: 10, filter, below: end };
  for await (const { items } of queryPages<DeliveryBatchItem>(range, options))
    for (const item of items) yield fromItem(item);
}

/**
 * Changes the rows of a batch and schedules the next attempt: a delayed message if it is soon, the
 * due index if it is later or the message is lost. Retries after a conflict. Returns the stored
 * batch.
 */
export async function updateBatch(
  batch: DeliveryBatch,
  change: (rows: DeliveryRow[]) => DeliveryRow[],
): Promise<DeliveryBatch> {
  for (let current = batch; ; ) {
    const changed = { ...current, v: current.v + 1, rows: change(current.rows) };
    if (await tryWriteBatch(changed)) {
      await enqueueNextAttempt(changed);
      return changed;
    }
    const stored = await getBatch(batch.orgId, batch.webhookId, current.number);
    if (!stored) throw new Error("A batch of deliveries was removed while it was written");
    // Another process may have chosen the same number for its batch.
    current = sameEvents(stored, batch) ? stored : { ...batch, number: current.number + 1 };
  }
}

export const sameEvents = (a: DeliveryBatch, b: DeliveryBatch): boolean =>
  a.rows.length === b.rows.length &&
  a.rows.every(({ event }, i) => event.id === b.rows[i]!.event.id);

export const deleteBatch = ({ orgId, webhookId, number }: DeliveryBatch): Promise<void> =>
  write(remove(keys.deliveryBatch(orgId, webhookId, number)));

const maxSqsDelaySeconds = 900;
/** The due index finds a batch this long after its message, in case the message is lost. */
const dueGraceSeconds = 120;

async function tryWriteBatch({
  orgId,
  webhookId,
  number,
  v,
  rows,
}: DeliveryBatch): Promise<boolean> {
  const key = keys.deliveryBatch(orgId, webhookId, number);
  const count = (status: DeliveryRow["status"]) =>
    rows.filter((row) => row.status === status).length;
  const item: DeliveryBatchItem = {
    ...(await compress(key, rows)),
    orgId,
    webhookId,
    batch: number,
    v,
    pending: count("pending"),
    delivered: count("delivered"),
    dead: count("dead"),
    expires: epochSeconds(addSeconds(batchTtlSeconds)),
    ...dueAttributes(number, rows),
  };
  return transact(put(key, item, { if: v === 1 ? isNew : equals("v", v - 1) }));
}

function dueAttributes(number: number, rows: DeliveryRow[]) {
  const next = earliestAttempt(rows);
  if (!next) return {};
  const due = secondsUntil(next) > maxSqsDelaySeconds ? next : addSeconds(dueGraceSeconds, next);
  return indexAttributes(
    indexes.due("DELIVERY", dueShardOf(batchTime(number).getTime())),
    due.toISOString(),
  );
}

async function enqueueNextAttempt({
  orgId,
  webhookId,
  number,
  rows,
}: DeliveryBatch): Promise<void> {
  const next = earliestAttempt(rows);
  if (!next || secondsUntil(next) > maxSqsDelaySeconds) return;
  await enqueue(queues.forward, [{ orgId, webhookId, batch: number }], {
    group: webhookId,
    delaySeconds: secondsUntil(next),
  });
}

function earliestAttempt(rows: DeliveryRow[]): Date | undefined {
  const times = rows.flatMap(({ status, nextAt }) => (status === "pending" ? [nextAt!] : []));
  return times.length ? new Date(times.reduce((a, b) => (a < b ? a : b))) : undefined;
}
