// Provider webhooks with 1, 100 or 1,000 events per call, signed as SendGrid signs them: from the
// call until the service has counted the events.
import { randomBytes, randomUUID } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { inParallel, splitIntoBatches } from "../../../shared/kernel/parallel.ts";
import { createAccounts } from "../sandbox/accounts.ts";
import { sendgrid } from "../sandbox/providers/sendgrid.ts";
import type {
  CapturedMail,
  MailEventKind,
  SandboxAccount,
  WebhookTarget,
} from "../sandbox/types.ts";
import { formatEvent } from "../sandbox/webhook-format.ts";
import { createBatchBodies } from "./batch-sends.ts";
import { callSequenceRow } from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { type BenchOrganization, type BenchScene, createOrganization } from "./organizations.ts";
import {
  atMost,
  type BenchRow,
  formatMs,
  formatNumber,
  formatPerSecond,
  median,
  percentile,
  showProgress,
} from "./report.ts";

interface CallSeries {
  eventsPerCall: number;
  calls: number;
}

const allSeries: CallSeries[] = [
  { eventsPerCall: 1, calls: 300 },
  { eventsPerCall: 100, calls: 20 },
  { eventsPerCall: 1000, calls: 10 },
];
const inFlight = 10;
// A worker waits one second to collect events.
const windowSeconds = 1.4;
const runSize = 500;
const runs = 3;
const names = { edge: "POST /api/v1/webhooks/sendgrid", worker: "provider-events" };

/** The fields of a sent mail that its events contain. */
type SentMail = Pick<CapturedMail, "id" | "to" | "messageId" | "metadata" | "tags">;

type TakeMails = (n: number) => Promise<SentMail[]>;

export interface EventScene extends BenchScene {
  /** The account whose key signs the events. */
  account: SandboxAccount;
}

export async function run(): Promise<BenchRow[]> {
  const service = await startMeasuredService();
  try {
    const scene = await createEventScene(service);
    const takeMails = createMailSource(scene);
    const unitRows = await measureUnits(scene, takeMails);
    const rows: BenchRow[] = [];
    for (const series of allSeries) rows.push(...(await measureSpeed(scene, takeMails, series)));
    return [...rows, ...unitRows];
  } finally {
    await service.stop();
  }
}

async function createEventScene(service: MeasuredService): Promise<EventScene> {
  const account = createAccounts(randomBytes(32)).create();
  return {
    service,
    account,
    caller: await createOrganization(service, {
      webhookSecret: sendgrid.webhook.deriveSecret(account),
    }),
  };
}

/** Returns a function that returns `n` sent mails, new ones at each call. */
export function createMailSource({ service, caller }: BenchScene): TakeMails {
  const bodies = createBatchBodies({
    templateId: caller.templateId,
    sendingConfigId: caller.configId,
  });
  const ready: SentMail[] = [];
  return async (n) => {
    while (ready.length < n) {
      showProgress("sending the mails that the events refer to");
      const { data } = await caller.call<{ results: { id: number; to: string }[] }>(
        "POST",
        "/send/batch",
        bodies.next().value,
      );
      ready.push(
        ...data.results.map(({ id, to }) => ({
          id,
          to: { email: to },
          messageId: `m${id}`,
          metadata: { sendId: String(id) },
          tags: [],
        })),
      );
    }
    await service.waitUntilIdle(windowSeconds);
    return ready.splice(0, n);
  };
}

async function measureSpeed(
  scene: EventScene,
  takeMails: TakeMails,
  { eventsPerCall, calls }: CallSeries,
): Promise<BenchRow[]> {
  const { service } = scene;
  const events = eventsPerCall * calls;
  const posts = buildPosts(scene, await takeMails(events), eventsPerCall);
  showProgress(`${formatNumber(calls)} calls with ${formatNumber(eventsPerCall)}`);
  const { latencies, edgeSeconds, seconds } = await postAll(scene, posts, events);
  await service.waitUntilIdle(windowSeconds);
  // Repeated events cost the route as much as new ones and the worker nothing.
  await service.query("setTracing", true);
  const unloaded = await inParallel(1, posts.slice(0, 7), (post) => postEvents(scene, post));
  const traces = await service.query("setTracing", false);
  await service.waitUntilIdle(windowSeconds);
  const label = `${formatNumber(eventsPerCall)} per call`;
  return [
    {
      what: `${label}: accepted by the route`,
      value: formatPerSecond(events / edgeSeconds),
      note:
        `p50 ${formatNumber(median(latencies))}, p99 ${formatMs(percentile(latencies, 0.99))} ` +
        `with ${inFlight} calls in flight`,
    },
    {
      what: `${label}: time of the route without other load`,
      value: formatMs(median(unloaded)),
      note: `median of ${unloaded.length}`,
    },
    callSequenceRow(traces, names.edge, label),
    {
      what: `${label}: accepted and applied`,
      value: formatPerSecond(events / seconds),
      note:
        `${formatNumber(events)} events in ${formatNumber(seconds)} s, ` +
        "one of them the worker's wait for more events",
    },
  ];
}

