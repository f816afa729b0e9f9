// A campaign to every contact of a site, by list, by tag and by segment: from the request that
// sends it until the provider has the last mail.
import * as clock from "../../../shared/clock.ts";
import { cpuRow, measure, noUnits } from "./measure.ts";
import type { MeasuredUnits } from "./measured-service.ts";
import type { BenchOrganization } from "./organizations.ts";
import {
  atMost,
  type BenchRow,
  equalRow,
  formatNumber,
  formatPerSecond,
  showProgress,
} from "./report.ts";
import { forEachSize, type SeededSite } from "./seeded-site.ts";

interface UnitLimit {
  purpose: string;
  writes: number;
  reads: number;
}

/** By worker: the most units per recipient. */
const unitLimits: Record<string, UnitLimit> = {
  "fan-out": { purpose: "fan-out", writes: 0.1, reads: 0.2 },
  lane: { purpose: "hand-over", writes: 0.2, reads: 0.1 },
  jobs: { purpose: "counts of contacts", writes: 0.1, reads: 0.1 },
  campaigns: { purpose: "monitoring", writes: 0.05, reads: 0.05 },
};

export const run = (sizes: number[]): Promise<BenchRow[]> =>
  forEachSize(sizes, { all: true }, measureSize);

async function measureSize(site: SeededSite, size: number): Promise<BenchRow[]> {
  const { caller, listId, tagId, row } = site;
  const rules = {
    match: "all",
    conditions: [
      { field: "status", operator: "equals", value: "subscribed" },
      { field: "customFields.seats", operator: "lessThan", value: 100 },
    ],
  };
  const segmentId = await caller.create("/segments", { name: "Everyone", rules });
  const audiences = { list: { listId }, tag: { tagId }, segment: { segmentId } };
  const rows: BenchRow[] = [row];
  for (const [name, audience] of Object.entries(audiences))
    rows.push(...(await campaignRows(site, `${formatNumber(size)} by ${name}`, audience)));
  return rows;
}

interface CampaignRun {
  /** Until every recipient was queued in a lane. */
  fannedOutSeconds: number;
  memory: { before: number; peak: number };
}

async function campaignRows(
  site: SeededSite,
  label: string,
  audience: object,
): Promise<BenchRow[]> {
  const { service, caller } = site;
  const size = site.contactIds.length;
  const { configId: sendingConfigId, templateId } = caller;
  const campaign = { name: "News", templateId, sendingConfigId, ...audience };
  const id = await caller.create("/campaigns", campaign);
  const run = await measure(service, () => sendCampaign(site, id, label), 1);
  const { seconds, cpu, units } = run;
  const { fannedOutSeconds, memory } = run.result;
  const accounting = await fetchAccounting(caller, id);
  return [
    {
      what: `${label}: handed over`,
      value: formatPerSecond(size / seconds),
      note:
        `in ${formatNumber(seconds)} s; ` +
        `all queued in the lane after ${formatNumber(fannedOutSeconds)} s`,
    },
    cpuRow(label, cpu, { unit: "recipient", count: size }),
    equalRow(`${label}: sent, as the campaign counts`, {
      value: (accounting.sent ?? 0) + (accounting.delivered ?? 0),
      expected: size,
    }),
    ...Object.entries(unitLimits).map(([worker, limit]) =>
      unitRow(`${label}: write units per recipient for ${limit.purpose}`, {
        units: units[worker] ?? noUnits,
        size,
        limit,
      }),
    ),
    {
      what: `${label}: memory`,
      value: megabytes(memory.peak),
      note: `peak of all workers and queues; ${megabytes(memory.before)} before the start`,
    },
  ];
}

const megabytes = (bytes: number): string => `${formatNumber(bytes / 1e6)} MB`;

function unitRow(
  what: string,
  { units, size, limit }: { units: MeasuredUnits; size: number; limit: UnitLimit },
): BenchRow {
  const [writes, reads] = [units.writeUnits / size, units.readUnits / size];
  return {
    what,
    value: formatNumber(writes),
    aim: atMost(limit.writes, writes),
    note:
      `and ${formatNumber(reads)} read units (at most ${limit.reads}), ` +
      `in ${formatNumber(units.runs)} runs`,
  };
}

async function sendCampaign(
  { service, caller, contactIds }: SeededSite,
  id: number,
  label: string,
): Promise<CampaignRun> {
  const { sandbox } = service;
  const size = contactIds.length;
  const before = await service.query("memory");
  const target = sandbox.stats().accepted + size;
  const startedAt = performance.now();
  await caller.call("POST", `/campaigns/${id}/send`);
  let [peak, fannedOutSeconds] = [before, 0];
  for (let left = size; left > 0; left = target - sandbox.stats().accepted) {
    showProgress(label, size - left, size);
    await clock.sleep(200);
    peak = Math.max(peak, await service.query("memory"));
    const { accepted = 0 } = await fetchAccounting(caller, id);
    if (accepted >= size) fannedOutSeconds ||= (performance.now() - startedAt) / 1000;
  }
  return { fannedOutSeconds, memory: { before, peak } };
}

async function fetchAccounting({ call }: BenchOrganization, id: number) {
  const { data } = await call<{ accounting: Record<string, number> }>("GET", `/campaigns/${id}`);
  return data.accounting;
}
