// A campaign to every contact of a site: from the request that sends it until the provider has the
// last mail.
import * as clock from "../../../shared/clock.ts";
import { type CountingProvider, startCountingProvider } from "./counting-provider.ts";
import { startCountingSmtpServer } from "./counting-smtp-server.ts";
import { cpuRow, measure, noUnits } from "./measure.ts";
import {
  type LaneProcess,
  type MeasuredUnits,
  startLaneProcess,
  startMeasuredService,
} from "./measured-service.ts";
import type { BenchOrganization } from "./organizations.ts";
import {
  atLeast,
  atMost,
  type BenchRow,
  equalRow,
  formatMs,
  formatNumber,
  formatPerSecond,
  showProgress,
} from "./report.ts";
import { forEachSize, type SeededSite, seedSite } from "./seeded-site.ts";

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

const maxMemory = 400e6;

export const run = (sizes: number[]): Promise<BenchRow[]> =>
  forEachSize(sizes, { all: true }, measureSize);

/** Larger sites are measured by list only. */
const maxSizeOfAllAudiences = 20_000;

async function measureSize(site: SeededSite, size: number): Promise<BenchRow[]> {
  const { caller, listId, tagId, row, service } = site;
  const rules = {
    match: "all",
    conditions: [
      { field: "status", operator: "equals", value: "subscribed" },
      { field: "customFields.seats", operator: "lessThan", value: 100 },
    ],
  };
  const segmentId = await caller.create("/segments", { name: "Everyone", rules });
  const audiences = Object.entries({ list: { listId }, tag: { tagId }, segment: { segmentId } });
  const rows: BenchRow[] = [row];
  for (const [name, audience] of size > maxSizeOfAllAudiences ? audiences.slice(0, 1) : audiences)
    rows.push(
      ...(await campaignRows(site, {
        label: `${formatNumber(size)} by ${name}`,
        audience,
        countAccepted: () => service.sandbox.stats().accepted,
      })),
    );
  return rows;
}

/** The same with a stand-in of the provider that counts the mails of each recipient. */
export const runCounted = (sizes: number[]): Promise<BenchRow[]> =>
  countedRowsOfSizes(sizes, { latencyMs: 0 });

/** The stand-in takes half a second for each response, and another process hands over the mails. */
export const runSlow = (sizes: number[]): Promise<BenchRow[]> =>
  countedRowsOfSizes(sizes, { latencyMs: 500 });

const minSmtpMailsPerSecond = 500;

