// Segments, search and export of sites of different sizes: time, request units, and how both grow with the site.
import * as clock from "../../../shared/clock.ts";
import { inParallel } from "../../../shared/parallel.ts";
import { type Organization, organization } from "./callers.ts";
import { atMost, balance, median, number, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";

const rules = {
  "one field": { match: "all", conditions: [{ field: "customFields.plan", operator: "equals", value: "pro" }] },
  "five conditions, nested": {
    match: "all",
    conditions: [
      { field: "status", operator: "equals", value: "subscribed" },
      {
        match: "any",
        conditions: [
          { field: "customFields.plan", operator: "in", value: ["pro", "team"] },
          { field: "customFields.seats", operator: "greaterThan", value: 30 },
        ],
      },
      { match: "all", conditions: [{ field: "firstName", operator: "contains", value: "7" }] },
      { field: "company", operator: "exists" },
    ],
  },
  "tag and engagement": {
    match: "all",
    conditions: [
      { field: "tag", operator: "equals", value: "customer" },
      { field: "lastOpenedAt", operator: "inLastDays", value: 30 },
    ],
  },
  "a date within text": {
    match: "all",
    conditions: [{ field: "customFields.renews", operator: "before", value: "2026-07-01" }],
  },
};

/** Of one thing at one size. */
interface Figure {
  what: string;
  milliseconds: number;
  readUnits: number;
  /** Things that it said. */
  note?: string;
  /** It reads everybody, and should cost so. */
  whole?: boolean;
}

export async function run(sizes: number[]): Promise<Row[]> {
  const all: { size: number; figures: Figure[]; rows: Row[] }[] = [];
  for (const size of sizes) all.push({ size, ...(await ofSize(size)) });
  return all.flatMap(({ size, figures, rows }, i) => [
    ...rows,
    ...figures.map((figure, k) => rowOf(size, figure, i ? { size: all[0]!.size, ...all[0]!.figures[k]! } : undefined)),
  ]);
}

// What reads everybody reads 650 bytes each, at half a unit to 4 KB.
const unitsPerThousand = 90;

function rowOf(size: number, { what, milliseconds, readUnits, note, whole }: Figure, small: (Figure & { size: number }) | undefined): Row {
  const grown = small && `${times(milliseconds, small.milliseconds)} the time and ${times(readUnits, small.readUnits)} the units`;
  return {
    what: `${number(size)}: ${what}`,
    value: `${number(milliseconds)} ms`,
    note: [`${number(readUnits)} read units`, note, grown && `${grown} of ${number(small.size)}`].filter(Boolean).join(", "),
    ...(whole && { aim: { ...atMost((unitsPerThousand * size) / 1000 + 50, readUnits, "R") } }),
  };
}

const times = (a: number, b: number): string => `${number(a / b)} x`;

async function ofSize(size: number): Promise<{ figures: Figure[]; rows: Row[] }> {
  const service = await measured();
  try {
    const scene = await populated(service, size);
    const figures: Figure[] = [];
    for (const [name, one] of Object.entries(rules)) figures.push(...(await segmentFigures(scene, name, one)));
    figures.push(...(await searchFigures(scene)));
    const exported = await exportFigure(scene, size);
    return { figures: [...figures, exported.figure], rows: [scene.row, ...exported.rows] };
  } finally {
    await service.stop();
  }
}

export interface Populated {
  service: Measured;
  caller: Organization;
  listId: number;
  tagId: number;
  contactIds: number[];
  row: Row;
}

const atOnce = 5000;

/** One size after the other, each on a service of its own. */
export async function eachSize(
  sizes: number[],
  options: { all?: boolean },
  ofSize: (scene: Populated, size: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of sizes) {
    const service = await measured();
    try {
      rows.push(...(await ofSize(await populated(service, size, options), size)));
    } finally {
      await service.stop();
    }
  }
  return rows;
}

/** An organization whose site has so many contacts. `all`: every one of them may be written to. */
export async function populated(service: Measured, n: number, { all = false } = {}): Promise<Populated> {
  const caller = await organization(service);
  const id = async (path: string, body: object) => (await caller.call<{ id: number }>("POST", path, body)).data.id;
  const { orgId, siteId } = caller;
  const [listId, tagId] = [await id("/lists", { name: "Everyone" }), await id("/tags", { name: "customer" })];
  const began = performance.now();
  const parts = Array.from({ length: Math.ceil(n / atOnce) }, (_, i) => i * atOnce);
  let done = 0;
  const ids = await inParallel(2, parts, async (from) => {
    const some = Math.min(atOnce, n - from);
    const first = await service.ask("crowd", { orgId, siteId, from, n: some, listId, tagId, all, pointers: all });
    done += some;
    progress("contacts are put into the table", done, n);
    return Array.from({ length: some }, (_, i) => first + i);
  });
  const seconds = (performance.now() - began) / 1000;
  return {
    service,
    caller,
    listId,
    tagId,
    contactIds: ids.flat(),
    row: { what: `${number(n)} contacts are there`, value: `${number(seconds)} s` },
  };
}

const samples = 3;

/** The median of a few, when nothing else goes on; the first only warms up, unless it takes too long to be done again. */
async function figureOf({ service }: Populated, what: string, work: () => Promise<unknown>): Promise<Figure & { answer: unknown }> {
  progress(what);
  let answer: unknown;
  let took: number[] = [];
  for (let n = 0; n <= samples && !(took[0]! > slowMs); n++) {
    if (n <= 1) {
      await service.quiet(0.2);
      service.spent();
      took = [];
    }
    const began = performance.now();
    answer = await work();
    took.push(performance.now() - began);
  }
  await service.quiet(0.2);
  return { what, milliseconds: median(took), readUnits: readUnits(service.spent()) / took.length, answer };
}
const slowMs = 5000;

const readUnits = (spent: ReturnType<Measured["spent"]>): number => Object.values(spent).reduce((sum, one) => sum + one.readUnits, 0);

async function segmentFigures(scene: Populated, name: string, one: object): Promise<Figure[]> {
  const { call } = scene.caller;
  const { id } = (await call<{ id: number }>("POST", "/segments", { name, rules: one })).data;
  const count = await figureOf(scene, `${name}: count`, async () => {
    return (await call<{ contactCount: number }>("POST", `/segments/${id}/count`, {})).data.contactCount;
  });
  const page = await figureOf(scene, `${name}: first page`, async () => {
    return (await call<{ contacts: unknown[] }>("GET", `/segments/${id}/contacts?limit=50`)).data.contacts.length;
  });
  return [
    { ...count, whole: true, note: `${number(count.answer as number)} match` },
    { ...page, note: `${page.answer} shown` },
  ];
}

/** What many have, and what one has: then all of it is read. */
async function searchFigures(scene: Populated): Promise<Figure[]> {
  const found = async (search: string) => {
    const { data } = await scene.caller.call<{ contacts: unknown[] }>("GET", `/contacts?limit=50&search=${encodeURIComponent(search)}`);
    return data.contacts.length;
  };
  const common = await figureOf(scene, "search for what many have", () => found("lovelace7"));
  const rare = await figureOf(scene, "search for what one has", () => found("reader777."));
  return [
    { ...common, note: `${common.answer} shown` },
    { ...rare, whole: true, note: `${rare.answer} shown` },
  ];
}

interface Export {
  id: number;
  status: string;
  rows: number;
  downloadUrl: string;
}

async function exportFigure({ service, caller: { call } }: Populated, size: number): Promise<{ figure: Figure; rows: Row[] }> {
  await service.quiet(0.2);
  service.spent();
  const before = await service.ask("memory");
  let most = before;
  const began = performance.now();
  let { data } = await call<Export>("POST", "/exports", { type: "contacts", format: "csv" });
  while (data.status === "queued" || data.status === "running") {
    progress("export");
    await clock.sleep(100);
    most = Math.max(most, await service.ask("memory"));
    data = (await call<Export>("GET", `/exports/${data.id}`)).data;
  }
  const milliseconds = performance.now() - began;
  await service.quiet(0.2);
  const text = await (await fetch(data.downloadUrl)).text();
  const figure = {
    what: "export as CSV, by a worker",
    milliseconds,
    readUnits: readUnits(service.spent()),
    note: `${number(size / (milliseconds / 1000))} contacts/s, memory ${megabytes(before)} before and ${megabytes(most)} at most`,
  };
  return { figure, rows: [balance(`${number(size)}: lines of the export`, text.trimEnd().split("\n").length - 1, size)] };
}

const megabytes = (bytes: number): string => `${number(bytes / 1e6)} MB`;
