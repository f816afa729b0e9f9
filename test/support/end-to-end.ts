// Mail on its whole way: accepted, handed over, told of by its provider, counted, and told on to an
// endpoint of the customer. With the real workers on virtual queues, so that a test may have
// anybody die and anything fail; and with the books that must balance.
import { expect } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { worker as providerEvents } from "../../functions/queue/provider-events.ts";
import { worker as send } from "../../functions/queue/send.ts";
import { get, query, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import type { Send } from "../../shared/domain/sending/sends.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import * as outages from "./adapter-faults.ts";
import type { CrashResult } from "./crash-injection.ts";
import { type CustomerEndpoint, startCustomerEndpoint } from "./customer-endpoint.ts";
import type { FakeProviderMail } from "./fake-provider.ts";
import { invokeRoute } from "./lambda-requests.ts";
import * as mailroom from "./sending.ts";
import { signResendNotice, webhookSecrets } from "./signed-provider-webhooks.ts";
import * as virtual from "./virtual-queues.ts";

export const workers: QueueWorker[] = [send, lane, drain, providerEvents, forward];

/** For `beforeAll`. */
export async function prepareEndToEnd(): Promise<void> {
  Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.5" });
  await virtual.useVirtualQueues();
  outages.installFaultHooks();
}

type EndToEndProvider = "postmark" | "resend";
type ProviderNewsKind = "delivered" | "bounce" | "open";

/** Something that the provider has to tell. */
interface PendingProviderEvent {
  id: string;
  kind: ProviderNewsKind;
  mail: FakeProviderMail;
  at: string;
}

export interface EndToEndRun extends mailroom.TestSender {
  key: EndToEndProvider;
  endpoint: CustomerEndpoint;
  /** Ids that callers were answered with. */
  accepted: number[];
  pendingEvents: PendingProviderEvent[];
  /** When it began (ISO 8601). */
  since: string;
}

export async function startRun(key: EndToEndProvider): Promise<EndToEndRun> {
  const sender = await mailroom.createSender(key);
  await sendingConfigs.update(sender.caller, sender.configId, {
    webhookSecret: webhookSecrets[key]!,
  });
  const endpoint = await startCustomerEndpoint();
  await webhooks.create(
    sender.caller,
    webhooks.NewWebhook.parse({ url: endpoint.url, events: [...eventTypes] }),
  );
  return {
    ...sender,
    key,
    endpoint,
    accepted: [],
    pendingEvents: [],
    since: clock.now().toISOString(),
  };
}

export async function stopRun({ provider, endpoint }: EndToEndRun): Promise<void> {
  await provider.stop();
  endpoint.close();
}

type Work = () => Promise<unknown>;
/** Does a piece of work, or dies over it. */
export type CrashHook = (work: Work) => Promise<Partial<CrashResult> | unknown>;
const withoutCrash: CrashHook = (work) => work();

interface RequestCounts {
  singles?: number;
  /** In 20 minutes. */
  scheduled?: number;
  batch?: number;
  kill?: CrashHook;
}

/**
 * Requests of callers, who ask anew until they hear that their mail was accepted. What was asked
 * before may be sent as well.
 */
export async function sendRequests(
  run: EndToEndRun,
  { singles = 0, scheduled = 0, batch = 0, kill = withoutCrash }: RequestCounts,
): Promise<void> {
  const scheduledAt = clock.addSeconds(1200).toISOString();
  for (const { to } of mailroom.uniqueRecipients(singles))
    await retryUntilAccepted(run, kill, async () => [await mailroom.send(run, { to })]);
  for (const { to } of mailroom.uniqueRecipients(scheduled))
    await retryUntilAccepted(run, kill, async () => [
      await mailroom.send(run, { to, scheduledAt }),
    ]);
  const rows = mailroom
    .uniqueRecipients(batch)
    .map((one, i) => ({ ...one, trackOpens: i % 4 === 0 }));
  if (batch)
    await retryUntilAccepted(run, kill, async () =>
      (await mailroom.sendBatch(run, rows)).results.map(({ id }) => ({ id: id! })),
    );
}

async function retryUntilAccepted(
  { accepted }: EndToEndRun,
  kill: CrashHook,
  request: () => Promise<{ id: number }[]>,
): Promise<void> {
  let acceptedIds: { id: number }[] = [];
  for (let tries = 0; !acceptedIds.length; tries++) {
    if (tries > 50) throw new Error("The caller would have given up");
    await Promise.resolve(
      kill(async () => {
        acceptedIds = await request();
      }),
    ).catch(() => {});
  }
  accepted.push(...acceptedIds.map(({ id }) => id));
}

/**
 * The workers go on until nothing is left to do for the time; what fails on the way is tried again,
 * as a tick would.
 */
export async function runWorkersFor({
  forSeconds = 6 * 3600,
  kill: crashHook = withoutCrash,
} = {}): Promise<void> {
  const until = clock.addSeconds(forSeconds).getTime();
  for (let rounds = 0; rounds < 100; rounds++) {
    const leftSeconds = Math.max(0, (until - clock.now().getTime()) / 1000);
    const done = await virtual.runWorkers(workers, { forSeconds: leftSeconds, crashHook }).then(
      () => true,
      () => false,
    );
    if (done) return;
    clock.advanceClock(60);
  }
  throw new Error("The ticks never get through");
}

/**
 * What became of each mail that the provider has and has not yet told of: most arrive, some are
 * opened, some bounce.
 */
export function createPendingEvents(run: EndToEndRun): PendingProviderEvent[] {
  const known = new Set(run.pendingEvents.map(({ mail }) => mail));
  const fresh = run.provider.mails.filter((mail) => !known.has(mail));
  const news = fresh.flatMap((mail) => {
    const arrived: ProviderNewsKind = mail.sendId % 6 === 0 ? "bounce" : "delivered";
    const opened: ProviderNewsKind[] = mail.sendId % 3 === 1 ? ["open", "open"] : [];
    return [arrived, ...opened].map((kind, n) => ({
      id: `${kind}-${mail.sendId}-${n}`,
      kind,
      mail,
      at: clock.addSeconds(20 * n).toISOString(),
    }));
  });
  run.pendingEvents.push(...news);
  return news;
}

/** The provider tells: it goes on with each until it hears 200, as providers do. */
export async function postEvents(
  run: EndToEndRun,
  news: PendingProviderEvent[],
  { kill = withoutCrash }: { kill?: CrashHook } = {},
): Promise<void> {
  for (const one of news) {
    for (let tries = 0; ; tries++) {
      if (tries > 100) throw new Error("The provider would have given up");
      let status = 0;
      await Promise.resolve(kill(async () => ({ status } = await postOnce(run, one)))).catch(
        () => {},
      );
      if (status === 200) break;
      expect([0, 500, 503]).toContain(status);
      clock.advanceClock(10);
    }
  }
}

const postOnce = ({ key, configId }: EndToEndRun, news: PendingProviderEvent) =>
  invokeRoute(
    providerWebhooks,
    `POST /webhooks/${key}`,
    webhookFormats[key](news, String(configId)),
  );

const webhookFormats: Record<
  EndToEndProvider,
  (
    news: PendingProviderEvent,
    configId: string,
  ) => { raw: Buffer; headers: Record<string, string>; query: Record<string, string> }
> = {
  postmark: ({ id, kind, mail, at }, configId) => {
    const common = { MessageID: `m-${mail.sendId}`, Metadata: { sendId: String(mail.sendId) } };
    const records: Record<ProviderNewsKind, object> = {
      delivered: { RecordType: "Delivery", Recipient: mail.to, DeliveredAt: at },
      bounce: {
        RecordType: "Bounce",
        Type: "HardBounce",
        Email: mail.to,
        BouncedAt: at,
        Details: "550 no such user",
      },
      open: { RecordType: "Open", Recipient: mail.to, ReceivedAt: at, UserAgent: humanUserAgent },
    };
    return {
      raw: Buffer.from(JSON.stringify({ ...common, ...records[kind] })),
      headers: { "content-type": "application/json", "x-pm-webhook-trace-id": id },
      query: { config_id: configId, secret: webhookSecrets.postmark! },
    };
  },
  resend: ({ id, kind, mail, at }, configId) => {
    const types: Record<ProviderNewsKind, string> = {
      delivered: "email.delivered",
      bounce: "email.bounced",
      open: "email.opened",
    };
    const data = {
      email_id: `m-${mail.sendId}`,
      to: [mail.to],
      headers: [{ name: "X-Send-Id", value: String(mail.sendId) }],
      ...(kind === "bounce" && { bounce: { type: "Permanent", message: "550 no such user" } }),
    };
    // Svix's id is made from the body: the same on every try.
    const { headers, rawBody } = signResendNotice(
      JSON.stringify({ type: types[kind], created_at: at, nonce: id, data }),
      clock.now(),
    );
    return {
      raw: rawBody,
      headers: headers as Record<string, string>,
      query: { config_id: configId },
    };
  },
};
const humanUserAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605";

export interface EndToEndBalance {
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

/**
 * Whatever happened: nothing is lost, nothing is counted or mailed twice, and nothing waits any
 * more.
 */
export async function expectBalanced(run: EndToEndRun): Promise<EndToEndBalance> {
  const sends = await mailroom.listAllSends(run, 100);
  const by = (...statuses: Send["status"][]) =>
    sends.filter(({ status }) => statuses.includes(status));
  const books = {
    accepted: sends.length,
    delivered: by("delivered").length,
    failed: by("failed").length,
    uncertain: by("uncertain").length,
    queued: by("queued", "sending", "scheduled").length,
    mailed: run.provider.mails.length,
  };
  expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining(run.accepted));
  expect(books.delivered + books.failed + books.uncertain + books.queued).toBe(books.accepted);
  expect(books.queued).toBe(0);
  expectMailsOnce(run, sends);
  const events = await expectEventsOnce(run);
  return {
    ...books,
    ...events,
    ...(await expectDeliveriesOnce(run, events.events)),
    ...(await expectIdle(run)),
  };
}

/** Nobody got a mail twice, and each send says what became of its mail. */
function expectMailsOnce({ provider, pendingEvents }: EndToEndRun, sends: Send[]) {
  const mailed = new Map(provider.mails.map((mail) => [mail.sendId, mail]));
  expect(mailed.size).toBe(provider.mails.length);
  const bounced = new Set(
    pendingEvents.filter(({ kind }) => kind === "bounce").map(({ mail }) => mail.sendId),
  );
  for (const { id, status, error, providerMessageId, openedAt } of sends) {
    if (!mailed.has(id)) {
      expect(["failed", "uncertain"]).toContain(status);
      continue;
    }
    const opened = pendingEvents.some(({ kind, mail }) => kind === "open" && mail.sendId === id);
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
async function expectEventsOnce(run: EndToEndRun) {
  const { caller, siteId, pendingEvents } = run;
  const listed: string[] = [];
  let total = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page = await history.listEvents(caller, { limit: 100, cursor: cursor || undefined }, {});
    listed.push(
      ...page.events.map(({ type, sendId, timestamp }) => `${type} ${sendId} ${timestamp}`),
    );
    total = page.pagination.total ?? 0;
    cursor = page.pagination.nextCursor ?? undefined;
  }
  const expected = pendingEvents.map(({ kind, mail, at }) => `${kind} ${mail.sendId} ${at}`);
  expect(listed.toSorted()).toEqual(expected.toSorted());
  expect(total).toBe(expected.length);
  const of = (kind: ProviderNewsKind) => pendingEvents.filter((one) => one.kind === kind);
  const counts = await sumDayCounters(caller.orgId, siteId, run.since);
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
async function sumDayCounters(
  orgId: number,
  siteId: number,
  since: string,
): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (
    let at = new Date(since.slice(0, 10));
    at <= clock.now();
    at = clock.addSeconds(86_400, at)
  ) {
    const days = await queryAll<Record<string, unknown>>(
      ranges.dayItems(orgId, siteId, at.toISOString().slice(0, 10)),
    );
    for (const [name, n] of days.flatMap((day) => Object.entries(day)))
      if (typeof n === "number") sum[name] = (sum[name] ?? 0) + n;
  }
  return sum;
}

/** The customer heard of each event, under one webhook-id each. */
async function expectDeliveriesOnce({ endpoint, pendingEvents }: EndToEndRun, events: number) {
  const ids = Map.groupBy(endpoint.deliveries, ({ headers }) => headers["webhook-id"]);
  expect(ids.size).toBe(events);
  for (const same of ids.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  const acceptedIds = [...ids.values()].map(
    ([first]) => `${first!.event.event} ${first!.event.sendId}`,
  );
  expect(acceptedIds.toSorted()).toEqual(
    pendingEvents.map(({ kind, mail }) => `${kind} ${mail.sendId}`).toSorted(),
  );
  return { announced: ids.size, heard: endpoint.deliveries.length };
}

async function expectIdle({ caller: { orgId }, configId }: EndToEndRun): Promise<object> {
  expect((await query(ranges.queuedChunks(orgId, configId), { consistent: true })).items).toEqual(
    [],
  );
  const lane = (await get<object>(keys.lane(orgId, configId))) ?? {};
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["duepk"]));
  expect(Object.keys(lane)).not.toEqual(expect.arrayContaining(["owner"]));
  expect(virtual.pendingMessages).toEqual([]);
  expect(virtual.deadLetters).toEqual([]);
  return {};
}
