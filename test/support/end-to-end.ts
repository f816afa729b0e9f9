// The whole path of mail: accepted, handed over, reported by its provider, counted, and forwarded
// to a customer's endpoint. The workers run on virtual queues, so that a test can crash any of them
// and inject faults, and then check that all counts agree.
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
import type { Send } from "../../shared/domain/sending/send-schema.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import { queues } from "../../shared/queues.ts";
import * as faults from "./adapter-faults.ts";
import type { CrashResult } from "./crash-injection.ts";
import { type CustomerEndpoint, startCustomerEndpoint } from "./customer-endpoint.ts";
import type { FakeProviderMail } from "./fake-provider.ts";
import { invokeRoute } from "./lambda-requests.ts";
import * as mailTest from "./sending.ts";
import { signResendNotice, webhookSecrets } from "./signed-provider-webhooks.ts";
import * as virtual from "./virtual-queues.ts";

export const workers: QueueWorker[] = [send, lane, drain, providerEvents, forward];

/** For `beforeAll`: creates the table and queues, and installs the fault hooks. */
export async function prepareEndToEnd(): Promise<void> {
  Object.assign(process.env, { ALLOW_LOOPBACK_WEBHOOKS: "on", WEBHOOK_TIMEOUT_SECONDS: "0.5" });
  await virtual.useVirtualQueues();
  faults.installFaultHooks();
}

type EndToEndProvider = "postmark" | "resend";
type ProviderEventKind = "delivered" | "bounce" | "open";

/** An event that the provider has to post. */
interface PendingProviderEvent {
  id: string;
  kind: ProviderEventKind;
  mail: FakeProviderMail;
  at: string;
}

export interface EndToEndRun extends mailTest.TestSender {
  key: EndToEndProvider;
  endpoint: CustomerEndpoint;
  /** Ids of all responses to callers. */
  accepted: number[];
  pendingEvents: PendingProviderEvent[];
  /** Start of the run (ISO 8601). */
  since: string;
}

