// Segments, search and export at different site sizes: time, request units, and how both grow with
// the site.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as clock from "../../../shared/clock.ts";
import { measure } from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { atMost, type BenchRow, equalRow, formatNumber, median, showProgress } from "./report.ts";
import { type SeededSite, seedSite } from "./seeded-site.ts";

const rules = {
  "one field": {
    match: "all",
    conditions: [{ field: "customFields.plan", operator: "equals", value: "pro" }],
  },
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

interface QueryFigure {
  what: string;
  milliseconds: number;
  readUnits: number;
  note?: string;
  /** The query reads every contact, so its units grow with the site. */
  readsEveryContact?: boolean;
}

export async function run(sizes: number[]): Promise<BenchRow[]> {
  const all: { size: number; figures: QueryFigure[]; rows: BenchRow[] }[] = [];
  for (const size of sizes) all.push({ size, ...(await measureSize(size)) });
  return all.flatMap(({ size, figures, rows }, i) => [
    ...rows,
    ...figures.map((figure, k) =>
      toRow(size, figure, i ? { size: all[0]!.size, ...all[0]!.figures[k]! } : undefined),
    ),
  ]);
}

// A contact has about 650 bytes, and 4 KB are half a unit.
const unitsPerThousand = 90;

function toRow(
  size: number,
  { what, milliseconds, readUnits, note, readsEveryContact }: QueryFigure,
  smallestSize: (QueryFigure & { size: number }) | undefined,
): BenchRow {
  const growthText =
    smallestSize &&
    `${formatRatio(milliseconds, smallestSize.milliseconds)} the time and ` +
      `${formatRatio(readUnits, smallestSize.readUnits)} the units`;
  return {
    what: `${formatNumber(size)}: ${what}`,
    value: `${formatNumber(milliseconds)} ms`,
    note: [
      `${formatNumber(readUnits)} read units`,
      note,
      growthText && `${growthText} of ${formatNumber(smallestSize.size)}`,
    ]
      .filter(Boolean)
      .join(", "),
    ...(readsEveryContact && {
      aim: { ...atMost((unitsPerThousand * size) / 1000 + 50, readUnits, "R") },
    }),
  };
}

const formatRatio = (a: number, b: number): string => `${formatNumber(a / b)} x`;

/** With data on disk, as `npm start` has it, further engines take part in counts. */
async function measureSize(size: number): Promise<{ figures: QueryFigure[]; rows: BenchRow[] }> {
  const folder = mkdtempSync(join(tmpdir(), "pennymail-bench-"));
  const service = await startMeasuredService({ DATA_DIR: folder });
  try {
    const site = await seedSite(service, size);
    const figures: QueryFigure[] = [];
    for (const [name, ruleSet] of Object.entries(rules))
      figures.push(...(await segmentFigures(site, name, ruleSet)));
    figures.push(...(await searchFigures(site)));
    const exported = await exportFigure(site, size);
    return { figures: [...figures, exported.figure], rows: [site.row, ...exported.rows] };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const samples = 3;

/**
 * The median of a few runs on an idle service. The first run warms up, unless it takes too long to
 * repeat.
 */
async function measureQuery(
  { service }: SeededSite,
  what: string,
  work: () => Promise<unknown>,
): Promise<QueryFigure & { answer: unknown }> {
  showProgress(what);
  let answer: unknown;
  let took: number[] = [];
  for (let n = 0; n <= samples && !(took[0]! > runOnceAboveMs); n++) {
    if (n <= 1) {
      await service.waitUntilIdle(0.2);
      service.takeUnits();
      took = [];
    }
    const startedAt = performance.now();
    answer = await work();
    took.push(performance.now() - startedAt);
  }
  await service.waitUntilIdle(0.2);
  return {
    what,
    milliseconds: median(took),
    readUnits: sumReadUnits(service.takeUnits()) / took.length,
    answer,
  };
}
const runOnceAboveMs = 5000;

const sumReadUnits = (units: ReturnType<MeasuredService["takeUnits"]>): number =>
  Object.values(units).reduce((sum, { readUnits }) => sum + readUnits, 0);

async function segmentFigures(
  site: SeededSite,
  name: string,
  ruleSet: object,
): Promise<QueryFigure[]> {
  const { call } = site.caller;
  const id = await site.caller.create("/segments", { name, rules: ruleSet });
  const count = await measureQuery(site, `${name}: count`, async () => {
    return (await call<{ contactCount: number }>("POST", `/segments/${id}/count`, {})).data
      .contactCount;
  });
  const page = await measureQuery(site, `${name}: first page`, async () => {
    return (await call<{ contacts: unknown[] }>("GET", `/segments/${id}/contacts?limit=50`)).data
      .contacts.length;
  });
  return [
    { ...count, readsEveryContact: true, note: `${formatNumber(count.answer as number)} match` },
    { ...page, note: `${page.answer} shown` },
  ];
}

/** A search with few matches reads every contact. */
async function searchFigures(site: SeededSite): Promise<QueryFigure[]> {
  const found = async (search: string) => {
    const { data } = await site.caller.call<{ contacts: unknown[] }>(
      "GET",
      `/contacts?limit=50&search=${encodeURIComponent(search)}`,
    );
    return data.contacts.length;
  };
  const common = await measureQuery(site, "search with many matches", () => found("lovelace7"));
  const rare = await measureQuery(site, "search with one match", () => found("reader777."));
  return [
    { ...common, note: `${common.answer} shown` },
    { ...rare, readsEveryContact: true, note: `${rare.answer} shown` },
  ];
}

interface Export {
  id: number;
  status: string;
  downloadUrl: string;
}

async function exportFigure(
  { service, caller: { call } }: SeededSite,
  size: number,
): Promise<{ figure: QueryFigure; rows: BenchRow[] }> {
  const before = await service.query("memory");
  let peak = before;
  const { seconds, units, result } = await measure(service, async () => {
    let { data } = await call<Export>("POST", "/exports", { type: "contacts", format: "csv" });
    while (data.status === "queued" || data.status === "running") {
      showProgress("export");
      await clock.sleep(100);
      peak = Math.max(peak, await service.query("memory"));
      data = (await call<Export>("GET", `/exports/${data.id}`)).data;
    }
    return data;
  });
  const text = await (await fetch(result.downloadUrl)).text();
  const lines = text.trimEnd().split("\n").length - 1;
  const figure = {
    what: "export as CSV, by a worker",
    milliseconds: seconds * 1000,
    readUnits: sumReadUnits(units),
    note:
      `${formatNumber(size / seconds)} contacts/s, memory ${megabytes(before)} before and ` +
      `${megabytes(peak)} at most`,
  };
  return {
    figure,
    rows: [
      equalRow(`${formatNumber(size)}: lines of the export`, { value: lines, expected: size }),
    ],
  };
}

const megabytes = (bytes: number): string => `${formatNumber(bytes / 1e6)} MB`;
