// A random history of four months: mail is accepted and handed over, and provider webhooks report
// events in any order, repeated, late and automated, while some days are rolled up. The test then
// computes every figure from the raw history with its own rules and compares it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { providerWebhooks } from "../../functions/http/provider-webhooks.ts";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { getDashboard } from "../../shared/domain/analytics/dashboard.ts";
import { getDeliverability } from "../../shared/domain/analytics/deliverability.ts";
import { getOverview } from "../../shared/domain/analytics/overview.ts";
import {
  type AnalyticsPeriod,
  analyticsPeriods,
  chartIntervals,
} from "../../shared/domain/analytics/periods.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as due from "../../shared/domain/due-work.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import type { Send } from "../../shared/domain/sending/send-schema.ts";
import { domainOf } from "../../shared/kernel/email-fields.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { ranges } from "../../shared/keys.ts";
import { type EventType, eventTypes } from "../../shared/providers/inbound/inbound-adapter.ts";
import { type QueuedEvent, queues } from "../../shared/queues.ts";
import { applyMessages } from "../support/delivery-events.ts";
import { everything, seed } from "../support/extent.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { seededRandom } from "../support/seeded-random.ts";
import * as mailTest from "../support/sending.ts";
import { signByProvider, webhookSecrets } from "../support/signed-provider-webhooks.ts";

beforeAll(mailTest.useOwnTableAndQueues);
const open: mailTest.TestSender[] = [];
afterAll(async () => {
  for (const { provider } of open) await provider.stop();
});

const zone = "America/New_York";
const eventsInAll = Number(process.env.AGREEMENT_EVENTS ?? (everything ? 20_000 : 1200));
const [moments, batches, mailsInBatch] = [40, 10, Math.ceil(eventsInAll / 150)];
// From 20 events on, a send has overflow events, which delivery-event-races.test.ts tests.
const mostOfOne = 18;
type Event = Omit<QueuedEvent, "id">;

interface SendHistory {
  send: Send;
  /** The status after the hand-over. */
  firstStatus: "sent" | "failed" | "uncertain";
  day: string;
  /** The events in the order of their arrival, without repetitions. */
  arrivedEvents: { event: Event; day: string }[];
}

