// Mail on its whole way: accepted, handed over, told of by its provider, counted, and told on to an endpoint of the customer. With
// the real workers on virtual queues, so that a test may have anybody die and anything fail; and with the books that must balance.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { worker as providerEvents } from "../../functions/queue/provider-events.ts";
import { worker as send } from "../../functions/queue/send.ts";
import * as clock from "../../shared/clock.ts";
import type { Worker } from "../../shared/consume.ts";
import * as history from "../../shared/domain/events/history.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import type { Send } from "../../shared/domain/sends.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import { get, query, queryAll } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { ask } from "./events.ts";
import type { Mail } from "./fake-provider.ts";
import type { Fate } from "./killer.ts";
import * as mailroom from "./mailroom.ts";
import { resendNotice, secrets } from "./notices.ts";
import * as outages from "./outages.ts";
import * as virtual from "./virtual-queues.ts";

export const workers: Worker[] = [send, lane, drain, providerEvents, forward];

/** For `beforeAll`. */
export async function opened(): Promise<void> {
  Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.5" });
  await virtual.opened();
  outages.prepared();
}

type Key = "postmark" | "resend";
type Kind = "delivered" | "bounce" | "open";

/** Something that the provider has to tell. */
interface News {
  id: string;
  kind: Kind;
  mail: Mail;
  at: string;
}

export interface Way extends mailroom.Sender {
  key: Key;
  there: Endpoint;
  /** Ids that callers were answered with. */
  accepted: number[];
  news: News[];
  /** When it began (ISO 8601). */
  since: string;
}

export async function begun(key: Key): Promise<Way> {
  const sender = await mailroom.sender(key);
  await sendingConfigs.update(sender.caller, sender.configId, { webhookSecret: secrets[key]! });
  const there = await endpoint();
  await webhooks.create(sender.caller, webhooks.NewWebhook.parse({ url: there.url, events: [...eventTypes] }));
  return { ...sender, key, there, accepted: [], news: [], since: clock.now().toISOString() };
}

export async function ended({ provider, there }: Way): Promise<void> {
  await provider.stop();
  there.close();
}

type Work = () => Promise<unknown>;
/** Does a piece of work, or dies over it. */
export type Kill = (work: Work) => Promise<Partial<Fate> | unknown>;
const alive: Kill = (work) => work();

interface Requested {
  singles?: number;
  /** In 20 minutes. */
  later?: number;
  batch?: number;
  kill?: Kill;
}

/** Requests of callers, who ask anew until they hear that their mail was accepted. What was asked before may be sent as well. */
export async function accept(way: Way, { singles = 0, later = 0, batch = 0, kill = alive }: Requested): Promise<void> {
  const scheduledAt = clock.after(1200).toISOString();
  for (const { to } of mailroom.recipients(singles)) await insist(way, kill, async () => [await mailroom.send(way, { to })]);
  for (const { to } of mailroom.recipients(later)) await insist(way, kill, async () => [await mailroom.send(way, { to, scheduledAt })]);
  const rows = mailroom.recipients(batch).map((one, i) => ({ ...one, trackOpens: i % 4 === 0 }));
  if (batch) await insist(way, kill, async () => (await mailroom.sendBatch(way, rows)).results.map(({ id }) => ({ id: id! })));
}

async function insist({ accepted }: Way, kill: Kill, request: () => Promise<{ id: number }[]>): Promise<void> {
  let heard: { id: number }[] = [];
  for (let tries = 0; !heard.length; tries++) {
    if (tries > 50) throw new Error("The caller would have given up");
    await Promise.resolve(
      kill(async () => {
        heard = await request();
      }),
    ).catch(() => {});
  }
  accepted.push(...heard.map(({ id }) => id));
}

/** The workers go on until nothing is left to do for the time; what fails on the way is tried again, as a tick would. */
export async function work({ forSeconds = 6 * 3600, kill = alive } = {}): Promise<void> {
  const until = clock.after(forSeconds).getTime();
  for (let rounds = 0; rounds < 100; rounds++) {
    const leftSeconds = Math.max(0, (until - clock.now().getTime()) / 1000);
    const done = await virtual.settle(workers, { forSeconds: leftSeconds, kill }).then(
      () => true,
      () => false,
    );
    if (done) return;
    clock.advance(60);
  }
  throw new Error("The ticks never get through");
}

