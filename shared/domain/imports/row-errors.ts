// What was wrong with rows: kept packed, a page for each batch of rows that had any.
import { gunzipSync, gzipSync } from "node:zlib";
import { epochSeconds } from "../../clock.ts";
import { put, query, type Write } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import type { RowError, Run } from "./import.ts";

interface Page {
  errors: Uint8Array;
  expires: number;
}

type Place = Pick<Run, "orgId" | "id">;
type Packed = [row: number, email: string, message: string];

const keptSeconds = 90 * 24 * 3600;

export function keeping({ orgId, id }: Place, errors: RowError[]): Write {
  const sorted = errors.toSorted((a, b) => a.row - b.row);
  const rows = sorted.map(({ row, email, message }): Packed => [row, email.slice(0, 100), message.slice(0, 200)]);
  const page: Page = { errors: gzipSync(JSON.stringify(rows)), expires: epochSeconds() + keptSeconds };
  return put(keys.importErrors(orgId, id, sorted.at(-1)!.row), page);
}

const shown = 100;

export const first = async (run: Run): Promise<RowError[]> => (run.failed ? (await list(run, undefined, shown)).slice(0, shown) : []);

/** Those of rows behind this one: whole pages, until there are enough. */
export async function list({ orgId, id }: Place, row: number | undefined, enough: number): Promise<RowError[]> {
  const found: RowError[] = [];
  let after = row === undefined ? undefined : keys.importErrors(orgId, id, row).sk;
  do {
    const page = await query<Page>(ranges.importErrors(orgId, id), { limit: 4, after, consistent: true });
    for (const { errors, expires } of page.items) if (expires > epochSeconds() && found.length < enough) found.push(...unpacked(errors));
    after = page.next;
  } while (after !== undefined && found.length < enough);
  return found;
}

const unpacked = (errors: Uint8Array): RowError[] =>
  (JSON.parse(gunzipSync(errors).toString("utf8")) as Packed[]).map(([row, email, message]) => ({ row, email, message }));
