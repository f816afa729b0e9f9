// The log of an endpoint: a page for every message of up to 100 events, written when they have been tried. While some of them are
// still to come, the page is on the due shelf.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { after, epochSeconds, now } from "../../clock.ts";
import { above, all, equals, isNew } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, query, remove, write } from "../../doors/table.ts";
import { dueShard, keys, on, ranges, shelves } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { timeOf } from "./page-numbers.ts";
import type { Row } from "./rows.ts";

export interface Page {
  orgId: number;
  webhookId: number;
  number: number;
  /** Moves with every write; 0: not written yet. */
  v: number;
  rows: Row[];
}

interface Item extends Packed, Record<Row["status"], number> {
  orgId: number;
  webhookId: number;
  page: number;
  v: number;
  expires: number;
}

const keptSeconds = 30 * 24 * 3600;

export async function find(orgId: number, webhookId: number, number: number): Promise<Page | undefined> {
  const item = await get<Item>(keys.deliveryPage(orgId, webhookId, number));
  return item && item.expires > epochSeconds() ? opened(item) : undefined;
}

const opened = async ({ orgId, webhookId, page, v, ...body }: Item): Promise<Page> => ({
  orgId,
  webhookId,
  number: page,
  v,
  rows: await unpacked<Row[]>(body),
});

/** Newest first, from below a number on; with a status those only that have such rows. */
export async function* newestFirst(
  orgId: number,
  webhookId: number,
  below: number | undefined,
  status?: Row["status"],
): AsyncGenerator<Page> {
  const kept = above("expires", epochSeconds());
  const filter = status ? all(kept, above(status, 0)) : kept;
  const end = below === undefined ? undefined : keys.deliveryPage(orgId, webhookId, below).sk;
  let place: string | undefined;
  do {
    const options = { newestFirst: true, limit: 10, filter, below: end, after: place };
    const { items, next } = await query<Item>(ranges.deliveryPages(orgId, webhookId), options);
    for (const item of items) yield opened(item);
    place = next;
  } while (place !== undefined);
}

/**
 * Writes what `change` makes of the rows, as they are by then, and sees to it that what is still to come does come: soon by a
 * delayed message, later, and should the message be lost, from the due shelf. Answers with the page as it then is.
 */
export async function store(page: Page, change: (rows: Row[]) => Row[]): Promise<Page> {
  for (let from = page; ; ) {
    const next = { ...from, v: from.v + 1, rows: change(from.rows) };
    if (await save(next)) {
      await callAgain(next);
      return next;
    }
    const found = await find(page.orgId, page.webhookId, from.number);
    if (!found) throw new Error("A page of deliveries was removed while it was written");
    // Another process may have given its page the same number.
    from = sameEvents(found, page) ? found : { ...page, number: from.number + 1 };
  }
}

export const sameEvents = (a: Page, b: Page): boolean =>
  a.rows.length === b.rows.length && a.rows.every(({ event }, i) => event.id === b.rows[i]!.event.id);

export const discard = ({ orgId, webhookId, number }: Page): Promise<void> => write(remove(keys.deliveryPage(orgId, webhookId, number)));

// SQS delays no longer than this.
const longestDelaySeconds = 900;
/** How long after its message a page is due by itself. */
const graceSeconds = 120;

async function save({ orgId, webhookId, number, v, rows }: Page): Promise<boolean> {
  const address = keys.deliveryPage(orgId, webhookId, number);
  const count = (status: Row["status"]) => rows.filter((row) => row.status === status).length;
  const item: Item = {
    ...(await packed(address, rows)),
    orgId,
    webhookId,
    page: number,
    v,
    pending: count("pending"),
    delivered: count("delivered"),
    dead: count("dead"),
    expires: epochSeconds(after(keptSeconds)),
    ...placed(number, rows),
  };
  return claim(put(address, item, { if: v === 1 ? isNew : equals("v", v - 1) }));
}

function placed(number: number, rows: Row[]) {
  const next = nextAt(rows);
  if (!next) return {};
  const due = secondsTo(next) > longestDelaySeconds ? next : after(graceSeconds, next);
  return on(shelves.due("DELIVERY", dueShard(timeOf(number).getTime())), due.toISOString());
}

async function callAgain({ orgId, webhookId, number, rows }: Page): Promise<void> {
  const next = nextAt(rows);
  if (!next || secondsTo(next) > longestDelaySeconds) return;
  const message = { orgId, webhookId, page: number };
  await enqueue(queues.forward, [message], { group: webhookId, delaySeconds: Math.max(0, secondsTo(next)) });
}

function nextAt(rows: Row[]): Date | undefined {
  const times = rows.flatMap(({ status, nextAt: at }) => (status === "pending" ? [at!] : []));
  return times.length ? new Date(times.reduce((a, b) => (a < b ? a : b))) : undefined;
}

const secondsTo = (at: Date): number => (at.getTime() - now().getTime()) / 1000;
