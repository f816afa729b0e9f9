// Very many enrollments of one sequence that fall due in the same minute: at a wait, at a mail, and at the end.
import { chunked, inParallel } from "../../../shared/parallel.ts";
import type { Organization } from "./callers.ts";
import { cpuRow, since } from "./mails.ts";
import type { Cost } from "./process.ts";
import { atMost, balance, number, perSecond, progress, type Row } from "./report.ts";
import { eachSize, type Populated } from "./segments.ts";
import type { Measured, Spent } from "./service.ts";

export const run = (sizes: number[]): Promise<Row[]> => eachSize(sizes, { all: true }, ofSize);

/** Each wait ends all together: everybody is in within one of them. */
const waitMinutes = 60;

async function ofSize(scene: Populated, size: number): Promise<Row[]> {
  const { caller, service, contactIds } = scene;
  const { id } = (await caller.call<{ id: number }>("POST", "/sequences", { name: "Way", sendingConfigId: caller.configId })).data;
  const wait = { type: "delay", delayMinutes: waitMinutes };
  const steps = [wait, wait, { type: "email", templateId: caller.templateId }, wait];
  await caller.call("POST", `/sequences/${id}/steps`, { steps });
  await caller.call("PUT", `/sequences/${id}`, { status: "active" });
  const enrolled = await enroll(service, caller, id, contactIds);
  const how = number(size);
  const waited = await fallDue(service, caller, id, size, ({ steps: [, second] }) => second!.stats.reached);
  const mailed = await fallDue(service, caller, id, size, ({ steps: [, , third] }) => third!.stats.sent);
  const ended = await fallDue(service, caller, id, size, ({ stats }) => stats.completed);
  return [
    { what: `${how}: enrolled, 100 to a call`, value: perSecond(size / enrolled.seconds), note: unitsOf(enrolled.spent, size) },
    ...rowsOf(`${how}: a wait`, size, waited, 3),
    ...rowsOf(`${how}: a mail`, size, mailed, 5.1),
    balance(`${how}: mails at the provider`, service.sandbox.stats().accepted, size),
    ...rowsOf(`${how}: the end`, size, ended, 6),
  ];
}

interface Passed {
  seconds: number;
  cost: Cost;
  spent: Record<string, Spent>;
}

async function enroll(service: Measured, { call }: Organization, sequenceId: number, contactIds: number[]): Promise<Passed> {
  await service.quiet(0.5);
  service.spent();
  const before = await service.ask("cost");
  const began = performance.now();
  let done = 0;
  await inParallel(4, chunked(contactIds, 100), async (some) => {
    await call("POST", `/sequences/${sequenceId}/enroll`, { contactIds: some });
    done += some.length;
    progress("contacts are enrolled", done, contactIds.length);
  });
  const seconds = (performance.now() - began) / 1000;
  await service.quiet(1);
  return { seconds, cost: since(before, await service.ask("cost")), spent: service.spent() };
}

interface Detail {
  steps: { stats: { reached: number; sent: number } }[];
  stats: { completed: number };
}

/** Lets the wait pass, and what is due be done. `done`: for how many it is. */
async function fallDue(
  { url, ...service }: Measured,
  { call }: Organization,
  id: number,
  size: number,
  done: (detail: Detail) => number,
): Promise<Passed> {
  const local = (path: string, body: object) => fetch(`${url}/_local/${path}`, { method: "POST", body: JSON.stringify(body) });
  await local("clock", { advanceSeconds: (waitMinutes + 2) * 60 });
  service.spent();
  const before = await service.ask("cost");
  const began = performance.now();
  for (let n = 0; n < size; progress("what is due is done", n, size)) {
    await local("settle", { waitSeconds: 0, maxWaitedSeconds: 1, limitSeconds: 2 });
    n = done((await call<Detail>("GET", `/sequences/${id}/detail`)).data);
  }
  const seconds = (performance.now() - began) / 1000;
  await service.quiet(1);
  return { seconds, cost: since(before, await service.ask("cost")), spent: service.spent() };
}

const rowsOf = (what: string, size: number, { seconds, cost, spent }: Passed, aim: number): Row[] => {
  const writes = sum(spent, "writeUnits") / size;
  return [
    { what: `${what}: steps`, value: perSecond(size / seconds), note: `in ${number(seconds)} s` },
    cpuRow(what, "step", cost, size),
    { what: `${what}: write units per step`, value: number(writes), aim: atMost(aim, writes), note: unitsOf(spent, size) },
  ];
};

const workers = ["advance", "lane"];

const sum = (spent: Record<string, Spent>, unit: "readUnits" | "writeUnits"): number =>
  workers.reduce((total, name) => total + (spent[name]?.[unit] ?? 0), 0);

const unitsOf = (spent: Record<string, Spent>, size: number): string =>
  Object.entries(spent)
    .filter(([name]) => !name.startsWith("GET "))
    .map(([name, { readUnits, writeUnits }]) => `${name} ${number(writeUnits / size)} W, ${number(readUnits / size)} R`)
    .join("; ");
