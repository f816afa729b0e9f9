// Figures and reports of a site with a history of so many events behind it: time and request units, which must not grow with it.
import type { Organization } from "./callers.ts";
import { atMost, median, number, percentile, progress, type Row } from "./report.ts";
import { populated } from "./segments.ts";
import { type Measured, measured } from "./service.ts";

const contacts = 10_000;
const calls = 15;

/** With the most read units that each may take, however long the history. Half a unit is 4 KB. */
const paths: [path: string, mostUnits: number][] = [
  ["/dashboard/overview?period=90d", 30],
  ["/analytics/overview?period=90d", 30],
  ["/analytics/overview?period=90d&interval=month", 30],
  // With every domain that was written to on a day; on those that are not folded yet each stands apart.
  ["/analytics/deliverability?period=7d", 100],
  ["/analytics/deliverability?period=90d", 100],
  // These look through the contacts, 90 units to a thousand, until a page is full.
  ["/reports/multi-sequence", (90 * contacts) / 1000],
  ["/reports/unengaged-contacts", (90 * contacts) / 1000],
  ["/reports/no-sequences", 30],
  ["/reports/stalled-enrollments", 30],
  ["/reports/sequence-funnel", 30],
];

interface Figure {
  path: string;
  mostUnits: number;
  milliseconds: number[];
  readUnits: number;
}

export async function run(sizes: number[]): Promise<Row[]> {
  const rows: Row[] = [];
  let least: Figure[] | undefined;
  for (const size of sizes) {
    const figures = await ofSize(size);
    least ??= figures;
    rows.push(...figures.map((figure, i) => rowOf(size, figure, figure === least![i] ? undefined : least![i])));
  }
  return rows;
}

function rowOf(size: number, { path, milliseconds, readUnits, mostUnits }: Figure, small: Figure | undefined): Row {
  const grown = small && `, ${number(readUnits / small.readUnits)} x those of the shortest history`;
  return {
    what: `${number(size)} events: GET ${path}`,
    value: `${number(median(milliseconds))} ms`,
    note: `p95 ${number(percentile(milliseconds, 0.95))} ms, ${number(readUnits)} read units${grown ?? ""}`,
    aim: atMost(mostUnits, readUnits, "R"),
  };
}

async function ofSize(events: number): Promise<Figure[]> {
  const service = await measured();
  try {
    const { caller } = await populated(service, contacts);
    progress(`${number(events)} events of half a year`);
    const { orgId, siteId, configId } = caller;
    await service.ask("history", { orgId, siteId, configId, events });
    const figures: Figure[] = [];
    for (const [path, mostUnits] of paths) figures.push({ mostUnits, ...(await figureOf(service, caller, path)) });
    return figures;
  } finally {
    await service.stop();
  }
}

async function figureOf(service: Measured, { call, siteId }: Organization, path: string): Promise<Omit<Figure, "mostUnits">> {
  const ask = () => call("GET", `${path}${path.includes("?") ? "&" : "?"}siteId=${siteId}`);
  await ask();
  await service.quiet();
  service.spent();
  const milliseconds: number[] = [];
  for (let i = 0; i < calls; i++) milliseconds.push((await ask()).milliseconds);
  await service.quiet();
  const { readUnits = 0 } = service.spent()[`GET /api/v1${path.split("?")[0]}`] ?? {};
  return { path, milliseconds, readUnits: readUnits / calls };
}
