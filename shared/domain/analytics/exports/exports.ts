// Exports of any size, which a worker writes to S3. It first scans the source for the number of
// rows and the columns, then writes the file part by part. Each part saves the position, where the
// next worker resumes.
import * as z from "zod";
import { oneOf } from "../../../adapters/dynamodb/conditions.ts";
import type { QueryPage } from "../../../adapters/dynamodb/table.ts";
import * as blobs from "../../../adapters/s3/objects.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { isTransient, type Problem } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import * as leases from "../../../kernel/lease.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import {
  type ExportFormat,
  type ExportTable,
  exportFormats,
  formatWriters,
} from "../../../kernel/table-export.ts";
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
    rows: z.int().nullable().describe("Number of rows. `null` until they are counted."),
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
  /** The result of the scan. */
  survey?: ExportScan;
  /** Progress of the upload. */
  written?: ExportProgress;
}

interface ExportScan {
  rows: number;
  fields: string[];
}

interface ExportProgress {
  uploadId: string;
  parts: string[];
  rows: number;
  /** Index of the shard to read next; the number of shards at the end. */
  shard: number;
  /** Sort key to resume after. */
  after?: string | undefined;
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
  survey,
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
  const percentDone = survey?.rows
    ? Math.min(99, Math.floor((100 * (written?.rows ?? 0)) / survey.rows))
    : 0;
  const progress = status === "completed" ? 100 : percentDone;
  const rows = status === "completed" ? (written?.rows ?? 0) : (survey?.rows ?? null);
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
  if (!item.survey && !(await saveProgress(job, { survey: await scanSource(source) }))) return;
  if (!item.written && !(await startUpload(job))) return;
  const outcome = await writeParts(job, source, source.tableFor(item.survey!.fields));
  if (outcome === "done") {
    await blobs.completeMultipartUpload(item.blob, item.written!.uploadId, item.written!.parts);
    await finish(job, { status: "completed" });
  }
  if (outcome === "paused" && (await leases.release(job.lease)))
    await enqueueRun(item.orgId, item.id);
}

async function startUpload(job: ExportJob): Promise<boolean> {
  const { blob, format } = job.item;
  const uploadId = await blobs.startMultipartUpload(blob, formatWriters[format].contentType);
  return saveProgress(job, { written: { uploadId, parts: [], rows: 0, shard: 0 } });
}

/** Counts the rows and collects the names of custom fields. */
async function scanSource(source: ExportSource): Promise<ExportScan> {
  const fields = new Set<string>();
  let rows = 0;
  await inParallel(4, emailShards, async (shard) => {
    for await (const { items } of source.readPages(shard, undefined, true)) {
      rows += items.length;
      for (const field of source.customFieldsOf(items))
        if (fields.size < maxFields) fields.add(field);
    }
  });
  return { rows, fields: [...fields].sort() };
}

// An item in DynamoDB has no room for more.
const maxFields = 2000;
const partBytes = 6 * 1024 * 1024;

/** `lost`: another worker has taken the export over. */
async function writeParts(
  job: ExportJob,
  source: ExportSource,
  shape: ExportTable,
): Promise<"done" | "paused" | "lost"> {
  while (job.item.written!.shard < emailShards.length) {
    if (now() >= job.until) return "paused";
    if (!(await writePart(job, source, shape))) return "lost";
  }
  return "done";
}

/** Uploads one part and saves the progress. False if another worker has taken the export over. */
async function writePart(
  job: ExportJob,
  source: ExportSource,
  shape: ExportTable,
): Promise<boolean> {
  const { item } = job;
  const writer = formatWriters[item.format];
  const { uploadId, parts, ...from } = item.written!;
  const texts = [parts.length ? "" : writer.header(shape, item)];
  let [rows, bytes] = [from.rows, 0];
  let position: Pick<ExportProgress, "shard" | "after"> = from;
  for await (const { page, next } of readPages(source, from)) {
    const text = writer.rows(shape, await source.toRows(page.items), rows === 0);
    texts.push(text);
    rows += page.items.length;
    bytes += Buffer.byteLength(text);
    position = next;
    if (bytes >= partBytes) break;
  }
  if (position.shard === emailShards.length) texts.push(writer.footer(shape));
  const tag = await blobs.uploadPart(
    { key: item.blob, uploadId, part: parts.length + 1 },
    Buffer.from(texts.join("")),
  );
  return saveProgress(job, { written: { uploadId, parts: [...parts, tag], rows, ...position } });
}

/** Yields the pages of all shards in order. `next` is the position after the page. */
async function* readPages(
  source: ExportSource,
  { shard: first, after: start }: Pick<ExportProgress, "shard" | "after">,
): AsyncGenerator<{ page: QueryPage<unknown>; next: Pick<ExportProgress, "shard" | "after"> }> {
  for (let shard = first; shard < emailShards.length; shard++)
    for await (const page of source.readPages(
      emailShards[shard]!,
      shard === first ? start : undefined,
    ))
      yield {
        page,
        next: page.next === undefined ? { shard: shard + 1 } : { shard, after: page.next },
      };
}