/** What became of each mail that the provider has and has not yet told of: most arrive, some are opened, some bounce. */
export function happened(way: Way): News[] {
  const known = new Set(way.news.map(({ mail }) => mail));
  const fresh = way.provider.mails.filter((mail) => !known.has(mail));
  const news = fresh.flatMap((mail) => {
    const arrived: Kind = mail.sendId % 6 === 0 ? "bounce" : "delivered";
    const opened: Kind[] = mail.sendId % 3 === 1 ? ["open", "open"] : [];
    return [arrived, ...opened].map((kind, n) => ({
      id: `${kind}-${mail.sendId}-${n}`,
      kind,
      mail,
      at: clock.after(20 * n).toISOString(),
    }));
  });
  way.news.push(...news);
  return news;
}

/** The provider tells: it goes on with each until it hears 200, as providers do. */
export async function tell(way: Way, news: News[], { kill = alive }: { kill?: Kill } = {}): Promise<void> {
  for (const one of news) {
    for (let tries = 0; ; tries++) {
      if (tries > 100) throw new Error("The provider would have given up");
      let status = 0;
      await Promise.resolve(kill(async () => ({ status } = await called(way, one)))).catch(() => {});
      if (status === 200) break;
      expect([0, 500, 503]).toContain(status);
      clock.advance(10);
    }
  }
}

const called = ({ key, configId }: Way, news: News) => ask(providerWebhooks, `POST /webhooks/${key}`, wires[key](news, String(configId)));

const wires: Record<
  Key,
  (news: News, configId: string) => { raw: Buffer; headers: Record<string, string>; query: Record<string, string> }
> = {
  postmark: ({ id, kind, mail, at }, configId) => {
    const common = { MessageID: `m-${mail.sendId}`, Metadata: { sendId: String(mail.sendId) } };
    const records: Record<Kind, object> = {
      delivered: { RecordType: "Delivery", Recipient: mail.to, DeliveredAt: at },
      bounce: { RecordType: "Bounce", Type: "HardBounce", Email: mail.to, BouncedAt: at, Details: "550 no such user" },
      open: { RecordType: "Open", Recipient: mail.to, ReceivedAt: at, UserAgent: person },
    };
    return {
      raw: Buffer.from(JSON.stringify({ ...common, ...records[kind] })),
      headers: { "content-type": "application/json", "x-pm-webhook-trace-id": id },
      query: { config_id: configId, secret: secrets.postmark! },
    };
  },
  resend: ({ id, kind, mail, at }, configId) => {
    const types: Record<Kind, string> = { delivered: "email.delivered", bounce: "email.bounced", open: "email.opened" };
    const data = {
      email_id: `m-${mail.sendId}`,
      to: [mail.to],
      headers: [{ name: "X-Send-Id", value: String(mail.sendId) }],
      ...(kind === "bounce" && { bounce: { type: "Permanent", message: "550 no such user" } }),
    };
    // Svix's id is made from the body: the same on every try.
    const { headers, rawBody } = resendNotice(JSON.stringify({ type: types[kind], created_at: at, nonce: id, data }), clock.now());
    return { raw: rawBody, headers: headers as Record<string, string>, query: { config_id: configId } };
  },
};
const person = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605";

/** How the provider's event is known to us. */
const eventIdOf: Record<Key, (news: News) => string> = {
  postmark: ({ id }) => id,
  resend: (news) => `msg_${createHash("md5").update(wires.resend(news, "").raw).digest("hex")}`,
};

export interface Books {
  accepted: number;
  delivered: number;
  failed: number;
  uncertain: number;
  queued: number;
  mailed: number;
  events: number;
  counted: number;
  announced: number;
  heard: number;
}

/** Whatever happened: nothing is lost, nothing is counted or mailed twice, and nothing waits any more. */
export async function balanced(way: Way): Promise<Books> {
  const sends = await mailroom.listed(way, 100);
  const by = (...statuses: Send["status"][]) => sends.filter(({ status }) => statuses.includes(status));
  const books = {
    accepted: sends.length,
    delivered: by("delivered").length,
    failed: by("failed").length,
    uncertain: by("uncertain").length,
    queued: by("queued", "sending", "scheduled").length,
    mailed: way.provider.mails.length,
  };
  expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining(way.accepted));
  expect(books.delivered + books.failed + books.uncertain + books.queued).toBe(books.accepted);
  expect(books.queued).toBe(0);
  aboutMails(way, sends);
  const events = await aboutEvents(way);
  return { ...books, ...events, ...(await aboutAnnouncements(way, events.events)), ...(await atRest(way)) };
}

