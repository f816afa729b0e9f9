// The errors of rows, stored as one compressed page per batch with errors.
import { gunzipSync, gzipSync } from "node:zlib";
import { put, queryPages, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../../clock.ts";
import { keys, ranges } from "../../../keys.ts";
import type { ImportProgress, ImportRowError } from "./import-record.ts";

interface RowErrorPage {
  errors: Uint8Array;
  expires: number;
}

type ImportKey = Pick<ImportProgress, "orgId" | "id">;
type CompactRowError = [row: number, email: string, message: string];

const errorTtlSeconds = 90 * 24 * 3600;

export function addErrorsWrite({ orgId, id }: ImportKey, errors: ImportRowError[]): Write {
  const sorted = errors.toSorted((a, b) => a.row - b.row);
  const rows = sorted.map(
    ({ row, email, message }): CompactRowError => [row, email.slice(0, 100), message.slice(0, 200)],
  );
  const page: RowErrorPage = {
    errors: gzipSync(JSON.stringify(rows)),
    expires: epochSeconds() + errorTtlSeconds,
  };
  return put(keys.importErrors(orgId, id, sorted.at(-1)!.row), page);
}

const firstErrorCount = 100;

export const listFirst = async (run: ImportProgress): Promise<ImportRowError[]> =>
  run.failed ? (await list(run, undefined, firstErrorCount)).slice(0, firstErrorCount) : [];

/** Errors of rows after `afterRow`, in whole pages, until there are at least `minErrors`. */
export async function list(
  { orgId, id }: ImportKey,
  afterRow: number | undefined,
  minErrors: number,
): Promise<ImportRowError[]> {
  const found: ImportRowError[] = [];
  const after = afterRow === undefined ? undefined : keys.importErrors(orgId, id, afterRow).sk;
  const options = { limit: 4, after, consistent: true };
  for await (const page of queryPages<RowErrorPage>(ranges.importErrors(orgId, id), options)) {
    for (const { errors, expires } of page.items)
      if (expires > epochSeconds() && found.length < minErrors)
        found.push(...decompressErrors(errors));
    if (found.length >= minErrors) break;
  }
  return found;
}

const decompressErrors = (errors: Uint8Array): ImportRowError[] =>
  (JSON.parse(gunzipSync(errors).toString("utf8")) as CompactRowError[]).map(
    ([row, email, message]) => ({ row, email, message }),
  );
