// Mail that a provider has taken, and messages of what then happened to it, straight at the worker.
import type { Caller } from "../../shared/caller.ts";
import type { Received } from "../../shared/consume.ts";
import { batch, type Message } from "../../shared/domain/events/apply.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import type { SendItem } from "../../shared/domain/sends.ts";
import * as sites from "../../shared/domain/sites.ts";
import { get, insertMany, queryAll } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys, ranges } from "../../shared/keys.ts";
import type { InboundEvent } from "../../shared/queues.ts";
import { account } from "./callers.ts";

const start = Date.UTC(2026, 10, 21, 8);
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export interface SentMail {
  caller: Caller;
  orgId: number;
  siteId: number;
  sendIds: number[];
  item(id: number): SendItem;
}

/** An organization with a site and `n` sends that a provider has taken. */
export async function sentMail(n: number): Promise<SentMail> {
  const { caller } = await account();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const first = await ids.takeBlock();
  const sendIds = Array.from({ length: n }, (_, i) => first * 1000 + i);
  const item = (id: number) => taken(id, site.id, `p${id}@d${id % 3}.example`);
  await insertMany(sendIds.map((id) => ({ address: keys.send(caller.orgId, id), item: item(id) })));
  return { caller, orgId: caller.orgId, siteId: site.id, sendIds, item };
}

/** As it is stored once a provider has it. */
export const taken = (id: number, siteId: number, toEmail: string): SendItem => ({
  id,
  siteId,
  toEmail,
  fromEmail: "hi@shop.example",
  subject: "Hi",
  status: "sent",
  provider: "postmark",
  sendingConfigId: 5,
  createdAt: at(0),
  v: 0,
});

let messages = 0;
/** By a person, unless `more` says otherwise. */
export const eventOf = (
  sendId: number,
  type: InboundEvent["type"],
  seconds: number,
  more: Partial<InboundEvent> = {},
): Omit<InboundEvent, "id"> => ({
  type,
  email: `p${sendId}@d${sendId % 3}.example`,
  sendId,
  providerEventId: `${type}-${sendId}-${seconds}`,
  timestamp: at(seconds),
  data: type === "open" ? { userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605" } : {},
  ...more,
});

export async function message(orgId: number, events: Omit<InboundEvent, "id">[]): Promise<Received<Message>> {
  const first = await ids.takeEvents(events.length);
  const numbered = events.map((event, i) => ({ ...event, id: first + i }));
  return { messageId: `m${++messages}`, attempt: 1, body: { orgId, provider: "postmark", events: numbered } };
}

export const work = async (...some: Received<Message>[]): Promise<void> => {
  const errors = (await batch(some)).filter((error) => error !== undefined);
  if (errors.length) throw errors[0];
};

/** The counters of today, their shards together. */
export async function counters(orgId: number, siteId: number) {
  const date = await organizations.today(orgId);
  const [items, domains, totals] = await Promise.all([
    queryAll<Record<string, unknown>>(ranges.dayInAll(orgId, siteId, date), { consistent: true }),
    queryAll<Record<string, unknown> & { sk: string }>(ranges.dayDomains(orgId, siteId, date), { consistent: true }),
    get<Record<string, number>>(keys.eventTotals(orgId, siteId)),
  ]);
  const day = summed(items);
  const byDomain = ["d0.example", "d1.example", "d2.example"].map((domain) =>
    summed(domains.filter(({ sk }) => sk.startsWith(`D#${domain}#`))),
  );
  return { day, totals: totals ?? {}, byDomain };
}

function summed(items: Record<string, unknown>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const item of items) for (const [name, n] of Object.entries(item)) if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
