// An organization whose site has many contacts, for scenarios that run at several sizes.
import { inParallel } from "../../../shared/kernel/parallel.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { type BenchScene, createOrganization } from "./organizations.ts";
import { type BenchRow, formatNumber, showProgress } from "./report.ts";

export interface SeededSite extends BenchScene {
  listId: number;
  tagId: number;
  contactIds: number[];
  row: BenchRow;
}

const seedChunkSize = 5000;

/** Runs a scenario at each size, each on a new service. */
export async function forEachSize(
  sizes: number[],
  options: { all?: boolean },
  measureSize: (site: SeededSite, size: number) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of sizes) {
    const service = await startMeasuredService();
    try {
      rows.push(...(await measureSize(await seedSite(service, size, options), size)));
    } finally {
      await service.stop();
    }
  }
  return rows;
}

/**
 * Creates an organization with contacts. With `all`, every contact can receive mail. The addresses
 * are those of `uniqueAddress`, beginning at `from`.
 */
export async function seedSite(
  service: MeasuredService,
  size: number,
  { all = false, from: start = 0 } = {},
): Promise<SeededSite> {
  const caller = await createOrganization(service);
  const { orgId, siteId } = caller;
  const listId = await caller.create("/lists", { name: "Everyone" });
  const tagId = await caller.create("/tags", { name: "customer" });
  const startedAt = performance.now();
  const offsets = Array.from(
    { length: Math.ceil(size / seedChunkSize) },
    (_, i) => i * seedChunkSize,
  );
  let done = 0;
  const ids = await inParallel(2, offsets, async (from) => {
    const count = Math.min(seedChunkSize, size - from);
    const first = await service.query("insertContacts", {
      orgId,
      siteId,
      from: start + from,
      count,
      listId,
      tagId,
      all,
    });
    done += count;
    showProgress("writing contacts to the table", done, size);
    return Array.from({ length: count }, (_, i) => first + i);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    service,
    caller,
    listId,
    tagId,
    contactIds: ids.flat(),
    row: { what: `${formatNumber(size)} contacts seeded`, value: `${formatNumber(seconds)} s` },
  };
}