export const buildPosts = (scene: EventScene, sent: SentMail[], size: number): SignedPost[] =>
  splitIntoBatches(sent, size).map((some) => signPost(scene, "delivered", some));

/** Measures from the first call until the last event is counted. */
async function postAll(scene: EventScene, posts: SignedPost[], events: number) {
  const target = (await countEvents(scene.caller)) + events;
  const startedAt = performance.now();
  const latencies = await inParallel(inFlight, posts, (post) => postEvents(scene, post));
  const edgeSeconds = (performance.now() - startedAt) / 1000;
  await waitUntilCounted(scene.caller, target);
  return { latencies, edgeSeconds, seconds: (performance.now() - startedAt) / 1000 };
}

/** Request units of deliveries in runs of 500 events, then of opens of the same mails. */
async function measureUnits(scene: EventScene, takeMails: TakeMails): Promise<BenchRow[]> {
  const sent = await takeMails(runSize * runs);
  const rows: BenchRow[] = [];
  for (const [kind, aim] of [
    ["delivered", 1.2],
    ["opened", 2.2],
  ] as const) {
    scene.service.takeUnits();
    for (let i = 0; i < runs; i++) {
      const target = (await countEvents(scene.caller)) + runSize;
      await postEvents(scene, signPost(scene, kind, sent.slice(i * runSize, (i + 1) * runSize)));
      await waitUntilCounted(scene.caller, target);
    }
    await scene.service.waitUntilIdle(windowSeconds);
    rows.push(unitRow(scene.service.takeUnits(), kind, aim));
  }
  return rows;
}

function unitRow(
  spent: ReturnType<MeasuredService["takeUnits"]>,
  kind: MailEventKind,
  aim: number,
): BenchRow {
  const parts = Object.values(names).map((name) => spent[name] ?? { readUnits: 0, writeUnits: 0 });
  const sum = (unit: "readUnits" | "writeUnits") =>
    parts.reduce((total, part) => total + part[unit], 0) / (runSize * runs);
  return {
    what: `${kind}: write units per event`,
    value: formatNumber(sum("writeUnits")),
    aim: atMost(aim, sum("writeUnits")),
    note: `in runs of ${runSize}; and ${formatNumber(sum("readUnits"))} read units`,
  };
}

export interface SignedPost {
  body: string;
  headers: Record<string, string>;
}

function signPost({ account }: EventScene, kind: MailEventKind, mails: SentMail[]): SignedPost {
  const events = mails.map((mail) =>
    formatEvent(sendgrid.webhook, {
      kind,
      mail: mail as CapturedMail,
      at: clock.now(),
      id: randomUUID(),
      url: "",
    }),
  );
  const { body, headers } = sendgrid.webhook.buildPost(events, {} as WebhookTarget, account) as {
    body: string;
    headers(attempt: number): Record<string, string>;
  };
  return { body, headers: headers(0) };
}

export async function postEvents(
  { service, caller }: EventScene,
  { body, headers }: SignedPost,
): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(
    `${service.url}/api/v1/webhooks/sendgrid?config_id=${caller.configId}`,
    { method: "POST", headers, body },
  );
  await response.text();
  if (!response.ok) throw new Error(`The API responded with status ${response.status}`);
  return performance.now() - startedAt;
}

async function countEvents({ call }: BenchOrganization): Promise<number> {
  const { data } = await call<{ pagination: { total: number } }>("GET", "/events?limit=1");
  return data.pagination.total;
}

async function waitUntilCounted(caller: BenchOrganization, target: number) {
  while ((await countEvents(caller)) < target) await clock.sleep(25);
}
