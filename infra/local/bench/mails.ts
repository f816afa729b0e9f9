// Sending a lot of mail, and what it took: shared by the benches of POST /send/batch and POST /send.
import * as clock from "../../../shared/clock.ts";
import type { Cost } from "./process.ts";
import { atMost, median, milliseconds, number, percentile, perSecond, progress, type Row } from "./report.ts";
import type { Measured, Spent } from "./service.ts";
import type { Trip } from "./trips.ts";

export interface Run {
  mails: number;
  /** From the first request until the provider had the last mail. */
  seconds: number;
  /** Milliseconds of each request. */
  latencies: number[];
  spent: Record<string, Spent>;
  cost: Cost;
  /** CPU of this process: callers and sandbox. */
  callersCpu: number;
}

/** `post` sends `mails` mails in all, and answers with how long its requests took. */
export async function measuredRun(service: Measured, what: string, mails: number, post: () => Promise<number[]>): Promise<Run> {
  service.spent();
  const [before, cpuBefore, target] = [await service.ask("cost"), process.cpuUsage(), service.sandbox.stats().accepted + mails];
  const began = performance.now();
  const posted = post();
  while (service.sandbox.stats().accepted < target) {
    progress(what, mails - target + service.sandbox.stats().accepted, mails);
    await Promise.race([clock.sleep(10), posted.then(() => clock.sleep(10))]);
  }
  const seconds = (performance.now() - began) / 1000;
  const latencies = await posted;
  const { user, system } = process.cpuUsage(cpuBefore);
  await service.quiet();
  return {
    mails,
    seconds,
    latencies,
    spent: service.spent(),
    cost: since(before, await service.ask("cost")),
    callersCpu: (user + system) / 1000,
  };
}

export const since = (before: Cost, after: Cost): Cost => ({
  cpu: after.cpu - before.cpu,
  engineCpu: after.engineCpu === undefined ? undefined : after.engineCpu - before.engineCpu!,
});

export const cpuRow = (how: string, of: string, { cpu, engineCpu }: Cost, n: number): Row => ({
  what: `${how}: CPU per ${of}`,
  value: milliseconds(cpu / n),
  note: `beside it the engine ${engineCpu === undefined ? "?" : number(engineCpu / n)}`,
});

/** How fast, and what it cost in time. */
export const speedRows = ({ mails, seconds, latencies, cost, callersCpu }: Run, how: string): Row[] => [
  { what: `${how}: accepted and handed over`, value: perSecond(mails / seconds), note: `${number(mails)} mails in ${number(seconds)} s` },
  {
    what: `${how}: acceptance, p50 and p99`,
    value: `${number(median(latencies))}, ${milliseconds(percentile(latencies, 0.99))}`,
    note: "while mails are handed over by the same process",
  },
  {
    what: `${how}: CPU per mail`,
    value: milliseconds(cost.cpu / mails),
    note: `beside it the engine ${cost.engineCpu === undefined ? "?" : number(cost.engineCpu / mails)}, callers and sandbox ${number(callersCpu / mails)}`,
  },
];

/** DynamoDB's request units per mail over acceptance (a route) and hand-over (a queue). */
export function unitRows(
  { mails, spent }: Run,
  how: string,
  [route, queue]: [string, string],
  aims: { writes: number; reads: number },
): Row[] {
  const parts = [route, queue].map((name) => spent[name] ?? { times: 0, readUnits: 0, writeUnits: 0 });
  const row = (what: string, unit: "readUnits" | "writeUnits", aim: number): Row => {
    const [accept, handOver] = parts.map((part) => part[unit] / mails) as [number, number];
    return {
      what: `${how}: ${what} per mail`,
      value: number(accept + handOver),
      aim: atMost(aim, accept + handOver),
      note: `${number(accept)} to accept, ${number(handOver)} to hand over`,
    };
  };
  return [row("write units", "writeUnits", aims.writes), row("read units", "readUnits", aims.reads)];
}

/** Calls that wait for each other. With one caller and nothing else to do, so that what runs side by side is seen to. */
export function tripRow(trips: Trip[], what: string, how: string): Row {
  const found = trips.filter((trip) => trip.what === what).sort((a, b) => a.rounds.length - b.rounds.length);
  const usual = found[Math.floor(found.length / 2)];
  return {
    what: `${how}: calls in sequence`,
    value: usual ? String(usual.rounds.length) : "none",
    note: usual ? `${usual.calls} calls in all${told(usual)}` : "",
  };
}

const mostTold = 8;

const told = ({ rounds }: Trip): string => (rounds.length > mostTold ? "" : `: ${rounds.map(round).join(" → ")}`);

/** `GetItem + 10 BatchGetItem` */
const round = (names: string[]): string =>
  [...Map.groupBy(names, (name) => name)].map(([name, all]) => (all.length > 1 ? `${all.length} ${name}` : name)).join(" + ");
