// Enrollments of one sequence that fall due in the same minute: at a wait, at a mail, and at the
// end.
import { inParallel, splitIntoBatches } from "../../../shared/kernel/parallel.ts";
import { cpuRow, type Measurement, measure } from "./measure.ts";
import type { MeasuredUnits } from "./measured-service.ts";
import {
  atMost,
  type BenchRow,
  equalRow,
  formatNumber,
  formatPerSecond,
  showProgress,
} from "./report.ts";
import { forEachSize, type SeededSite } from "./seeded-site.ts";

export const run = (sizes: number[]): Promise<BenchRow[]> =>
  forEachSize(sizes, { all: true }, measureSize);

/** All contacts enroll within one wait, so all of them are due together. */
const waitMinutes = 60;

async function measureSize(site: SeededSite, size: number): Promise<BenchRow[]> {
  const { caller, service } = site;
  const { configId: sendingConfigId, templateId } = caller;
  const id = await caller.create("/sequences", { name: "Welcome", sendingConfigId });
  const wait = { type: "delay", delayMinutes: waitMinutes };
  const steps = [wait, wait, { type: "email", templateId }, wait];
  await caller.call("POST", `/sequences/${id}/steps`, { steps });
  await caller.call("PUT", `/sequences/${id}`, { status: "active" });
  const enrolled = await enrollAll(site, id);
  const waited = await runDueSteps(site, id, ({ steps: [, second] }) => second!.stats.reached);
  const mailed = await runDueSteps(site, id, ({ steps: [, , third] }) => third!.stats.sent);
  const ended = await runDueSteps(site, id, ({ stats }) => stats.completed);
  const label = formatNumber(size);
  return [
    {
      what: `${label}: enrolled, 100 per call`,
      value: formatPerSecond(size / enrolled.seconds),
      note: formatUnits(enrolled.units, size),
    },
    ...toRows(`${label}: a wait`, waited, { size, maxWrites: 3 }),
    ...toRows(`${label}: a mail`, mailed, { size, maxWrites: 5.1 }),
    equalRow(`${label}: mails at the provider`, {
      value: service.sandbox.stats().accepted,
      expected: size,
    }),
    ...toRows(`${label}: the end`, ended, { size, maxWrites: 6 }),
  ];
}

const enrollAll = (
  { service, caller, contactIds }: SeededSite,
  sequenceId: number,
): Promise<Measurement> =>
  measure(
    service,
    async () => {
      let done = 0;
      await inParallel(4, splitIntoBatches(contactIds, 100), async (batch) => {
        await caller.call("POST", `/sequences/${sequenceId}/enroll`, { contactIds: batch });
        done += batch.length;
        showProgress("enrolling contacts", done, contactIds.length);
      });
    },
    1,
  );

interface SequenceTotals {
  steps: { stats: { reached: number; sent: number } }[];
  stats: { completed: number };
}

/** Ends the wait and runs the due steps, until `countDone` returns the number of contacts. */
async function runDueSteps(
  { service, caller, contactIds }: SeededSite,
  sequenceId: number,
  countDone: (detail: SequenceTotals) => number,
): Promise<Measurement> {
  const post = (path: string, body: object) =>
    fetch(`${service.url}/_local/${path}`, { method: "POST", body: JSON.stringify(body) });
  const path = `/sequences/${sequenceId}/detail`;
  const size = contactIds.length;
  const work = async () => {
    await post("clock", { advanceSeconds: (waitMinutes + 2) * 60 });
    for (let done = 0; done < size; showProgress("running due steps", done, size)) {
      await post("settle", { waitSeconds: 0, maxWaitedSeconds: 1, limitSeconds: 2 });
      done = countDone((await caller.call<SequenceTotals>("GET", path)).data);
    }
  };
  return measure(service, work, 1);
}

const toRows = (
  what: string,
  { seconds, cpu, units }: Measurement,
  { size, maxWrites }: { size: number; maxWrites: number },
): BenchRow[] => {
  const writes = sumUnits(units, "writeUnits") / size;
  return [
    {
      what: `${what}: steps`,
      value: formatPerSecond(size / seconds),
      note: `in ${formatNumber(seconds)} s`,
    },
    cpuRow(what, cpu, { unit: "step", count: size }),
    {
      what: `${what}: write units per step`,
      value: formatNumber(writes),
      aim: atMost(maxWrites, writes),
      note: formatUnits(units, size),
    },
  ];
};

const workers = ["advance", "lane"];

const sumUnits = (units: Record<string, MeasuredUnits>, unit: "readUnits" | "writeUnits"): number =>
  workers.reduce((total, name) => total + (units[name]?.[unit] ?? 0), 0);

const formatUnits = (units: Record<string, MeasuredUnits>, size: number): string =>
  Object.entries(units)
    .filter(([name]) => !name.startsWith("GET "))
    .map(
      ([name, { readUnits, writeUnits }]) =>
        `${name} ${formatNumber(writeUnits / size)} W, ${formatNumber(readUnits / size)} R`,
    )
    .join("; ");