export async function startRun(key: EndToEndProvider): Promise<EndToEndRun> {
  const sender = await mailTest.createSender(key);
  // The tests check only the mail that they send, not the notice of the new sender to its owner.
  const { pendingMessages } = virtual;
  const others = pendingMessages.filter(({ queue }) => queue !== queues.systemMail.name);
  pendingMessages.splice(0, Infinity, ...others);
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
/** Runs a piece of work, and may crash it. */
export type CrashHook = (work: Work) => Promise<Partial<CrashResult> | unknown>;
const withoutCrash: CrashHook = (work) => work();

interface RequestCounts {
  singles?: number;
  /** Number of mails that are due in 20 minutes. */
  scheduled?: number;
  batch?: number;
  crash?: CrashHook;
}

/**
 * Makes requests, and repeats each until it is accepted. A request without a response may have been
 * accepted too.
 */
export async function sendRequests(
  run: EndToEndRun,
  { singles = 0, scheduled = 0, batch = 0, crash = withoutCrash }: RequestCounts,
): Promise<void> {
  const scheduledAt = clock.addSeconds(1200).toISOString();
  for (const { to } of mailTest.uniqueRecipients(singles))
    await retryUntilAccepted(run, crash, async () => [await mailTest.send(run, { to })]);
  for (const { to } of mailTest.uniqueRecipients(scheduled))
    await retryUntilAccepted(run, crash, async () => [
      await mailTest.send(run, { to, scheduledAt }),
    ]);
  const rows = mailTest
    .uniqueRecipients(batch)
    .map((one, i) => ({ ...one, trackOpens: i % 4 === 0 }));
  if (batch)
    await retryUntilAccepted(run, crash, async () =>
      (await mailTest.sendBatch(run, rows)).results.map(({ id }) => ({ id: id! })),
    );
}

async function retryUntilAccepted(
  { accepted }: EndToEndRun,
  crash: CrashHook,
  request: () => Promise<{ id: number }[]>,
): Promise<void> {
  let acceptedIds: { id: number }[] = [];
  for (let tries = 0; !acceptedIds.length; tries++) {
    if (tries > 50) throw new Error("The caller would have given up");
    await Promise.resolve(
      crash(async () => {
        acceptedIds = await request();
      }),
    ).catch(() => {});
  }
  accepted.push(...acceptedIds.map(({ id }) => id));
}

/**
 * Runs workers until nothing is left to do within the time. After an error they run again, like
 * with the next schedule.
 */
export async function runWorkersFor({
  forSeconds = 6 * 3600,
  crash: crashHook = withoutCrash,
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
  throw new Error("The workers never finish");
}

/**
 * Creates events of the mails that have none yet: most are delivered, some are opened, some bounce.
 */
export function createPendingEvents(run: EndToEndRun): PendingProviderEvent[] {
  const known = new Set(run.pendingEvents.map(({ mail }) => mail));
  const fresh = run.provider.mails.filter((mail) => !known.has(mail));
  const newEvents = fresh.flatMap((mail) => {
    const arrived: ProviderEventKind = mail.sendId % 6 === 0 ? "bounce" : "delivered";
    const opened: ProviderEventKind[] = mail.sendId % 3 === 1 ? ["open", "open"] : [];
    return [arrived, ...opened].map((kind, n) => ({
      id: `${kind}-${mail.sendId}-${n}`,
      kind,
      mail,
      at: clock.addSeconds(20 * n).toISOString(),
    }));
  });
  run.pendingEvents.push(...newEvents);
  return newEvents;
}

/** Posts the events like a provider, which repeats each until the response is 200. */
export async function postEvents(
  run: EndToEndRun,
  events: PendingProviderEvent[],
  { crash = withoutCrash }: { crash?: CrashHook } = {},
): Promise<void> {
  for (const one of events) {
    for (let tries = 0; ; tries++) {
      if (tries > 100) throw new Error("The provider would have given up");
      let status = 0;
      await Promise.resolve(crash(async () => ({ status } = await postOnce(run, one)))).catch(
        () => {},
      );
      if (status === 200) break;
      expect([0, 500, 503]).toContain(status);
      clock.advanceClock(10);
    }
  }
}

const postOnce = ({ key, configId }: EndToEndRun, event: PendingProviderEvent) =>
  invokeRoute(
    providerWebhooks,
    `POST /webhooks/${key}`,
    webhookFormats[key](event, String(configId)),
  );

const webhookFormats: Record<
  EndToEndProvider,
  (
    event: PendingProviderEvent,
    configId: string,
  ) => { raw: Buffer; headers: Record<string, string>; query: Record<string, string> }
> = {
  postmark: ({ id, kind, mail, at }, configId) => {
    const common = { MessageID: `m-${mail.sendId}`, Metadata: { sendId: String(mail.sendId) } };
    const records: Record<ProviderEventKind, object> = {
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
    const types: Record<ProviderEventKind, string> = {
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
    // The id of Svix is derived from the body, so it is the same at every attempt.
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
  webhookIds: number;
  received: number;
}

/**
 * Checks that nothing is lost, that nothing is counted or mailed twice, and that no work is left.
 * Returns the counts.
 */
export async function expectBalanced(run: EndToEndRun): Promise<EndToEndBalance> {
  const sends = await mailTest.listAllSends(run, 100);
  const by = (...statuses: Send["status"][]) =>
    sends.filter(({ status }) => statuses.includes(status));
  const counts = {
    accepted: sends.length,
    delivered: by("delivered").length,
    failed: by("failed").length,
    uncertain: by("uncertain").length,
    queued: by("queued", "sending", "scheduled").length,
    mailed: run.provider.mails.length,
  };
  expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining(run.accepted));
  expect(counts.delivered + counts.failed + counts.uncertain + counts.queued).toBe(counts.accepted);
  expect(counts.queued).toBe(0);
  expectMailsOnce(run, sends);
  const events = await expectEventsOnce(run);
  return {
    ...counts,
    ...events,
    ...(await expectDeliveriesOnce(run, events.events)),
    ...(await expectIdle(run)),
  };
}

/** Checks that no mail went out twice, and that each send has the outcome of its mail. */
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

/** Checks that each event of the provider is listed and counted once. */
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
  const of = (kind: ProviderEventKind) => pendingEvents.filter((one) => one.kind === kind);
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

/** Sums the counters of all days since the start of the run. */
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

/** Checks that the customer got each event, under one webhook-id each. */
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
  return { webhookIds: ids.size, received: endpoint.deliveries.length };
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
