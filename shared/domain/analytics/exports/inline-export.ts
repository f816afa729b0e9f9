// Exports that fit into one response.
import type { Caller } from "../../../caller.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { type ExportTable, formatTable } from "../../../kernel/table-export.ts";
import { emailShards } from "../../../keys.ts";
import type { ExportSource, SourceFactory } from "./export-source.ts";
import type { ExportRequest } from "./exports.ts";

const maxRows = 10_000;

/**
 * The export as text, in the order of lists. Undefined if it has too many rows for one response.
 */
export async function exportInline(
  { orgId }: Pick<Caller, "orgId">,
  { format, filter, bom }: ExportRequest,
  createSource: SourceFactory,
): Promise<string | undefined> {
  const source = await createSource(orgId, filter);
  const items = await readAll(source);
  if (!items) return undefined;
  const fields = [...new Set(source.customFieldsOf(items))];
  const shape: ExportTable = source.tableFor({ fields, topics: source.topics });
  return formatTable({ format, shape, rows: await source.toRows(items), bom });
}

async function readAll(source: ExportSource): Promise<unknown[] | undefined> {
  const found: unknown[][] = emailShards.map(() => []);
  let rowCount = 0;
  await inParallel(8, emailShards, async (shard, i) => {
    for await (const { items } of source.readPages(shard)) {
      rowCount += items.length;
      if (rowCount > maxRows) return;
      found[i]!.push(...items);
    }
  });
  return rowCount > maxRows ? undefined : found.flat().sort(source.compare);
}
