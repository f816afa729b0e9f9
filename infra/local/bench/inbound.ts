// Events from providers: one, 100 or 1,000 to a call, signed as SendGrid signs them, from the edge until they are counted.
import { randomBytes, randomUUID } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { chunked, inParallel } from "../../../shared/parallel.ts";
import { accounts } from "../sandbox/accounts.ts";
import type { Account, Hook, Kind, Mail } from "../sandbox/contract.ts";
import { webhook } from "../sandbox/events/sendgrid.ts";
import { bodiesOf } from "./batch.ts";
import { type Organization, organization } from "./callers.ts";
import { tripRow } from "./mails.ts";
import { atMost, median, milliseconds, number, percentile, perSecond, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";

const callsOf: [size: number, calls: number][] = [
  [1, 300],
  [100, 20],
  [1000, 10],
];
const inFlight = 10;
// A worker waits a second to have many events at once.
const windowSeconds = 1.4;
const runSize = 500;
const runs = 3;
const names = { edge: "POST /api/v1/webhooks/sendgrid", worker: "provider-events" };

/** A mail that was sent, as far as its events tell of it. */
type Sent = Pick<Mail, "id" | "to" | "messageId" | "metadata" | "tags">;

export interface Scene {
  service: Measured;
  caller: Organization;
  /** The one whose key signs. */
  account: Account;
}

export async function run(): Promise<Row[]> {
  const service = await measured();
  try {
    const scene = await sceneOf(service);
    const mails = sentMails(scene);
    const runRows = await unitRows(scene, mails);
    const rows: Row[] = [];
    for (const [size, calls] of callsOf) rows.push(...(await speedRows(scene, mails, size, calls)));
    return [...rows, ...runRows];
  } finally {
    await service.stop();
  }
}

export async function sceneOf(service: Measured): Promise<Scene> {
  const account = accounts(randomBytes(32)).open();
  return { service, account, caller: await organization(service, { webhookSecret: webhook.secret(account) }) };
}

/** Mails that were sent, so many at a time; none twice. */
export function sentMails({ service, caller }: Scene): (n: number) => Promise<Sent[]> {
  const bodies = bodiesOf({ templateId: caller.templateId, sendingConfigId: caller.configId });
  const ready: Sent[] = [];
  return async (n) => {
    while (ready.length < n) {
      progress("sending what events will tell of");
      const { data } = await caller.call<{ results: { id: number; to: string }[] }>("POST", "/send/batch", bodies.next().value);
      ready.push(
        ...data.results.map(({ id, to }) => ({ id, to: { email: to }, messageId: `m${id}`, metadata: { sendId: String(id) }, tags: [] })),
      );
    }
    await service.quiet(windowSeconds);
    return ready.splice(0, n);
  };
}

async function speedRows(scene: Scene, mails: (n: number) => Promise<Sent[]>, size: number, calls: number): Promise<Row[]> {
  const { service } = scene;
  const parcels = parcelsOf(scene, await mails(size * calls), size);
  progress(`${number(calls)} calls with ${number(size)}`);
  const { latencies, edgeSeconds, seconds } = await bring(scene, parcels, size * calls);
  await service.quiet(windowSeconds);
  // What comes again is as much work at the edge, and none behind it.
  await service.ask("trace", true);
  const alone = await inParallel(1, parcels.slice(0, 7), (one) => deliver(scene, one));
  const trips = await service.ask("trace", false);
  await service.quiet(windowSeconds);
  const how = `${number(size)} to a call`;
  const tail = `p50 ${number(median(latencies))}, p99 ${milliseconds(percentile(latencies, 0.99))} with ${inFlight} calls in flight`;
  return [
    { what: `${how}: accepted at the edge`, value: perSecond((size * calls) / edgeSeconds), note: tail },
    { what: `${how}: time at the edge, alone`, value: milliseconds(median(alone)), note: `median of ${alone.length}` },
    tripRow(trips, names.edge, how),
    {
      what: `${how}: accepted and applied`,
      value: perSecond((size * calls) / seconds),
      note: `${number(size * calls)} events in ${number(seconds)} s, of which a worker waits one for more`,
    },
  ];
}

export const parcelsOf = (scene: Scene, sent: Sent[], size: number): Parcel[] =>
  chunked(sent, size).map((some) => parcel(scene, "delivered", some));

/** From the first call until the last event is counted. */
export async function bring(scene: Scene, parcels: Parcel[], events: number) {
  const target = (await counted(scene.caller)) + events;
  const began = performance.now();
  const latencies = await inParallel(inFlight, parcels, (one) => deliver(scene, one));
  const edgeSeconds = (performance.now() - began) / 1000;
  await untilCounted(scene.caller, target);
  return { latencies, edgeSeconds, seconds: (performance.now() - began) / 1000 };
}

/** Request units of events that come in runs of 500: a delivery, then an open of the same mails. */
async function unitRows(scene: Scene, mails: (n: number) => Promise<Sent[]>): Promise<Row[]> {
  const sent = await mails(runSize * runs);
  const rows: Row[] = [];
  for (const [kind, aim] of [
    ["delivered", 1.2],
    ["opened", 2.2],
  ] as const) {
    scene.service.spent();
    for (let i = 0; i < runs; i++) {
      const target = (await counted(scene.caller)) + runSize;
      await deliver(scene, parcel(scene, kind, sent.slice(i * runSize, (i + 1) * runSize)));
      await untilCounted(scene.caller, target);
    }
    await scene.service.quiet(windowSeconds);
    rows.push(unitRow(scene.service.spent(), kind, aim));
  }
  return rows;
}

function unitRow(spent: ReturnType<Measured["spent"]>, kind: Kind, aim: number): Row {
  const parts = Object.values(names).map((name) => spent[name] ?? { readUnits: 0, writeUnits: 0 });
  const sum = (unit: "readUnits" | "writeUnits") => parts.reduce((total, part) => total + part[unit], 0) / (runSize * runs);
  return {
    what: `${kind}: write units per event`,
    value: number(sum("writeUnits")),
    aim: atMost(aim, sum("writeUnits")),
    note: `in runs of ${runSize}; beside it ${number(sum("readUnits"))} read units`,
  };
}

export interface Parcel {
  body: string;
  headers: Record<string, string>;
}

function parcel({ account }: Scene, kind: Kind, mails: Sent[]): Parcel {
  const notice = webhook.notices[kind]!;
  const events = mails.map((mail) => notice({ kind, mail: mail as Mail, at: clock.now(), id: randomUUID(), url: "" }));
  const { body, headers } = webhook.pack(events, {} as Hook, account) as { body: string; headers(attempt: number): Record<string, string> };
  return { body, headers: headers(0) };
}

export async function deliver({ service, caller }: Scene, { body, headers }: Parcel): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${service.url}/api/v1/webhooks/sendgrid?config_id=${caller.configId}`, { method: "POST", headers, body });
  await response.text();
  if (!response.ok) throw new Error(`The edge answered ${response.status}`);
  return performance.now() - began;
}

async function counted({ call }: Organization): Promise<number> {
  const { data } = await call<{ pagination: { total: number } }>("GET", "/events?limit=1");
  return data.pagination.total;
}

async function untilCounted(caller: Organization, target: number) {
  while ((await counted(caller)) < target) await clock.sleep(25);
}
