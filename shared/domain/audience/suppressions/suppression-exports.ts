// Exports the suppression list.
import { formatTable } from "../../../kernel/table-export.ts";
import * as suppressionPages from "./suppression-pages.ts";
import type { Suppression, SuppressionReason } from "./suppressions.ts";

export const maxRows = 10_000;
// Lambda answers with 6 MB at most.
const maxBytes = 4_000_000;

export interface SuppressionExportQuery {
  reason?: SuppressionReason | undefined;
  /** Absent: as many as one response holds. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** The list or a part of it, in the order of the hashes. `next` is the cursor of the next part. */
export async function readRows(
  orgId: number,
  { reason, limit, cursor }: SuppressionExportQuery,
): Promise<{ rows: Suppression[]; next?: string | undefined }> {
  const { items, next } = await suppressionPages.readAll(orgId, {
    reason,
    limit: limit ?? maxRows,
    cursor,
    maxBytes,
  });
  return { rows: items.map(toRow), next };
}

/**
 * Cells that a spreadsheet would run as a formula begin with an apostrophe; an import takes it away
 * again.
 */
export function toCsv(all: Suppression[], bom: boolean): string {
  const shape = {
    jsonName: "suppressions",
    columns: [...columns],
    cells: (entry: object) => columns.map((column) => (entry as Suppression)[column]),
  };
  return formatTable({ format: "csv", shape, rows: all.map((entry) => ({ ...entry })), bom });
}

export const columns = [
  "email",
  "reason",
  "bounceType",
  "liftsAt",
  "detail",
  "source",
  "createdAt",
  "updatedAt",
] as const;
/** Entries of older versions lack some columns. */
const toRow = (suppression: Suppression): Suppression =>
  Object.fromEntries(
    columns.map((column) => [column, suppression[column] ?? null]),
  ) as unknown as Suppression;