const chance = seededRandom(seed);
const below = (n: number): number => Math.floor(chance() * n);
const pick = <T>(all: readonly T[]): T => all[below(all.length)]!;
const shuffled = <T>(all: T[]): T[] =>
  all
    .map((one) => [chance(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
const dayAt = (at: Date): string => at.toLocaleDateString("en-CA", { timeZone: zone });

test("all figures equal the raw history for repeated events in any order", async () => {
  const first = await mailTest.createSender("postmark");
  open.push(first);
  const { caller } = first;
  await organizations.change(caller, { timezone: zone });
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
  const config = {
    provider: "postmark",
    credentials: { apiKey: "postmark-token" },
    fromEmail: "other@example.com",
  };
  const { id: configId } = await sendingConfigs.create(caller, NewSendingConfig.parse(config));
  const hearing = await sendingConfigs.create(
    caller,
    NewSendingConfig.parse({
      provider: "sendgrid",
      credentials: { apiKey: "SG.none" },
      fromEmail: "hears@example.com",
      webhookSecret: webhookSecrets.sendgrid,
    }),
  );
  const senders = [first, { ...first, configId }, { ...first, siteId, configId }];
  const [sendHistories, postedEvents]: [SendHistory[], Event[]] = [[], []];
  for (let moment = 0; moment < moments; moment++) {
    if (moment % (moments / batches) === 0)
      sendHistories.push(...(await handOverBatch(pick(senders), moment, sendHistories)));
    const day = dayAt(clock.now());
    const fresh = happening(sendHistories, Math.ceil((eventsInAll * 0.85) / moments), day);
    const doubled = Array.from({ length: Math.ceil((eventsInAll * 0.15) / moments) }, () =>
      pick(postedEvents.length ? postedEvents : fresh),
    );
    await postWebhooks(hearing.id, shuffled([...fresh, ...doubled]));
    postedEvents.push(...fresh);
    // Like the schedule. Other days are rolled up much later.
    if (moment % 13 === 12) await rollUpDays();
    clock.advanceClock(chance() * 5 * 86_400);
  }
  expect(postedEvents.length).toBeGreaterThan(eventsInAll * 0.8);
  await expectFiguresAgree(senders, sendHistories, postedEvents);
  await rollUpDays();
  const items = await queryAll<{ sk: string }>(ranges.days(caller.orgId, first.siteId));
  const over = dayAt(clock.addSeconds(-3 * 86_400));
  expect(items.filter(({ sk }) => sk.includes("#") && sk.slice(0, 10) < over)).toEqual([]);
  await expectFiguresAgree(senders, sendHistories, postedEvents);
});

/** Posts the events like SendGrid, 100 in a request, and runs the worker of the queue. */
async function postWebhooks(configId: number, events: Event[]) {
  const query = { config_id: String(configId) };
  for (const some of splitIntoBatches(events, 100)) {
    const { rawBody, headers } = signByProvider.sendgrid!(some.map(rowOf), clock.now());
    const request = {
      raw: rawBody,
      headers: { ...(headers as Record<string, string>), "content-type": "application/json" },
      query,
    };
    expect((await invokeRoute(providerWebhooks, "POST /webhooks/sendgrid", request)).status).toBe(
      200,
    );
  }
  const queuedMessages = mailTest.pendingMessages.filter(
    ({ queue }) => queue === queues.providerEvents.name,
  );
  mailTest.pendingMessages.splice(
    0,
    Infinity,
    ...mailTest.pendingMessages.filter(({ queue }) => queue !== queues.providerEvents.name),
  );
  const received = queuedMessages.map(({ body }, i) => ({
    messageId: `m${i}`,
    attempt: 1,
    body: queues.providerEvents.message.parse(body),
  }));
  for (const some of splitIntoBatches(received, 3)) await applyMessages(...some);
}

const rowOf = ({ type, email, sendId, providerEventId, timestamp, data, automated }: Event) => ({
  event: type === "spam_report" ? "spamreport" : type,
  email,
  sendId: String(sendId),
  sg_event_id: providerEventId,
  timestamp: Date.parse(timestamp) / 1000,
  useragent: data.userAgent,
  reason: data.reason,
  ...(type === "bounce" && { type: data.bounceType === "hard" ? "bounce" : "blocked" }),
  ...(automated && { sg_machine_open: true }),
});

async function rollUpDays() {
  for (const shard of [0, 1, 2, 3]) await due.drain("DAY", shard);
}

const domains = [
  ..."gmail.com gmail.com gmail.com googlemail.com outlook.com hotmail.de yahoo.com icloud.com web.de".split(
    " ",
  ),
  ...Array.from({ length: 25 }, (_, i) => `d${i}.example`),
];

/** Sends a batch of which some mails are refused and some are uncertain. */
async function handOverBatch(
  from: mailTest.TestSender,
  moment: number,
  before: SendHistory[],
): Promise<SendHistory[]> {
  const recipients = Array.from({ length: mailsInBatch }, (_, i) => ({
    to: `${below(25) === 0 ? "refused" : "p"}-${moment}-${i}@${pick(domains)}`,
  }));
  from.provider.isRefused = (to) => to.startsWith("refused");
  let calls = 0;
  from.provider.faultFor = () => (calls++ === 1 && moment % 3 === 0 ? "lost" : undefined);
  const day = dayAt(clock.now());
  await mailTest.sendBatch(from, recipients, { siteId: from.siteId });
  await mailTest.runWorkers({ forSeconds: 60 });
  const known = new Set(before.map(({ send }) => send.id));
  const all = (await mailTest.listAllSends(from)).filter(({ id }) => !known.has(id));
  expect(all).toHaveLength(mailsInBatch);
  return all.map((send) => ({
    send,
    firstStatus: send.status as SendHistory["firstStatus"],
    day,
    arrivedEvents: [],
  }));
}

const weights: [EventType, number][] = [
  ["delivered", 25],
  ["open", 35],
  ["click", 20],
  ["deferred", 8],
  ["bounce", 5],
  ["dropped", 2],
  ["spam_report", 2],
  ["unsubscribe", 3],
];
const types = weights.flatMap(([type, weight]) => Array.from({ length: weight }, () => type));
const bounces = [
  { text: "550 5.1.1 User unknown", reason: "unknown_mailbox", block: false },
  { text: "552 5.2.2 Mailbox full", reason: "mailbox_full", block: false },
  { text: "550 5.7.1 blocked using a blocklist", reason: "blocked", block: true },
  { text: "550 5.7.26 DMARC says no", reason: "authentication", block: true },
  { text: "", reason: "other", block: false },
];
/** Reasons of dropped mails that name the message or the sender, and how these are counted. */
const refusals: Record<string, string> = {
  "Spam Content": "content",
  "Recipient List over Package Quota": "blocked",
};
const dropReasons = ["Invalid", ...Object.keys(refusals)];
const humanUserAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605";

function happening(sendHistories: SendHistory[], n: number, day: string): Event[] {
  const events: Event[] = [];
  for (let tries = 0; events.length < n && tries < n * 3; tries++) {
    const sendHistory = pick(sendHistories);
    if (sendHistory.firstStatus === "failed" || sendHistory.arrivedEvents.length >= mostOfOne)
      continue;
    const event = eventOf(sendHistory, pick(types), sendHistory.arrivedEvents.length);
    sendHistory.arrivedEvents.push({ event, day });
    events.push(event);
  }
  return events;
}

function eventOf({ send, arrivedEvents }: SendHistory, type: EventType, n: number): Event {
  const since = Date.parse(send.createdAt);
  const arrived = arrivedEvents.find(({ event }) => event.type === "delivered")?.event.timestamp;
  // Scanners click immediately after the delivery.
  const isScan = type === "click" && arrived && chance() < 0.3;
  const targetTime = isScan
    ? Date.parse(arrived) + below(20_000)
    : since + below(clock.now().getTime() - since + 1000);
  // SendGrid reports whole seconds. No two events have the same time, because only the first
  // failure counts.
  const usedTimes = new Set(arrivedEvents.map(({ event }) => Date.parse(event.timestamp)));
  let at = Math.floor(targetTime / 1000) * 1000;
  while (usedTimes.has(at)) at += 1000;
  const bounce = pick(bounces);
  return {
    type,
    email: send.toEmail,
    sendId: send.id,
    providerEventId: `${type}-${send.id}-${n}`,
    timestamp: new Date(at).toISOString(),
    data: {
      ...(type === "open" && {
        userAgent: chance() < 0.15 ? "Barracuda Sentinel" : humanUserAgent,
      }),
      ...(type === "bounce" && {
        // The adapter reads a soft bounce that names the sender as a refusal.
        bounceType: bounce.block || chance() < 0.5 ? ("hard" as const) : ("soft" as const),
        reason: bounce.text,
      }),
      ...(type === "dropped" && { reason: pick(dropReasons) }),
    },
    ...(type === "open" && chance() < 0.1 && { automated: true as const }),
  };
}

type Sum = Record<string, number>;

/** The counters to which a send with these events contributes. */
function countsOf({ firstStatus }: SendHistory, events: Event[]): Sum {
  const of = (type: EventType) =>
    events
      .filter((event) => event.type === type)
      .sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  const [failure] = [...of("bounce"), ...of("dropped")].sort((a, b) =>
    a.timestamp < b.timestamp ? -1 : 1,
  );
  const arrived = of("delivered")[0]?.timestamp;
  const secondsAfter = (event: Event) =>
    arrived ? (Date.parse(event.timestamp) - Date.parse(arrived)) / 1000 : -1;
  const isPerson = (event: Event) =>
    !event.automated &&
    event.data.userAgent !== "Barracuda Sentinel" &&
    !(event.type === "click" && secondsAfter(event) >= 0 && secondsAfter(event) < 10);
  const [opens, clicks] = [of("open").filter(isPerson).length, of("click").filter(isPerson).length];
  const reached = ["delivered", "open", "click", "spam_report", "unsubscribe"].some(
    (type) => of(type as EventType).length,
  );
  const bounce =
    failure?.type === "bounce"
      ? bounces.find(({ text }) => text === failure.data.reason)
      : undefined;
  const isBlock = bounce?.block ?? false;
  const hard = failure?.data.bounceType === "hard";
  const refusal = failure?.type === "dropped" ? refusals[failure.data.reason ?? ""] : undefined;
  return {
    sent: firstStatus === "sent" || (firstStatus === "uncertain" && events.length) ? 1 : 0,
    uncertain: firstStatus === "uncertain" && !events.length ? 1 : 0,
    failed: firstStatus === "failed" || failure ? 1 : 0,
    dropped: failure?.type === "dropped" ? 1 : 0,
    refused: refusal ? 1 : 0,
    delivered: reached ? 1 : 0,
    bounced: bounce ? 1 : 0,
    hard: bounce && hard && !isBlock ? 1 : 0,
    soft: bounce && !hard && !isBlock ? 1 : 0,
    block: isBlock || refusal ? 1 : 0,
    ...(bounce && { [`reason ${bounce.reason}`]: 1 }),
    ...(refusal && { [`reason ${refusal}`]: 1 }),
    opened: opens ? 1 : 0,
    clicked: clicks ? 1 : 0,
    complained: of("spam_report").length ? 1 : 0,
    unsubscribed: of("unsubscribe").length ? 1 : 0,
    deferred: of("deferred").length,
    "opens.total": of("open").length,
    "opens.automated": of("open").length - opens,
    "clicks.total": of("click").length,
    "clicks.automated": of("click").length - clicks,
  };
}

/** The counters of each day, from the events that arrived on it. */
function countsByDay(sendHistories: SendHistory[]): Days {
  const parts = sendHistories.flatMap((sendHistory) => {
    const days = [
      ...new Set([sendHistory.day, ...sendHistory.arrivedEvents.map(({ day }) => day)]),
    ].sort();
    const until = (day: string | undefined): Sum =>
      day === undefined
        ? {}
        : countsOf(
            sendHistory,
            sendHistory.arrivedEvents.flatMap((one) => (one.day <= day ? [one.event] : [])),
          );
    return days.map((day, i) => ({ day, sum: added([until(day)], [until(days[i - 1])]) }));
  });
  return new Map(
    [...Map.groupBy(parts, ({ day }) => day)].map(([day, some]) => [
      day,
      added(some.map(({ sum }) => sum)),
    ]),
  );
}

const within = (days: Days, from: string, to: string): Sum =>
  added([...days].flatMap(([day, sum]) => (day >= from && day <= to ? [sum] : [])));

function added(plus: Sum[], minus: Sum[] = []): Sum {
  const sum: Sum = {};
  for (const [sign, some] of [
    [1, plus],
    [-1, minus],
  ] as const)
    for (const one of some)
      for (const [name, n] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + sign * n;
  return sum;
}

const rate = (part: number, whole: number) =>
  whole > 0 ? Math.max(0, Math.min(1, part / whole)) : 0;

/** An event can correct a count of an earlier day. No shown count is negative for that. */
const shown = (n = 0) => Math.max(0, n);

function figures(days: Days, from: string, to: string) {
  const sum = within(days, from, to);
  const of = (name: string) => shown(sum[name]);
  const names = [
    "sent",
    "delivered",
    "opened",
    "clicked",
    "bounced",
    "failed",
    "complained",
    "unsubscribed",
    "deferred",
    "uncertain",
  ];
  return {
    ...Object.fromEntries(names.map((name) => [name, of(name)])),
    deliveryRate: rate(of("delivered"), of("sent")),
    openRate: rate(of("opened"), of("delivered")),
    clickRate: rate(of("clicked"), of("delivered")),
    bounceRate: rate(of("bounced"), of("sent")),
    complaintRate: rate(of("complained"), of("delivered")),
    unsubscribeRate: rate(of("unsubscribed"), of("delivered")),
    opens: { total: of("opens.total"), automated: of("opens.automated") },
    clicks: { total: of("clicks.total"), automated: of("clicks.automated") },
  };
}

const daysBefore = (day: string, n: number) =>
  new Date(Date.parse(day) - n * 86_400_000).toISOString().slice(0, 10);

async function expectFiguresAgree(
  senders: mailTest.TestSender[],
  sendHistories: SendHistory[],
  postedEvents: Event[],
) {
  const [{ caller, siteId }] = senders as [mailTest.TestSender];
  const today = dayAt(clock.now());
  for (const site of [undefined, siteId]) {
    const siteHistories = sendHistories.filter(
      ({ send }) => site === undefined || send.siteId === site,
    );
    const groupDays = <K>(key: (send: Send) => K) =>
      new Map(
        [...Map.groupBy(siteHistories, ({ send }) => key(send))].map(([one, some]) => [
          one,
          countsByDay(some),
        ]),
      );
    const raw = {
      siteHistories: siteHistories,
      days: countsByDay(siteHistories),
      domains: groupDays(({ toEmail }) => domainOf(toEmail)),
      configs: groupDays((send) => send.sendingConfigId),
    };
    for (const period of analyticsPeriods) await agreeOn(caller, raw, site, period, today);
    await agreeOnLists(caller, siteHistories, site, postedEvents);
  }
}

type Days = Map<string, Sum>;
interface Raw {
  siteHistories: SendHistory[];
  days: Days;
  domains: Map<string, Days>;
  configs: Map<number | null | undefined, Days>;
}

async function agreeOn(
  caller: mailTest.TestSender["caller"],
  raw: Raw,
  siteId: number | undefined,
  period: AnalyticsPeriod,
  today: string,
) {
  const { siteHistories, days } = raw;
  const length = Number.parseInt(period, 10);
  const [from, before] = [daysBefore(today, length - 1), daysBefore(today, 2 * length - 1)];
  const last = daysBefore(from, 1);
  const [totals, previous] = [figures(days, from, today), figures(days, before, last)];
  for (const interval of chartIntervals) {
    const found = await getOverview(caller, { period, siteId, interval });
    expect(found).toMatchObject({
      from,
      to: today,
      timezone: zone,
      totals,
      previous: { from: before, to: last, totals: previous },
    });
    for (const series of [found.series, found.previousSeries])
      for (const point of series)
        expect(point).toEqual({
          from: point.from,
          to: point.to,
          ...figures(days, point.from, point.to),
        });
    expect([found.series[0]!.from, found.series.at(-1)!.to]).toEqual([from, today]);
    if (interval === "day") expect(found.series).toHaveLength(length);
  }
  expect(await getDashboard(caller, { period, siteId })).toMatchObject({
    totals,
    previous: { totals: previous },
    sends: { total: siteHistories.length },
  });
  await agreeOnDelivery(caller, raw, siteId, period, { from, today });
}

async function agreeOnDelivery(
  caller: mailTest.TestSender["caller"],
  { days, domains, configs }: Raw,
  siteId: number | undefined,
  period: AnalyticsPeriod,
  { from, today }: { from: string; today: string },
) {
  const found = await getDeliverability(caller, { period, siteId });
  const sum = within(days, from, today);
  const totals = figures(days, from, today) as Sum & ReturnType<typeof figures>;
  expect(found.funnel).toMatchObject(
    Object.fromEntries(
      ["sent", "delivered", "opened", "clicked", "bounced", "failed"].map((name) => [
        name,
        totals[name],
      ]),
    ),
  );
  const { hard, soft, block, topReasons } = found.bounceBreakdown;
  const kinds = { hard: sum.hard ?? 0, soft: sum.soft ?? 0, block: sum.block ?? 0 };
  expect(hard + soft + block).toBe(shown((sum.bounced ?? 0) + (sum.refused ?? 0)));
  // If none of them is negative, these bounds and the sum make all equal.
  expect(hard).toBeLessThanOrEqual(shown(kinds.hard));
  expect(soft).toBeLessThanOrEqual(shown(kinds.soft));
  expect(block).toBeLessThanOrEqual(shown(kinds.block));
  const reasons = Object.entries(sum).flatMap(([name, n]) =>
    name.startsWith("reason ") && n > 0 ? [[name.slice(7), n] as const] : [],
  );
  expect(Object.fromEntries(topReasons.map(({ reason, count }) => [reason, count]))).toEqual(
    Object.fromEntries(reasons),
  );
  expect(found.reputation).toMatchObject({
    bounceRate: totals.bounceRate,
    complaintRate: totals.complaintRate,
  });
  expect(found.complaintRate).toBe(totals.complaintRate);
  for (const { date, ...point } of found.dailyTrends)
    expect(point).toMatchObject(pickOf(figures(days, date, date), trend));
  const receivers = [...domains].map(([domain, its]) => {
    const one = within(its, from, today);
    return {
      domain,
      settled: (one.delivered ?? 0) + (one.bounced ?? 0) + (one.dropped ?? 0),
      opened: shown(one.opened),
    };
  });
  const top = receivers
    .filter(({ settled }) => settled > 0)
    .map(({ settled, ...one }) => ({ ...one, sent: settled }))
    .sort((a, b) => b.sent - a.sent || (a.domain < b.domain ? -1 : 1));
  expect(
    found.ispBreakdown
      .filter(({ sent }) => sent > 0)
      .map(({ domain, sent, opened }) => ({ domain, sent, opened })),
  ).toEqual(top.slice(0, 20));
  const gmail = receivers.filter(
    ({ domain }) => domain === "gmail.com" || domain === "googlemail.com",
  );
  expect(found.ispGroups.find(({ group }) => group === "Gmail")?.sent ?? 0).toBe(
    shown(gmail.reduce((total, { settled }) => total + settled, 0)),
  );
  for (const { sendingConfigId, label: _, provider: __, ...one } of found.configPerformance)
    expect(one).toEqual(figures(configs.get(sendingConfigId)!, from, today));
}

const trend = [
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "deliveryRate",
  "openRate",
  "clickRate",
  "bounceRate",
];
const pickOf = (one: object, names: string[]) =>
  Object.fromEntries(Object.entries(one).filter(([name]) => names.includes(name)));

/** Checks that GET /events and GET /sends return the same history. */
async function agreeOnLists(
  caller: mailTest.TestSender["caller"],
  siteHistories: SendHistory[],
  siteId: number | undefined,
  postedEvents: Event[],
) {
  const ids = new Set(siteHistories.map(({ send }) => send.id));
  for (const type of [undefined, ...eventTypes]) {
    const events = postedEvents.filter(
      (event) => ids.has(event.sendId!) && (type === undefined || event.type === type),
    );
    expect(
      (await history.listEvents(caller, { limit: 1 }, { siteId, type })).pagination.total,
    ).toBe(events.length);
  }
  const listed = await everySend(caller, siteId);
  expect(listed).toHaveLength(siteHistories.length);
  const statuses = new Map(
    siteHistories.map((sendHistory) => [sendHistory.send.id, statusOf(sendHistory)]),
  );
  expect(listed.filter(({ id, status }) => statuses.get(id) !== status)).toEqual([]);
}

function statusOf(sendHistory: SendHistory): string {
  const { failed, bounced, delivered, uncertain } = countsOf(
    sendHistory,
    sendHistory.arrivedEvents.map(({ event }) => event),
  );
  if (failed || bounced) return "failed";
  if (delivered) return "delivered";
  return uncertain ? "uncertain" : "sent";
}

async function everySend(
  caller: mailTest.TestSender["caller"],
  siteId: number | undefined,
): Promise<Send[]> {
  const all: Send[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await listSends(caller, { limit: 100, cursor }, { siteId });
    all.push(...page.sends);
    cursor = page.pagination.nextCursor ?? undefined;
    more = cursor !== undefined;
  }
  return all;
}
