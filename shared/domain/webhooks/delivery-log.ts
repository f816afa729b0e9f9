// The delivery log of an endpoint: one page per message of up to 100 events. A page is written
// after the first attempt. It stays on the due index while one of its deliveries is pending.

import { all, equals, greaterThan, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, queryPages, remove, transact, write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now, secondsUntil } from "../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { dueShardOf, indexAttributes, indexes, keys, ranges } from "../../keys.ts";
import { maxOutgoingEvents, queues } from "../../queues.ts";
import type { DeliveryRow } from "./delivery-row.ts";

export interface DeliveryPage {
  orgId: number;
  webhookId: number;
  number: number;
  /** Version: grows with every write; 0 while the page is not stored. */
  v: number;
  rows: DeliveryRow[];
}

interface DeliveryPageItem extends CompressedValue, Record<DeliveryRow["status"], number> {
  orgId: number;
  webhookId: number;
  page: number;
  v: number;
  expires: number;
}

// A page number is a time in sixteenths of a millisecond. So pages are in order of time, and the id
// of a delivery tells its page. Stays below 2^53 until the year 2148.
const pagesPerMillisecond = 16;
let lastNumber = 0;

/** Two processes may choose the same number. The one that writes its page later takes the next. */
export function nextPageNumber(): number {
  lastNumber = Math.max(lastNumber + 1, now().getTime() * pagesPerMillisecond);
  return lastNumber;
}

export const pageTime = (page: number): Date => new Date(Math.floor(page / pagesPerMillisecond));

export const deliveryId = (page: number, row: number): number => page * maxOutgoingEvents + row;
export const parseDeliveryId = (id: number): { page: number; row: number } => ({
  page: Math.floor(id / maxOutgoingEvents),
  row: id % maxOutgoingEvents,
});

const pageTtlSeconds = 30 * 24 * 3600;

export async function getPage(
  orgId: number,
  webhookId: number,
  number: number,
): Promise<DeliveryPage | undefined> {
  const item = await get<DeliveryPageItem>(keys.deliveryPage(orgId, webhookId, number));
  return item && item.expires > epochSeconds() ? fromItem(item) : undefined;
}

const fromItem = async ({
  orgId,
  webhookId,
  page,
  v,
  ...value
}: DeliveryPageItem): Promise<DeliveryPage> => ({
  orgId,
  webhookId,
  number: page,
  v,
  rows: await decompress<DeliveryRow[]>(value),
});

/**
 * Reads pages, newest first: those with a number below `below`, and with a row of `status` if
 * given.
 */
export async function* readPages(
  orgId: number,
  webhookId: number,
  { below, status }: { below?: number | undefined; status?: DeliveryRow["status"] | undefined },
): AsyncGenerator<DeliveryPage> {
  const notExpired = greaterThan("expires", epochSeconds());
  const filter = status ? all(notExpired, greaterThan(status, 0)) : notExpired;
  const end = below === undefined ? undefined : keys.deliveryPage(orgId, webhookId, below).sk;
  const range = ranges.deliveryPages(orgId, webhookId);
  const options = { newestFirst: true, limit: 10, filter, below: end };
  for await (const { items } of queryPages<DeliveryPageItem>(range, options))
    for (const item of items) yield fromItem(item);
}

/**
 * Changes the rows of a page and schedules the next attempt: a delayed message if it is soon, the
 * due index if it is later or the message is lost. Retries after a conflict. Returns the stored
 * page.
 */
export async function updatePage(
  page: DeliveryPage,
  change: (rows: DeliveryRow[]) => DeliveryRow[],
): Promise<DeliveryPage> {
  for (let current = page; ; ) {
    const changed = { ...current, v: current.v + 1, rows: change(current.rows) };
    if (await tryWritePage(changed)) {
      await enqueueNextAttempt(changed);
      return changed;
    }
    const stored = await getPage(page.orgId, page.webhookId, current.number);
    if (!stored) throw new Error("A page of deliveries was removed while it was written");
    // Another process may have chosen the same number for its page.
    current = sameEvents(stored, page) ? stored : { ...page, number: current.number + 1 };
  }
}

export const sameEvents = (a: DeliveryPage, b: DeliveryPage): boolean =>
  a.rows.length === b.rows.length &&
  a.rows.every(({ event }, i) => event.id === b.rows[i]!.event.id);

export const deletePage = ({ orgId, webhookId, number }: DeliveryPage): Promise<void> =>
  write(remove(keys.deliveryPage(orgId, webhookId, number)));

const maxSqsDelaySeconds = 900;
/** The due index finds a page this long after its message, in case the message is lost. */
const dueGraceSeconds = 120;

async function tryWritePage({ orgId, webhookId, number, v, rows }: DeliveryPage): Promise<boolean> {
  const key = keys.deliveryPage(orgId, webhookId, number);
  const count = (status: DeliveryRow["status"]) =>
    rows.filter((row) => row.status === status).length;
  const item: DeliveryPageItem = {
    ...(await compress(key, rows)),
    orgId,
    webhookId,
    page: number,
    v,
    pending: count("pending"),
    delivered: count("delivered"),
    dead: count("dead"),
    expires: epochSeconds(addSeconds(pageTtlSeconds)),
    ...dueAttributes(number, rows),
  };
  return transact(put(key, item, { if: v === 1 ? isNew : equals("v", v - 1) }));
}

function dueAttributes(number: number, rows: DeliveryRow[]) {
  const next = earliestAttempt(rows);
  if (!next) return {};
  const due = secondsUntil(next) > maxSqsDelaySeconds ? next : addSeconds(dueGraceSeconds, next);
  return indexAttributes(
    indexes.due("DELIVERY", dueShardOf(pageTime(number).getTime())),
    due.toISOString(),
  );
}

async function enqueueNextAttempt({ orgId, webhookId, number, rows }: DeliveryPage): Promise<void> {
  const next = earliestAttempt(rows);
  if (!next || secondsUntil(next) > maxSqsDelaySeconds) return;
  await enqueue(queues.forward, [{ orgId, webhookId, page: number }], {
    group: webhookId,
    delaySeconds: secondsUntil(next),
  });
}

function earliestAttempt(rows: DeliveryRow[]): Date | undefined {
  const times = rows.flatMap(({ status, nextAt }) => (status === "pending" ? [nextAt!] : []));
  return times.length ? new Date(times.reduce((a, b) => (a < b ? a : b))) : undefined;
}
