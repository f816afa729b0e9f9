// Exports of any size, which a worker writes to S3 part by part. Each part saves the position,
// where the next worker resumes. The columns of a CSV file come from the first rows of each shard.
// If a later row has another custom field, the worker reads all rows for their columns and starts
// the file again.
import * as z from "zod";
import { oneOf } from "../../../adapters/dynamodb/conditions.ts";
import * as blobs from "../../../adapters/s3/objects.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { isTransient, type Problem } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import * as leases from "../../../kernel/lease.ts";
import { inParallel, mergeStreams } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { type ExportFormat, exportFormats, formatWriters } from "../../../kernel/table-export.ts";
import {
  dueShardOf,
  emailShards,
  indexAttributeNames,
  indexAttributes,
  indexes,
  keys,
} from "../../../keys.ts";
import { jobSeconds, queues } from "../../../queues.ts";
import * as pages from "../../audience/contacts/contact-listing.ts";
import * as sites from "../../identity/sites.ts";
import {
  type ExportFilter,
  type ExportSource,
  type ExportType,
  exportSources,
  exportTypes,
  siteExportTypes,
} from "./sources.ts";

export const Export = z
  .object({
    id: z.int(),
    type: z.enum(exportTypes),
    format: z.enum(exportFormats),
    status: z.enum(["queued", "running", "completed", "failed"]),
    progress: z.int().describe("Progress in per cent."),
    rows: z.int().nullable().describe("Number of rows. `null` until the export is completed."),
    downloadUrl: z
      .string()
      .nullable()
      .describe(
        "URL of the file. Valid for 1 hour; read the export again for a new one. The file is " +
          "kept for 7 days.",
      ),
    error: z.string().nullable().describe("Why the export failed, or `null`."),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Export" });
export type Export = z.output<typeof Export>;

interface ExportRecord extends records.StoredRecord, leases.Leased {
  orgId: number;
  /** null for types with records of the organization. */
  siteId: number | null;
  type: ExportType;
  format: ExportFormat;
  filter: ExportFilter;
  bom?: boolean | undefined;
  status: Export["status"];
  error?: string;
  /** Key of the file in S3. */
  blob: string;
  /** The columns of custom fields. */
  columns?: CustomColumns;
  /** Progress of the upload. */
  written?: ExportProgress;
}

interface CustomColumns {
  fields: string[];
  /** Not all rows were read, so others can have further fields. */
  sampled?: boolean;
}

interface ExportProgress {
  uploadId: string;
  parts: string[];
  rows: number;
  /** By shard: the sort key to resume after, null at its end. */
  cursors: Record<string, string | null>;
}

export interface ExportRequest {
  type: ExportType;
  format: ExportFormat;
  filter: ExportFilter;
  bom?: boolean | undefined;
}

/**
 * Stores the export, then enqueues it. If the process dies in between, the schedule finds it on the
 * due index. Throws 404 or 400 if the filter names something that does not exist.
 */
export async function start(caller: CallerScope, request: ExportRequest): Promise<Export> {
  const { orgId } = caller;
  const { type, format, filter, bom } = await resolveSite(caller, request);
  const stamp = await records.newRecordFields("EXPORT");
  const blob = `exports/${orgId}/${stamp.id}-${randomBase62(16)}.${format}`;
  const siteId = siteExportTypes.has(type) ? filter.siteId! : null;
  const item: ExportRecord = {
    ...stamp,
    orgId,
    siteId,
    type,
    format,
    filter,
    bom,
    status: "queued",
    blob,
    ...dueAttributes(stamp.id, 60),
  };
  await records.insert("EXPORT", caller, { record: item });
  await enqueueRun(orgId, item.id);
  return toApi(item);
}

/** Resolves the site of the filter, which the caller must have access to. */
export async function resolveSite(
  caller: CallerScope,
  request: ExportRequest,
): Promise<ExportRequest> {
  const { type, filter } = request;
  if (!siteExportTypes.has(type)) return request;
  if (type !== "contacts")
    return { ...request, filter: { siteId: await sites.resolveSiteId(caller, filter.siteId) } };
  const { siteId } = await pages.resolveFilter(caller, filter);
  return { ...request, filter: { ...filter, siteId } };
}

const dueAttributes = (id: number, seconds: number) =>
  indexAttributes(indexes.due("EXPORT", dueShardOf(id)), addSeconds(seconds).toISOString());

export const enqueueRun = (orgId: number, exportId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "export", orgId, exportId }], { group: orgId });

