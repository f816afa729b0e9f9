// A campaign to everybody of a site, named by list, by tag and by segment: from the request that sends it until the provider has the
// last mail, through the real workers.
import * as clock from "../../../shared/clock.ts";
import { cpuRow, since } from "./mails.ts";
import type { Cost } from "./process.ts";
import { atMost, balance, number, perSecond, progress, type Row } from "./report.ts";
import { eachSize, type Populated } from "./segments.ts";
import type { Measured, Spent } from "./service.ts";

const aims = { fanOut: { writes: 0.1, reads: 1 }, lane: { writes: 2.1, reads: 2.6 } };

export const run = (sizes: number[]): Promise<Row[]> => eachSize(sizes, { all: true }, ofSize);

async function ofSize(scene: Populated, size: number): Promise<Row[]> {
  const { caller, listId, tagId, row } = scene;
  const rules = {
    match: "all",
    conditions: [
      { field: "status", operator: "equals", value: "subscribed" },
      { field: "customFields.seats", operator: "lessThan", value: 100 },
    ],
  };
  const segment = await caller.call<{ id: number }>("POST", "/segments", { name: "Everyone", rules });
  const audiences = { list: { listId }, tag: { tagId }, segment: { segmentId: segment.data.id } };
  const rows: Row[] = [row];
  for (const [name, audience] of Object.entries(audiences))
    rows.push(...(await oneCampaign(scene, `${number(size)} by ${name}`, audience, size)));
  return rows;
}

interface Run {
  /** Until everybody was let into the lane, and until the provider had all of it. */
  fannedOutSeconds: number;
  seconds: number;
  memory: { before: number; most: number };
  cost: Cost;
  spent: Record<string, Spent>;
  accounting: Record<string, number>;
}

async function oneCampaign(scene: Populated, how: string, audience: object, size: number): Promise<Row[]> {
  const { seconds, fannedOutSeconds, memory, cost, spent, accounting } = await sent(scene, how, audience, size);
  return [
    {
      what: `${how}: handed over`,
      value: perSecond(size / seconds),
      note: `in ${number(seconds)} s; all were let into the lane after ${number(fannedOutSeconds)} s`,
    },
    cpuRow(how, "recipient", cost, size),
    balance(`${how}: sent, as the campaign counts`, (accounting.sent ?? 0) + (accounting.delivered ?? 0), size),
    unitRow(how, "to reach", spent["fan-out"], size, aims.fanOut),
    unitRow(how, "to hand over", spent.lane, size, aims.lane),
    unitRow(how, "to watch", spent.campaigns, size, { writes: 0.05, reads: 0.05 }),
    {
      what: `${how}: memory`,
      value: `${megabytes(memory.most)}`,
      note: `at most, before ${megabytes(memory.before)}: all workers together, and the queues`,
    },
  ];
}

const megabytes = (bytes: number): string => `${number(bytes / 1e6)} MB`;

const none: Spent = { times: 0, readUnits: 0, writeUnits: 0 };

function unitRow(how: string, what: string, spent: Spent = none, size: number, aim: { writes: number; reads: number }): Row {
  const [writes, reads] = [spent.writeUnits / size, spent.readUnits / size];
  return {
    what: `${how}: write units per recipient ${what}`,
    value: number(writes),
    aim: atMost(aim.writes, writes),
    note: `and ${number(reads)} read units (at most ${aim.reads}), in ${number(spent.times)} runs`,
  };
}

async function sent(
  { service, caller: { call, configId, templateId } }: Populated,
  how: string,
  audience: object,
  size: number,
): Promise<Run> {
  const body = { name: "News", templateId, sendingConfigId: configId, ...audience };
  const { id } = (await call<{ id: number }>("POST", "/campaigns", body)).data;
  await service.quiet(0.5);
  service.spent();
  const [before, costBefore] = [await service.ask("memory"), await service.ask("cost")];
  const target = service.sandbox.stats().accepted + size;
  const began = performance.now();
  await call("POST", `/campaigns/${id}/send`);
  let [most, fannedOutSeconds] = [before, 0];
  for (let left = size; left > 0; left = target - service.sandbox.stats().accepted) {
    progress(how, size - left, size);
    await clock.sleep(200);
    most = Math.max(most, await service.ask("memory"));
    fannedOutSeconds ||= await fannedOut(call, id, size, began);
  }
  const seconds = (performance.now() - began) / 1000;
  await service.quiet(1);
  const { accounting } = await detail(call, id);
  const cost = since(costBefore, await service.ask("cost"));
  return { seconds, fannedOutSeconds, memory: { before, most }, cost, spent: await settledSpent(service), accounting };
}

/** Log lines may come after the last call they tell of. */
async function settledSpent(service: Measured): Promise<Record<string, Spent>> {
  await clock.sleep(200);
  return service.spent();
}

interface Detail {
  accounting: Record<string, number>;
}

const detail = async (call: Populated["caller"]["call"], id: number): Promise<Detail> =>
  (await call<Detail>("GET", `/campaigns/${id}`)).data;

/** Seconds; 0 when it is not done. */
async function fannedOut(call: Populated["caller"]["call"], id: number, size: number, began: number): Promise<number> {
  const { accounting } = await detail(call, id);
  return (accounting.accepted ?? 0) >= size ? (performance.now() - began) / 1000 : 0;
}
