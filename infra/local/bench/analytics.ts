// Analytics and reports of a site with many stored events: time and request units, which must not
// grow with the events.
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import type { BenchOrganization } from "./organizations.ts";
import { atMost, type BenchRow, formatNumber, median, percentile, showProgress } from "./report.ts";
import { seedSite } from "./seeded-site.ts";

const contacts = 10_000;
const calls = 15;

/** The most read units of each path, whatever the number of events. Half a unit is 4 KB. */
const paths: [path: string, mostUnits: number][] = [
  ["/dashboard/overview?period=90d", 30],
  ["/analytics/overview?period=90d", 30],
  ["/analytics/overview?period=90d&interval=month", 30],
  // Reads every recipient domain of a day. Days that are not rolled up have one item for each.
  ["/analytics/deliverability?period=7d", 100],
  ["/analytics/deliverability?period=90d", 100],
  // These read contacts, at 90 units per thousand, until a page is full.
  ["/reports/multi-sequence", (90 * contacts) / 1000],
  ["/reports/unengaged-contacts", (90 * contacts) / 1000],
  ["/reports/no-sequences", 30],
  ["/reports/stalled-enrollments", 30],
  ["/reports/sequence-funnel", 30],
];

interface PathFigure {
  path: string;
  maxReadUnits: number;
  milliseconds: number[];
  readUnits: number;
}

export async function run(sizes: number[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  let smallest: PathFigure[] | undefined;
  for (const size of sizes) {
    const figures = await measureSize(size);
    smallest ??= figures;
    rows.push(
      ...figures.map((figure, i) =>
        toRow(size, figure, figure === smallest![i] ? undefined : smallest![i]),
      ),
    );
  }
  return rows;
}

function toRow(
  size: number,
  { path, milliseconds, readUnits, maxReadUnits }: PathFigure,
  smallestFigure: PathFigure | undefined,
): BenchRow {
  const growth =
    smallestFigure &&
    `, ${formatNumber(readUnits / smallestFigure.readUnits)} x those of the shortest history`;
  return {
    what: `${formatNumber(size)} events: GET ${path}`,
    value: `${formatNumber(median(milliseconds))} ms`,
    note:
      `p95 ${formatNumber(percentile(milliseconds, 0.95))} ms, ${formatNumber(readUnits)} read ` +
      `units${growth ?? ""}`,
    aim: atMost(maxReadUnits, readUnits, "R"),
  };
}

async function measureSize(events: number): Promise<PathFigure[]> {
  const service = await startMeasuredService();
  try {
    const { caller } = await seedSite(service, contacts);
    showProgress(`${formatNumber(events)} events of half a year`);
    const { orgId, siteId, configId } = caller;
    await service.query("insertHistory", { orgId, siteId, configId, events });
    const figures: PathFigure[] = [];
    for (const [path, maxReadUnits] of paths)
      figures.push({ maxReadUnits, ...(await measurePath(service, caller, path)) });
    return figures;
  } finally {
    await service.stop();
  }
}

async function measurePath(
  service: MeasuredService,
  { call, siteId }: BenchOrganization,
  path: string,
): Promise<Omit<PathFigure, "maxReadUnits">> {
  const request = () => call("GET", `${path}${path.includes("?") ? "&" : "?"}siteId=${siteId}`);
  await request();
  await service.waitUntilIdle();
  service.takeUnits();
  const milliseconds: number[] = [];
  for (let i = 0; i < calls; i++) milliseconds.push((await request()).milliseconds);
  await service.waitUntilIdle();
  const { readUnits = 0 } = service.takeUnits()[`GET /api/v1${path.split("?")[0]}`] ?? {};
  return { path, milliseconds, readUnits: readUnits / calls };
}
