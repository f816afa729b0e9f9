// Imports contacts from CSV files. A worker reads the file and stores the rows.

import { get, getMany, put } from "../../../adapters/dynamodb/table.ts";
import * as objects from "../../../adapters/s3/objects.ts";
import type { Caller, CallerScope } from "../../../caller.ts";
import { epochSeconds } from "../../../clock.ts";
import { invalid, limitExceeded } from "../../../errors.ts";
import { startedJobAttributes, toStarter } from "../../../kernel/job-index.ts";
import { type PageRequest, type Pagination, positionOf } from "../../../kernel/paging.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { checkDeclared, type Upload } from "../../../kernel/uploads.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import * as confirmations from "../contacts/confirmations.ts";
import * as groups from "../groups/groups.ts";
import { dueAttributes, enqueueRun } from "./import-job.ts";
import {
  type Import,
  type ImportProgress,
  type ImportRecord,
  type ImportRowError,
  type NewImport,
  zeroCounts,
} from "./import-record.ts";
import { refuseOtherFormats } from "./other-formats.ts";
import * as rowErrors from "./row-errors.ts";

const maxImportBytes = 1024 ** 3;

export type ImportSource = { bytes: Uint8Array } | { uploadId: string };

/**
 * Stores the import, then enqueues it. If the process dies in between, the schedule finds it on the
 * due index. Throws 404 for an unknown list, 400 for an unknown upload.
 */
export async function start(
  caller: Caller,
  { siteId: requestedSiteId, filename, ...options }: NewImport,
  source: ImportSource,
): Promise<Import> {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  await Promise.all([
    groups.checkLists(caller, siteId, options.lists),
    options.sendConfirmation && confirmations.requireSender(orgId),
  ]);
  const newRecord = await records.newRecordFields("IMPORT");
  const { name, ...file } = await storeFile(orgId, newRecord.id, source);
  const record: ImportRecord = {
    ...newRecord,
    orgId,
    siteId,
    filename: filename ?? name ?? null,
    ...file,
    wish: options,
    bound: caller.siteIds !== undefined,
  };
  const run: ImportProgress = {
    orgId,
    id: newRecord.id,
    filename: record.filename,
    status: "queued",
    startedBy: toStarter(caller),
    updatedAt: newRecord.createdAt,
    ...zeroCounts,
    ...dueAttributes(newRecord.id, 60),
    ...startedJobAttributes(orgId, { type: "import", ...newRecord, siteId }),
  };
  await records.insert("IMPORT", caller, {
    record,
    extraWrites: [put(keys.importRun(orgId, newRecord.id), run)],
  });
  await enqueueRun(orgId, newRecord.id);
  return toApi(record, run, []);
}

/** Returns the key of the object in S3, which keeps uploads for a week. */
async function storeFile(
  orgId: number,
  id: number,
  source: ImportSource,
): Promise<{ blob: string; size: number; name?: string }> {
  if ("uploadId" in source) return findUpload(orgId, source.uploadId);
  const { bytes } = source;
  if (!bytes.length)
    throw invalid("The file is empty", { details: [{ path: "file", message: "is empty" }] });
  refuseOtherFormats(bytes);
  const blob = `uploads/${orgId}/import-${id}`;
  await objects.put(blob, bytes, "text/csv");
  return { blob, size: bytes.length };
}

/** Throws 400 if it does not name a finished upload of up to 1 GB. */
export async function findUpload(
  orgId: number,
  uploadId: string,
): Promise<{ blob: string; size: number; name: string }> {
  const upload = await get<Upload>(keys.upload(orgId, uploadId));
  const size =
    upload && upload.expires > epochSeconds() ? await objects.getSize(upload.blob) : undefined;
  if (!upload || !size)
    throw invalid("uploadId does not name a finished upload: PUT the file to its uploadUrl first", {
      details: [{ path: "uploadId", message: "does not name a finished upload" }],
    });
  checkDeclared(upload, size, "uploadId");
  if (size > maxImportBytes) throw limitExceeded("uploadId", "An import can have at most 1 GB");
  return { blob: upload.blob, size, name: upload.filename };
}

/** Throws 404, or 403 for a caller that is limited to other sites. */
export async function find(caller: CallerScope, id: number): Promise<Import> {
  const [record, run] = await Promise.all([
    records.find<ImportRecord>("IMPORT", caller, id),
    get<ImportProgress>(keys.importRun(caller.orgId, id)),
  ]);
  return toApi(record, run!, await rowErrors.listFirst(run!));
}

/** Newest first, of one site or of all that the caller can access. */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: Import[]; pagination: Pagination }> {
  const { items, pagination } = await records.list<ImportRecord>("IMPORT", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
  const runs = await getMany<ImportProgress>(
    items.map(({ id }) => keys.importRun(caller.orgId, id)),
  );
  const errors = await inParallel(8, runs, (run) => rowErrors.listFirst(run!));
  return { items: items.map((record, i) => toApi(record, runs[i]!, errors[i]!)), pagination };
}

const errorsPerPage = 10_000;

/**
 * About 10,000 errors, by row. `next` is the cursor of the next page. Errors are kept for 90 days.
 */
export async function listErrors(
  caller: CallerScope,
  id: number,
  cursor: string | undefined,
): Promise<{ rows: ImportRowError[]; next?: string }> {
  await records.find<ImportRecord>("IMPORT", caller, id);
  const rows = await rowErrors.list(
    { orgId: caller.orgId, id },
    cursor === undefined ? undefined : Number(positionOf({ cursor }, /^\d{1,15}$/)),
    errorsPerPage,
  );
  return rows.length < errorsPerPage ? { rows } : { rows, next: String(rows.at(-1)!.row) };
}

function toApi(
  { wish: options, columns, format, ...record }: ImportRecord,
  run: ImportProgress,
  errors: ImportRowError[],
): Import {
  const { status, error, total, processed, created, updated, skipped, failed, look, updatedAt } =
    run;
  const percentDone = total ? Math.min(99, Math.floor((100 * processed) / total)) : 0;
  return {
    id: record.id,
    siteId: record.siteId,
    filename: record.filename,
    size: record.size,
    status,
    error: error ?? null,
    progress: status === "completed" ? 100 : percentDone,
    total: total ?? null,
    processed,
    created,
    updated,
    skipped,
    failed,
    mode: options.mode,
    resubscribe: options.resubscribe,
    contactStatus: options.status,
    tags: options.tags,
    lists: options.lists,
    startSequences: options.startSequences ?? false,
    sendConfirmation: options.sendConfirmation ?? false,
    delimiter: look?.delimiter ?? null,
    encoding: look?.encoding ?? null,
    decimalMark: format?.decimalMark ?? null,
    dateOrder: format?.dateOrder ?? null,
    mapping: columns
      ? Object.fromEntries(columns.map(({ header, field }) => [header, field]))
      : null,
    errors,
    createdAt: record.createdAt,
    updatedAt,
  };
}
