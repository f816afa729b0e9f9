// Sent mails, and queue messages with their delivery events, without a provider.

import { get, insertMany, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import { applyBatch } from "../../shared/domain/delivery-events/apply-events.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import type { SendItem } from "../../shared/domain/sending/send-schema.ts";
import * as ids from "../../shared/ids.ts";
import type { QueueMessage } from "../../shared/kernel/queue-worker.ts";
import { type Key, type KeyRange, keys, ranges } from "../../shared/keys.ts";
import type { ProviderEventsMessage, QueuedEvent } from "../../shared/queues.ts";
import { createAccount } from "./accounts.ts";

const start = Date.UTC(2026, 10, 21, 8);
export const timeAfterStart = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export interface SentMails {
  caller: Caller;
  orgId: number;
  siteId: number;
  sendIds: number[];
  item(id: number): SendItem;
}

/** Creates an organization with a site and `n` sent mails. */
export async function createSentMails(n: number): Promise<SentMails> {
  const { caller } = await createAccount();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const first = await ids.nextSendBlock();
  const sendIds = Array.from({ length: n }, (_, i) => first * 1000 + i);
  const item = (id: number) => sentItem(id, site.id, `p${id}@d${id % 3}.example`);
  await insertMany(sendIds.map((id) => ({ key: keys.send(caller.orgId, id), item: item(id) })));
  return { caller, orgId: caller.orgId, siteId: site.id, sendIds, item };
}

/** The item of a sent mail. */
export const sentItem = (id: number, siteId: number, toEmail: string): SendItem => ({
  id,
  siteId,
  toEmail,
  fromEmail: "hi@shop.example",
  subject: "Hi",
  status: "sent",
  provider: "postmark",
  sendingConfigId: 5,
  createdAt: timeAfterStart(0),
  v: 0,
});

/** Creates an event. Opens and clicks are of a person and bounces hard, unless `more` says else. */
export const createEvent = (
  sendId: number,
  type: QueuedEvent["type"],
  seconds: number,
  more: Partial<QueuedEvent> = {},
): Omit<QueuedEvent, "id"> => ({
  type,
  email: `p${sendId}@d${sendId % 3}.example`,
  sendId,
  providerEventId: `${type}-${sendId}-${seconds}`,
  timestamp: timeAfterStart(seconds),
  data: usualData[type] ?? {},
  ...more,
});

const usualData: Partial<Record<QueuedEvent["type"], QueuedEvent["data"]>> = {
  open: { userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605" },
  bounce: { bounceType: "hard" },
};

export async function createEventMessage(
  orgId: number,
  events: Omit<QueuedEvent, "id">[],
): Promise<QueueMessage<ProviderEventsMessage>> {
  const first = await ids.nextEventIds(events.length);
  const numbered = events.map((event, i) => ({ ...event, id: first + i }));
  return {
    attempt: 1,
    body: { orgId, provider: "postmark", events: numbered },
  };
}

export const applyMessages = async (
  ...some: QueueMessage<ProviderEventsMessage>[]
): Promise<void> => {
  const errors = (await applyBatch(some)).filter((error) => error !== undefined);
  if (errors.length) throw errors[0];
};

/**
 * Reads the counters of a day as sums of their shards, by default those of all days of the site:
 * the clock of a paused worker can pass midnight.
 */
export async function readDayCounters(orgId: number, siteId: number, day?: string) {
  const dates = day === undefined ? await listDaysWithCounters(orgId, siteId) : [day];
  const ofEachDay = (rangeOf: (date: string) => KeyRange) =>
    Promise.all(
      dates.map((date) =>
        queryAll<Record<string, unknown> & { sk: string }>(rangeOf(date), { consistent: true }),
      ),
    );
  const [items, domains, totals] = await Promise.all([
    ofEachDay((date) => ranges.dayItems(orgId, siteId, date)),
    ofEachDay((date) => ranges.dayDomainCounters(orgId, siteId, date)),
    get<Record<string, number>>(keys.eventTotals(orgId, siteId)),
  ]);
  const byDomain = ["d0.example", "d1.example", "d2.example"].map((domain) =>
    sumItems(domains.flat().filter(({ sk }) => sk.startsWith(`D#${domain}#`))),
  );
  return { day: sumItems(items.flat()), totals: totals ?? {}, byDomain };
}

async function listDaysWithCounters(orgId: number, siteId: number): Promise<string[]> {
  const items = await queryAll<Key>(ranges.days(orgId, siteId), { consistent: true });
  return [...new Set(items.map(({ sk }) => sk.slice(0, "2026-11-21".length)))];
}

function sumItems(items: Record<string, unknown>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const item of items)
    for (const [name, n] of Object.entries(item))
      if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
