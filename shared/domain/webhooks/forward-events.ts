// Delivers events to webhook endpoints, at least once each and always under the same webhook-id. If
// a worker crashes between a call and the write of its result, the next worker repeats the call.

import { get } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import type { QueueMessage } from "../../kernel/queue-worker.ts";
import { keys } from "../../keys.ts";
import { type ForwardMessage, queues } from "../../queues.ts";
import * as log from "./delivery-log.ts";
import * as rows from "./delivery-row.ts";
import * as health from "./endpoint-health.ts";
import * as hostPace from "./host-pace.ts";
import { deliverInParallel, type EndedDelivery } from "./parallel-deliveries.ts";
import { decryptSecrets, type Webhook } from "./webhooks.ts";

/**
 * Delivers a batch of messages, per endpoint. Returns one error per message, `undefined` for
 * success.
 */
export async function forwardBatch(messages: QueueMessage<ForwardMessage>[]): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  const byEndpoint = Map.groupBy(messages.keys(), (i) => messages[i]!.body.webhookId);
  await Promise.all(
    [...byEndpoint.values()].map(async (positions) => {
      await forwardToEndpoint(positions.map((i) => messages[i]!)).catch((error: unknown) => {
        for (const i of positions) errors[i] = error;
      });
    }),
  );
  return errors;
}

// Leaves time for calls that have started, and for storing their results, before the worker times
// out.
const workSeconds = queues.forward.timeoutSeconds - 25;

async function forwardToEndpoint(messages: QueueMessage<ForwardMessage>[]): Promise<void> {
  const { orgId, webhookId } = messages[0]!.body;
  const until = addSeconds(workSeconds);
  const [webhook, pages] = await Promise.all([
    get<Webhook>(keys.record(orgId, "WEBHOOK", webhookId)),
    loadDuePages(messages),
  ]);
  if (webhook?.ownerUntold) await health.notifyOwner(orgId, webhookId);
  if (!webhook?.active) return markPendingDead(pages, webhook);
  const breakerOpenUntil = await health.checkBreaker(orgId, webhook);
  const share = breakerOpenUntil
    ? { calls: 0 }
    : await hostPace.take(orgId, webhook.url, listDueRows(pages).length);
  const attempts = await deliverDueRows(webhook, pages, { orgId, calls: share.calls, until });
  const { active, openUntil } = await health.recordAttempts(
    orgId,
    webhook,
    attemptsInOrder(attempts),
  );
  const postponeUntil = breakerOpenUntil ?? openUntil ?? share.waitUntil ?? now();
  await Promise.all(
    pages.map((page, i) =>
      log.updatePage(page, applyAttempts(page, attempts[i]!, { postponeUntil, active })),
    ),
  );
}

/** Loads the distinct pages that have a due delivery. */
async function loadDuePages(messages: QueueMessage<ForwardMessage>[]): Promise<log.DeliveryPage[]> {
  const loaded = await Promise.all(messages.map(loadPage));
  const distinct = new Map(
    loaded.flatMap((page) =>
      page ? [[`${page.number} ${page.rows[0]?.event.id}`, page] as const] : [],
    ),
  );
  return [...distinct.values()].filter((page) => page.rows.some((row) => rows.isDue(row, now())));
}

async function loadPage({
  attempt,
  body: { orgId, webhookId, page: number, events },
}: QueueMessage<ForwardMessage>): Promise<log.DeliveryPage | undefined> {
  const fresh = events && { orgId, webhookId, number, v: 0, rows: events.map(rows.newRow) };
  // An earlier attempt of the message may have written the page.
  const stored = fresh && attempt === 1 ? undefined : await log.getPage(orgId, webhookId, number);
  return fresh && !(stored && log.sameEvents(stored, fresh)) ? fresh : stored;
}

/**
 * Marks pending deliveries of an inactive endpoint dead. Deletes the pages of a deleted endpoint.
 */
async function markPendingDead(
  pages: log.DeliveryPage[],
  webhook: Webhook | undefined,
): Promise<void> {
  const markDead = (all: rows.DeliveryRow[]) =>
    all.map((row) => (row.status === "pending" ? rows.markDead(row, inactiveError) : row));
  await Promise.all(
    pages.map((page) => (webhook ? log.updatePage(page, markDead) : log.deletePage(page))),
  );
}

const inactiveError = "The endpoint is inactive, so the event was not delivered";

const listDueRows = (pages: log.DeliveryPage[]) =>
  pages.flatMap((page, pageIndex) =>
    page.rows.flatMap((row, rowIndex) =>
      rows.isDue(row, now()) ? [{ pageIndex, rowIndex, event: row.event }] : [],
    ),
  );

type AttemptsByRow = Map<number, EndedDelivery>;

/** Returns the attempts of each page by row index. */
async function deliverDueRows(
  webhook: Webhook,
  pages: log.DeliveryPage[],
  { orgId, calls, until }: { orgId: number; calls: number; until: Date },
): Promise<AttemptsByRow[]> {
  const due = listDueRows(pages).slice(0, calls);
  if (!due.length) return pages.map(() => new Map());
  const target = { ...webhook, secrets: await decryptSecrets(orgId, webhook) };
  const ended = await deliverInParallel(
    target,
    due.map(({ event }) => event),
    { probeCalls: health.timeoutsLeft(webhook), until },
  );
  const byPage = pages.map((): AttemptsByRow => new Map());
  for (const [i, { pageIndex, rowIndex }] of due.entries())
    if (ended[i]) byPage[pageIndex]!.set(rowIndex, ended[i]);
  return byPage;
}

const attemptsInOrder = (attempts: AttemptsByRow[]) =>
  attempts
    .flatMap((ofPage) => [...ofPage.values()])
    .toSorted((a, b) => a.endOrder - b.endOrder)
    .map(({ outcome }) => outcome);

/**
 * Returns the change of a page after its attempts: due rows without an attempt wait until
 * `postponeUntil`. Another worker may have changed the rows since the page was loaded.
 */
function applyAttempts(
  loadedPage: log.DeliveryPage,
  attempts: AttemptsByRow,
  { postponeUntil, active }: { postponeUntil: Date; active: boolean },
) {
  const [factor, loadedAt] = [rows.jitter(), now()];
  const applyAttempt = (row: rows.DeliveryRow, i: number): rows.DeliveryRow => {
    const outcome = attempts.get(i)?.outcome;
    if (!outcome) return rows.isDue(row, loadedAt) ? rows.postponed(row, postponeUntil) : row;
    // Two simultaneous failed calls count as one attempt, and the other worker has counted it.
    const isUnchanged = row.attempts === loadedPage.rows[i]!.attempts;
    return outcome.delivered || isUnchanged ? rows.withAttempt(row, outcome, factor) : row;
  };
  return (all: rows.DeliveryRow[]) =>
    all
      .map(applyAttempt)
      .map((row) =>
        active || row.status !== "pending" ? row : rows.markDead(row, row.error ?? inactiveError),
      );
}
