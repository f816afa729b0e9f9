// Measures the time, CPU and request units of some work.
import * as clock from "../../../shared/clock.ts";
import type { CallTrace } from "./call-trace.ts";
import type { MeasuredService, MeasuredUnits } from "./measured-service.ts";
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
import type { CpuTime } from "./service-process.ts";

/** The cost of some work, measured until the service is idle again. */
export interface Measurement<T = unknown> {
  result: T;
  /** The duration of the work, without the wait for an idle service. */
  seconds: number;
  units: Record<string, MeasuredUnits>;
  /** CPU time of the service and its engine. */
  cpu: CpuTime;
  /** CPU milliseconds of this process: callers and sandbox. */
  callersCpu: number;
}

/** Measures work between two moments at which the service is idle. */
export async function measure<T>(
  service: MeasuredService,
  work: () => Promise<T>,
  idleSeconds = 0.4,
): Promise<Measurement<T>> {
  await service.waitUntilIdle(idleSeconds);
  service.takeUnits();
  const [before, callersBefore] = [await service.query("cpuTime"), process.cpuUsage()];
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(callersBefore);
  await service.waitUntilIdle(idleSeconds);
  const after = await service.query("cpuTime");
  return {
    result,
    seconds,
    units: service.takeUnits(),
    cpu: {
      cpu: after.cpu - before.cpu,
      engineCpu:
        after.engineCpu === undefined ? undefined : after.engineCpu - (before.engineCpu ?? 0),
    },
    callersCpu: (user + system) / 1000,
  };
}

/** The request latencies of `mails` mails, measured until the provider has the last one. */
export type MailRun = Measurement<number[]> & { mails: number };

interface MeasuredMails {
  progressText: string;
  mails: number;
  /** The mails that the provider has accepted so far. Without it, those of the sandbox. */
  countAccepted?(): number;
}

/** `sendAll` sends `mails` mails in all and returns the milliseconds of its requests. */
export async function measureMails(
  service: MeasuredService,
  { progressText, mails, countAccepted = () => service.sandbox.stats().accepted }: MeasuredMails,
  sendAll: () => Promise<number[]>,
): Promise<MailRun> {
  const run = await measure(service, async () => {
    const before = countAccepted();
    const latencies = sendAll();
    for (let accepted = 0; accepted < mails; accepted = countAccepted() - before) {
      showProgress(progressText, accepted, mails);
      // The race fails as soon as a request fails.
      await Promise.race([clock.sleep(10), latencies.then(() => clock.sleep(10))]);
    }
    return latencies;
  });
  return { ...run, mails };
}

export const cpuRow = (
  label: string,
  { cpu, engineCpu }: CpuTime,
  { unit, count }: { unit: string; count: number },
): BenchRow => ({
  what: `${label}: CPU per ${unit}`,
  value: formatMs(cpu / count),
  note: `and ${formatEngineCpu(engineCpu, count)}`,
});

const formatEngineCpu = (engineCpu: number | undefined, n: number): string =>
  `${engineCpu === undefined ? "?" : formatNumber(engineCpu / n)} ms of the engine`;

export const noUnits: MeasuredUnits = { runs: 0, readUnits: 0, writeUnits: 0 };

/** Throughput, latency and CPU. */
export const speedRows = (
  { mails, seconds, result: latencies, cpu, callersCpu }: MailRun,
  label: string,
): BenchRow[] => [
  {
    what: `${label}: accepted and handed over`,
    value: formatPerSecond(mails / seconds),
    note: `${formatNumber(mails)} mails in ${formatNumber(seconds)} s`,
  },
  {
    what: `${label}: acceptance, p50 and p99`,
    value: `${formatNumber(median(latencies))}, ${formatMs(percentile(latencies, 0.99))}`,
    note: "while the same process also hands over mails",
  },
  {
    what: `${label}: CPU per mail`,
    value: formatMs(cpu.cpu / mails),
    note:
      `and ${formatEngineCpu(cpu.engineCpu, mails)}, ${formatNumber(callersCpu / mails)} ms of ` +
      "callers and sandbox",
  },
];

/** The route that accepts a mail and the queue whose worker hands it over. */
export interface MailPaths {
  accept: string;
  handOver: string;
}

/** The most write and read units per mail. */
interface UnitAims {
  writes: number;
  reads: number;
}

/** DynamoDB request units per mail. */
export function unitRows(
  { mails, units }: MailRun,
  label: string,
  { paths, aims }: { paths: MailPaths; aims: UnitAims },
): BenchRow[] {
  const parts = [paths.accept, paths.handOver].map((name) => units[name] ?? noUnits);
  const row = (what: string, unit: "readUnits" | "writeUnits", aim: number): BenchRow => {
    const [accept, handOver] = parts.map((part) => part[unit] / mails) as [number, number];
    return {
      what: `${label}: ${what} per mail`,
      value: formatNumber(accept + handOver),
      aim: atMost(aim, accept + handOver),
      note: `${formatNumber(accept)} to accept, ${formatNumber(handOver)} to hand over`,
    };
  };
  return [
    row("write units", "writeUnits", aims.writes),
    row("read units", "readUnits", aims.reads),
  ];
}

/**
 * The longest chain of calls of a request or message. Needs an otherwise idle service, so that
 * parallel calls show as such.
 */
export function callSequenceRow(traces: CallTrace[], what: string, label: string): BenchRow {
  const matching = traces
    .filter((trace) => trace.what === what)
    .sort((a, b) => a.sequence.length - b.sequence.length);
  const typical = matching[Math.floor(matching.length / 2)];
  return {
    what: `${label}: calls in sequence`,
    value: typical ? String(typical.sequence.length) : "none",
    note: typical ? `${typical.calls} calls in all${describeSequence(typical)}` : "",
  };
}

const maxShownSteps = 8;

const describeSequence = ({ sequence }: CallTrace): string =>
  sequence.length > maxShownSteps ? "" : `: ${sequence.map(countNames).join(" → ")}`;

/** `GetItem + 10 BatchGetItem` */
const countNames = (names: string[]): string =>
  [...Map.groupBy(names, (name) => name)]
    .map(([name, all]) => (all.length > 1 ? `${all.length} ${name}` : name))
    .join(" + ");
