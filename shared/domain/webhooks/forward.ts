// Brings events to endpoints of customers. At least once each, always under the same webhook-id: who dies after a call and before
// it is written down makes the call again.
import { after, now } from "../../clock.ts";
import type { Received } from "../../consume.ts";
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { type OutgoingEvent, queues } from "../../queues.ts";
import { secrets, type Webhook } from "../webhooks.ts";
import * as health from "./health.ts";
import * as pages from "./pages.ts";
import * as rows from "./rows.ts";
import { type Called, volley } from "./volley.ts";

export interface Message {
  orgId: number;
  webhookId: number;
  page: number;
  /** The first time; later they stand on the page. */
  events?: OutgoingEvent[] | undefined;
}

/** Works on the whole batch, each endpoint by itself; answers with the error of each message, undefined for those that are done. */
export async function batch(messages: Received<Message>[]): Promise<unknown[]> {
  const errors: unknown[] = messages.map(() => undefined);
  const byEndpoint = Map.groupBy(messages.keys(), (i) => messages[i]!.body.webhookId);
  await Promise.all(
    [...byEndpoint.values()].map(async (indexes) => {
      await endpoint(indexes.map((i) => messages[i]!)).catch((error: unknown) => {
        for (const i of indexes) errors[i] = error;
      });
    }),
  );
  return errors;
}

// Calls that have begun by then end, and are written down, before the worker's own time is up.
const workSeconds = queues.forward.timeoutSeconds - 25;

async function endpoint(messages: Received<Message>[]): Promise<void> {
  const { orgId, webhookId } = messages[0]!.body;
  const until = after(workSeconds);
  const [webhook, open] = await Promise.all([get<Webhook>(keys.record(orgId, "WEBHOOK", webhookId)), openPages(messages)]);
  if (webhook?.ownerUntold) await health.tellOwner(orgId, webhookId);
  if (!webhook?.active) return giveUp(open, webhook);
  const rest = await health.restUntil(orgId, webhook);
  const called = rest ? open.map(() => new Map<number, Called>()) : await callAll(orgId, webhook, open, until);
  const { active, restUntil } = await health.note(orgId, webhook, outcomesOf(called));
  const wait = rest ?? restUntil ?? now();
  await Promise.all(open.map((page, i) => pages.store(page, noting(page, called[i]!, wait, active))));
}

/** Those on which something is due, each once. */
async function openPages(messages: Received<Message>[]): Promise<pages.Page[]> {
  const found = await Promise.all(messages.map(pageOf));
  const distinct = new Map(found.flatMap((page) => (page ? [[`${page.number} ${page.rows[0]?.event.id}`, page] as const] : [])));
  return [...distinct.values()].filter((page) => page.rows.some((row) => rows.isDue(row, now())));
}

async function pageOf({ attempt, body: { orgId, webhookId, page: number, events } }: Received<Message>): Promise<pages.Page | undefined> {
  const fresh = events && { orgId, webhookId, number, v: 0, rows: events.map(rows.fresh) };
  // Whoever had the message before may have come as far as writing its page.
  const stored = fresh && attempt === 1 ? undefined : await pages.find(orgId, webhookId, number);
  return fresh && !(stored && pages.sameEvents(stored, fresh)) ? fresh : stored;
}

async function giveUp(open: pages.Page[], webhook: Webhook | undefined): Promise<void> {
  const end = (all: rows.Row[]) => all.map((row) => (row.status === "pending" ? rows.ended(row, inactive) : row));
  await Promise.all(open.map((page) => (webhook ? pages.store(page, end) : pages.discard(page))));
}

const inactive = "The endpoint is inactive";

/** For each page what came of its rows, by their places. */
async function callAll(orgId: number, webhook: Webhook, open: pages.Page[], until: Date): Promise<Map<number, Called>[]> {
  const due = open.flatMap((page, place) =>
    page.rows.flatMap((row, i) => (rows.isDue(row, now()) ? [{ place, i, event: row.event }] : [])),
  );
  const target = { ...webhook, secrets: await secrets(orgId, webhook) };
  const called = await volley(
    target,
    due.map(({ event }) => event),
    health.timeoutsLeft(webhook),
    until,
  );
  const byPage = open.map(() => new Map<number, Called>());
  for (const [n, { place, i }] of due.entries()) if (called[n]) byPage[place]!.set(i, called[n]);
  return byPage;
}

const outcomesOf = (called: Map<number, Called>[]) =>
  called
    .flatMap((some) => [...some.values()])
    .toSorted((a, b) => a.order - b.order)
    .map(({ outcome }) => outcome);

/** Writes down what came of `read`'s rows; the others that are due wait until `wait`. Rows may have moved on since they were read. */
function noting(read: pages.Page, called: Map<number, Called>, wait: Date, active: boolean) {
  const [factor, at] = [rows.jitter(), now()];
  const noted = (row: rows.Row, i: number): rows.Row => {
    const outcome = called.get(i)?.outcome;
    if (!outcome) return rows.isDue(row, at) ? rows.waiting(row, wait) : row;
    // Another worker's failed call counts already: two at the same time are one try.
    return outcome.delivered || row.attempts === read.rows[i]!.attempts ? rows.attempted(row, outcome, factor) : row;
  };
  return (all: rows.Row[]) =>
    all.map(noted).map((row) => (active || row.status !== "pending" ? row : rows.ended(row, row.error ?? inactive)));
}