/** Throws 404, or 403 for a key bound to another site. */
export const find = async (caller: CallerScope, id: number): Promise<Export> =>
  toApi(await records.find<ExportRecord>("EXPORT", caller, id));

// The lifecycle rule of the bucket deletes the file then.
const fileTtlSeconds = 7 * 24 * 3600;
const urlSeconds = 3600;

async function toApi({
  id,
  type,
  format,
  status,
  written,
  blob,
  error,
  createdAt,
  updatedAt,
}: ExportRecord): Promise<Export> {
  const isStored =
    status === "completed" && epochSeconds() - Date.parse(updatedAt) / 1000 < fileTtlSeconds;
  const downloadUrl = isStored
    ? await blobs.presignDownload(blob, `${type}.${format}`, urlSeconds)
    : null;
  // The shards have about the same size.
  const percentDone = (100 * countFinished(written?.cursors)) / emailShards.length;
  const progress = status === "completed" ? 100 : Math.min(99, Math.floor(percentDone));
  const rows = status === "completed" ? (written?.rows ?? 0) : null;
  return {
    id,
    type,
    format,
    status,
    progress,
    rows,
    downloadUrl,
    error: error ?? null,
    createdAt,
    updatedAt,
  };
}

const countFinished = (cursors: ExportProgress["cursors"] = {}): number =>
  Object.values(cursors).filter((cursor) => cursor === null).length;

/**
 * Works until the export is done or the time is up; then another message continues. Idempotent.
 * Does nothing while another worker has the lease.
 */
export async function runExport(orgId: number, id: number): Promise<void> {
  const job = await acquireJob(orgId, id);
  if (!job) return;
  try {
    await writeExport(job);
  } catch (error) {
    if (isTransient(error)) {
      // If the lease was lost, another worker continues, and this error no longer matters.
      if (await leases.release(job.lease)) throw error;
      return;
    }
    // A retry would not help: for example, the segment was deleted.
    await finish(job, { status: "failed", error: (error as Problem).message });
  }
}

interface ExportJob {
  item: ExportRecord;
  lease: leases.Lease;
  until: Date;
}

const leaseSeconds = jobSeconds.export + 30;

async function acquireJob(orgId: number, id: number): Promise<ExportJob | undefined> {
  const terms = {
    seconds: leaseSeconds,
    set: { status: "running", ...dueAttributes(id, leaseSeconds + 30) },
    if: oneOf("status", ["queued", "running"]),
  };
  const taken = await leases.take<ExportRecord>(keys.record(orgId, "EXPORT", id), terms);
  if (taken?.item.siteId && (await isDeleted(orgId, taken.item.siteId))) return undefined;
  return taken && { ...taken, until: addSeconds(jobSeconds.export - 60) };
}

/** False if another worker has taken the export over. */
async function saveProgress(
  { item, lease }: ExportJob,
  progress: Partial<ExportRecord>,
): Promise<boolean> {
  const set = { ...progress, updatedAt: now().toISOString() };
  const isSaved = await leases.change(lease, { set });
  if (isSaved) Object.assign(item, progress);
  return isSaved;
}

/** Ends the export, so that no worker takes it again. */
const finish = (
  { lease }: ExportJob,
  result: Pick<ExportRecord, "status" | "error">,
): Promise<boolean> =>
  leases.finish(lease, {
    set: { ...result, updatedAt: now().toISOString() },
    remove: indexAttributeNames("due"),
  });

async function writeExport(job: ExportJob): Promise<void> {
  const { item } = job;
  const source = await exportSources[item.type](item.orgId, item.filter);
  // An export that an earlier version began has no cursors.
  if (!item.written?.cursors && !(await startFile(job, await sampleColumns(item, source)))) return;
  const outcome = await writeParts(job, source);
  if (outcome === "done") {
    await blobs.completeMultipartUpload(item.blob, item.written!.uploadId, item.written!.parts);
    await finish(job, { status: "completed" });
  }
  if (outcome === "paused" && (await leases.release(job.lease)))
    await enqueueRun(item.orgId, item.id);
}

/** Starts the file with these columns. False if another worker has taken the export over. */
async function startFile(job: ExportJob, columns: CustomColumns): Promise<boolean> {
  const { blob, format } = job.item;
  const uploadId = await blobs.startMultipartUpload(blob, formatWriters[format].contentType);
  return saveProgress(job, { columns, written: { uploadId, parts: [], rows: 0, cursors: {} } });
}