/** Nobody got a mail twice, and each send says what became of its mail. */
function aboutMails({ provider, news }: Way, sends: Send[]) {
  const mailed = new Map(provider.mails.map((mail) => [mail.sendId, mail]));
  expect(mailed.size).toBe(provider.mails.length);
  const bounced = new Set(news.filter(({ kind }) => kind === "bounce").map(({ mail }) => mail.sendId));
  for (const { id, status, error, providerMessageId, openedAt } of sends) {
    if (!mailed.has(id)) {
      expect(["failed", "uncertain"]).toContain(status);
      continue;
    }
    const opened = news.some(({ kind, mail }) => kind === "open" && mail.sendId === id);
    expect({ id, status, error, providerMessageId, opened: openedAt !== null }).toEqual({
      id,
      status: bounced.has(id) ? "failed" : "delivered",
      error: bounced.has(id) ? "550 no such user" : null,
      providerMessageId: `m-${id}`,
      opened,
    });
  }
  expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining([...mailed.keys()]));
}

/** Each event of the provider's is there once, and counted once. */
async function aboutEvents(way: Way) {
  const { caller, siteId, news, key } = way;
  const listed: string[] = [];
  let total = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page = await history.list(caller, { limit: 100, cursor: cursor || undefined }, {});
    listed.push(...page.events.map(({ type, providerEventId }) => `${type} ${providerEventId}`));
    total = page.pagination.total ?? 0;
    cursor = page.pagination.nextCursor ?? undefined;
  }
  const expected = news.map((one) => `${one.kind} ${eventIdOf[key](one)}`);
  expect(listed.toSorted()).toEqual(expected.toSorted());
  expect(total).toBe(expected.length);
  const of = (kind: Kind) => news.filter((one) => one.kind === kind);
  const counts = await counted(caller.orgId, siteId, way.since);
  const openers = new Set(of("open").map(({ mail }) => mail));
  const impliedToo = new Set([...of("delivered"), ...of("open")].map(({ mail }) => mail));
  expect(counts).toMatchObject({
    ...(impliedToo.size && { delivered: impliedToo.size }),
    ...(of("bounce").length && { bouncedHard: of("bounce").length }),
    ...(openers.size && { opened: of("open").length, uniqueOpened: openers.size }),
  });
  return { events: expected.length, counted: listed.length };
}

/** Summed over the days on which they were counted. */
async function counted(orgId: number, siteId: number, since: string): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (let at = new Date(since.slice(0, 10)); at <= clock.now(); at = clock.after(86_400, at)) {
    const days = await queryAll<Record<string, unknown>>(ranges.dayInAll(orgId, siteId, at.toISOString().slice(0, 10)));
    for (const [name, n] of days.flatMap((day) => Object.entries(day))) if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  }
  return sum;
}

/** The customer heard of each event, under one webhook-id each. */
async function aboutAnnouncements({ there, news }: Way, events: number) {
  const ids = Map.groupBy(there.heard, ({ headers }) => headers["webhook-id"]);
  expect(ids.size).toBe(events);
  for (const same of ids.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  const heard = [...ids.values()].map(([first]) => `${first!.event.event} ${first!.event.sendId}`);
  expect(heard.toSorted()).toEqual(news.map(({ kind, mail }) => `${kind} ${mail.sendId}`).toSorted());
  return { announced: ids.size, heard: there.heard.length };
}

async function atRest({ caller: { orgId }, configId }: Way): Promise<object> {
  expect((await query(ranges.waiting(orgId, configId), { consistent: true })).items).toEqual([]);
  const lane = (await get<object>(keys.lane(orgId, configId))) ?? {};
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["duepk"]));
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["owner"]));
  expect(virtual.waiting).toEqual([]);
  expect(virtual.dead).toEqual([]);
  return {};
}
