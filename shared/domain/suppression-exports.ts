// The suppression list as one text.
import { stringify } from "csv-stringify/sync";
import * as pages from "./suppression-pages.ts";
import type { Reason, Suppression } from "./suppressions.ts";

export const maxRows = 10_000;
// Lambda answers with 6 MB at most.
const maxBytes = 4_000_000;

export interface Wish {
  reason?: Reason | undefined;
  /** Absent: as many as one answer holds. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** The list, or a part of it, in no order that means anything; `next` is the cursor to go on with when there is more. */
export async function rows(orgId: number, { reason, limit, cursor }: Wish): Promise<{ rows: Suppression[]; next?: string | undefined }> {
  const { items, next } = await pages.all(orgId, { reason, limit: limit ?? maxRows, cursor, maxBytes });
  return { rows: items.map(row), next };
}

/** Cells that a spreadsheet would run as a formula begin with an apostrophe; an import takes it away again. */
export const csv = (all: Suppression[]): string => stringify(all, { header: true, columns: [...columns], escape_formulas: true });

const columns = ["email", "reason", "detail", "source", "createdAt", "updatedAt"] as const;
const row = ({ email, reason, detail, source, createdAt, updatedAt }: Suppression): Suppression => ({
  email,
  reason,
  detail,
  source,
  createdAt,
  updatedAt,
});