/** The custom fields in the first rows of each shard. */
async function sampleColumns(item: ExportRecord, source: ExportSource): Promise<CustomColumns> {
  if (!formatWriters[item.format].hasColumns) return { fields: [] };
  const pages = await inParallel(4, emailShards, async (shard) => {
    const options = { fieldNamesOnly: true, limit: sampledRowsPerShard };
    for await (const { items } of source.readPages(shard, options)) return items;
    return [];
  });
  return { fields: [...new Set(source.customFieldsOf(pages.flat()))].sort(), sampled: true };
}

const sampledRowsPerShard = 100;

async function readAllColumns(source: ExportSource): Promise<CustomColumns> {
  const fields = await inParallel(4, emailShards, async (shard) => {
    let found: string[] = [];
    for await (const { items } of source.readPages(shard, { fieldNamesOnly: true }))
      found = [...new Set([...found, ...source.customFieldsOf(items)])].slice(0, maxFields);
    return found;
  });
  return { fields: [...new Set(fields.flat())].sort().slice(0, maxFields) };
}

// An item in DynamoDB has no room for more.
const maxFields = 2000;
const partBytes = 6 * 1024 * 1024;

/** `lost`: another worker has taken the export over. */
async function writeParts(
  job: ExportJob,
  source: ExportSource,
): Promise<"done" | "paused" | "lost"> {
  const pages = readPages(source, job.item.written!.cursors);
  try {
    while (!isAtEnd(job.item.written!.cursors)) {
      if (now() >= job.until) return "paused";
      const outcome = await writePart(job, source, pages);
      if (outcome === "lost") return "lost";
      if (outcome === "new field") return await startAgain(job, source);
    }
    return "done";
  } finally {
    await pages.return(undefined);
  }
}

const isAtEnd = (cursors: ExportProgress["cursors"]): boolean =>
  countFinished(cursors) === emailShards.length;

/** Starts the file again, with the columns of all rows. */
async function startAgain(
  job: ExportJob,
  source: ExportSource,
): Promise<"done" | "paused" | "lost"> {
  const isStarted = await startFile(job, await readAllColumns(source));
  return isStarted ? writeParts(job, source) : "lost";
}

interface ExportPage {
  items: unknown[];
  /** The cursor of its shard after the page. */
  cursor: ExportProgress["cursors"];
}

/** Uploads one part and saves the progress. */
async function writePart(
  job: ExportJob,
  source: ExportSource,
  pages: AsyncGenerator<ExportPage>,
): Promise<"saved" | "lost" | "new field"> {
  const { item } = job;
  const writer = formatWriters[item.format];
  const shape = source.tableFor(item.columns!.fields);
  const { uploadId, parts, ...from } = item.written!;
  const texts = [parts.length ? "" : writer.header(shape, item)];
  let { rows, cursors } = from;
  for (let bytes = 0; bytes < partBytes && !isAtEnd(cursors); ) {
    const { items, cursor }: ExportPage = (await pages.next()).value;
    if (hasNewField(item.columns!, source.customFieldsOf(items))) return "new field";
    const text = writer.rows(shape, await source.toRows(items), rows === 0);
    texts.push(text);
    rows += items.length;
    bytes += Buffer.byteLength(text);
    cursors = { ...cursors, ...cursor };
  }
  if (isAtEnd(cursors)) texts.push(writer.footer(shape));
  const tag = await blobs.uploadPart(
    { key: item.blob, uploadId, part: parts.length + 1 },
    Buffer.from(texts.join("")),
  );
  const written = { uploadId, parts: [...parts, tag], rows, cursors };
  return (await saveProgress(job, { written })) ? "saved" : "lost";
}

function hasNewField({ fields, sampled }: CustomColumns, used: string[]): boolean {
  if (!sampled || fields.length >= maxFields) return false;
  const known = new Set(fields);
  return used.some((field) => !known.has(field));
}

/** Yields the pages of all shards, a few shards at a time. */
const readPages = (
  source: ExportSource,
  cursors: ExportProgress["cursors"],
): AsyncGenerator<ExportPage> =>
  mergeStreams(
    4,
    emailShards
      .filter((shard) => cursors[shard] !== null)
      .map((shard) => readShard(source, shard, cursors[shard] ?? undefined)),
  );

async function* readShard(
  source: ExportSource,
  shard: string,
  after: string | undefined,
): AsyncGenerator<ExportPage> {
  for await (const { items, next } of source.readPages(shard, { after }))
    yield { items, cursor: { [shard]: next ?? null } };
}