/** A campaign with a sending config of an SMTP server, which counts the mails of each recipient. */
export async function runSmtp(sizes: number[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(...(await smtpRows(size)));
  return rows;
}

async function smtpRows(size: number): Promise<BenchRow[]> {
  const server = await startCountingSmtpServer(size, 0);
  const service = await startMeasuredService({ PROVIDER_URL_SMTP: server.url });
  try {
    const site = await seedSite(service, size, { all: true });
    const configId = await site.caller.create("/sending-configs", smtpConfig);
    const label = `${formatNumber(size)} by SMTP`;
    const rows = await campaignRows(
      { ...site, caller: { ...site.caller, configId } },
      {
        label,
        audience: { listId: site.listId },
        countAccepted: server.accepted,
        minPerSecond: minSmtpMailsPerSecond,
      },
    );
    return [
      site.row,
      ...rows,
      ...countRows(label, server),
      {
        what: `${label}: connections`,
        value: formatNumber(server.mostCallsInFlight()),
        note: "the most at the same time",
      },
    ];
  } finally {
    await service.stop();
    await server.stop();
  }
}

/** A sending config of an SMTP server without a login. */
export const smtpConfig = {
  provider: "smtp",
  fromEmail: "orders@shop.example",
  credentials: { host: "smtp.shop.example" },
};

function countRows(label: string, provider: CountingProvider): BenchRow[] {
  const { none, several, strangers } = provider.takeCounts();
  return [
    equalRow(`${label}: recipients without a mail`, { value: none, expected: 0 }),
    equalRow(`${label}: recipients with several mails`, { value: several, expected: 0 }),
    equalRow(`${label}: mails to other addresses`, { value: strangers, expected: 0 }),
  ];
}

async function countedRowsOfSizes(
  sizes: number[],
  { latencyMs }: { latencyMs: number },
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(...(await countedRows(size, latencyMs)));
  return rows;
}

async function countedRows(size: number, latencyMs: number): Promise<BenchRow[]> {
  const provider = await startCountingProvider(size, latencyMs);
  const isSlow = latencyMs > 0;
  const service = await startMeasuredService({
    PROVIDER_URL_SENDGRID: provider.url,
    ...(isSlow && { LANES_ELSEWHERE: "on" }),
  });
  let laneProcess: LaneProcess | undefined;
  try {
    const site = await seedSite(service, size, { all: true });
    if (isSlow) laneProcess = await startLaneProcess(service);
    const label = `${formatNumber(size)} counted`;
    const { listId } = site;
    const rows = await campaignRows(site, {
      label,
      audience: { listId },
      countAccepted: provider.accepted,
    });
    return [
      site.row,
      ...rows,
      ...(laneProcess ? [laneCpuRow(label, laneProcess, size)] : []),
      ...countRows(label, provider),
      {
        what: `${label}: calls in flight`,
        value: formatNumber(provider.mostCallsInFlight()),
        note: "the most at the same time",
      },
    ];
  } finally {
    await laneProcess?.end();
    await service.stop();
    await provider.stop();
  }
}

const laneCpuRow = (label: string, process: LaneProcess, size: number): BenchRow => ({
  what: `${label}: CPU per recipient of the process of the lanes`,
  value: formatMs((process.cpuMs() ?? Number.NaN) / size),
  note: "with its start",
});

const paragraph =
  '<p style="color:#333;line-height:1.5">In October we wash the last potatoes, press the apples ' +
  'and close the shop at six: <a href="https://shop.example/autumn">what else is new</a>.</p>\n';

/** A newsletter of 6 kB. The footer with the unsubscribe link is added to it. */
const newsletter = {
  name: "News",
  subject: '{{ firstName | default: "Neighbour" }}, the farm in October',
  html: `<!doctype html><html><body style="font-family:sans-serif">
<h1>Hello {{ firstName | default: "neighbour" }},</h1>
<p>here is what grows in October.</p>
${paragraph.repeat(28)}
<p>You get this mail at {{ email }}.</p></body></html>`,
};

interface MeasuredCampaign {
  label: string;
  /** The fields of the campaign that select the recipients. */
  audience: object;
  /** The mails that the provider has accepted, of all campaigns. */
  countAccepted(): number;
  /** The aim for the mails that are handed over in a second. */
  minPerSecond?: number;
}

interface CampaignRun {
  /** Until every recipient was queued in a lane. */
  fannedOutSeconds: number;
  memory: { before: number; peak: number };
}

async function campaignRows(
  site: SeededSite,
  { label, audience, countAccepted, minPerSecond }: MeasuredCampaign,
): Promise<BenchRow[]> {
  const { service, caller } = site;
  const size = site.contactIds.length;
  const { configId: sendingConfigId } = caller;
  const templateId = await caller.create("/templates", newsletter);
  const campaign = { name: "News", templateId, sendingConfigId, ...audience };
  const id = await caller.create("/campaigns", campaign);
  const sending = () => sendCampaign(site, id, { label, countAccepted });
  // A runner of the lane reports its units some seconds after its last mail.
  const run = await measure(service, sending, 3);
  const { seconds, cpu, units } = run;
  const { fannedOutSeconds, memory } = run.result;
  const accounting = await fetchAccounting(caller, id);
  return [
    {
      what: `${label}: handed over`,
      value: formatPerSecond(size / seconds),
      ...(minPerSecond && { aim: atLeast(minPerSecond, size / seconds, "/s") }),
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
      aim: atMost(maxMemory / 1e6, memory.peak / 1e6, "MB"),
      note: `peak of all workers and queues; ${megabytes(memory.before)} before the start`,
    },
    await auditRow(site, id, label),
  ];
}

const maxAuditReads = 0.05;

/** The audit that the end of the campaign has started, once more. */
async function auditRow(
  { service, caller, contactIds }: SeededSite,
  id: number,
  label: string,
): Promise<BenchRow> {
  const whenComplete = async (): Promise<void> => {
    for (let status = "auditing"; status !== "complete"; ) {
      await clock.sleep(50);
      ({ status } = (await caller.call<{ status: string }>("GET", `/campaigns/${id}/audit`)).data);
    }
  };
  await whenComplete();
  const { seconds, units } = await measure(service, async () => {
    await caller.call("POST", `/campaigns/${id}/audit`);
    await whenComplete();
  });
  const { readUnits, writeUnits } = units.jobs ?? noUnits;
  const reads = readUnits / contactIds.length;
  return {
    what: `${label}: read units per recipient for the audit`,
    value: formatNumber(reads),
    aim: atMost(maxAuditReads, reads),
    note: `and ${formatNumber(writeUnits)} write units in all, in ${formatNumber(seconds)} s`,
  };
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
  { label, countAccepted }: Pick<MeasuredCampaign, "label" | "countAccepted">,
): Promise<CampaignRun> {
  const size = contactIds.length;
  const before = await service.query("memory");
  const target = countAccepted() + size;
  const startedAt = performance.now();
  await caller.call("POST", `/campaigns/${id}/send`);
  let [peak, fannedOutSeconds] = [before, 0];
  for (let [left, polls] = [size, 0]; left > 0; left = target - countAccepted(), polls++) {
    showProgress(label, size - left, size);
    await clock.sleep(100);
    if (polls % 5) continue;
    peak = Math.max(peak, await service.query("memory"));
    if (fannedOutSeconds) continue;
    const { accepted = 0 } = await fetchAccounting(caller, id);
    if (accepted >= size) fannedOutSeconds = (performance.now() - startedAt) / 1000;
  }
  return { fannedOutSeconds, memory: { before, peak } };
}

async function fetchAccounting({ call }: BenchOrganization, id: number) {
  const { data } = await call<{ accounting: Record<string, number> }>("GET", `/campaigns/${id}`);
  return data.accounting;
}
