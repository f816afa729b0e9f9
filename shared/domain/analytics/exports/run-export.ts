// Writes an export to S3 part by part. Each part saves the position, where the next worker resumes.
// The columns of a CSV file come from the first rows of each shard. If a later row has another
// custom field, the worker reads all rows for their columns and starts the file again.
import * as objects from "../../../adapters/s3/objects.ts";
import { addSeconds, now } from "../../../clock.ts";
import {
  finishJob,
  type JobOutcome,
  runLeasedJob,
  saveProgress,
  takeJob,
} from "../../../kernel/leased-job.ts";
import type { Lease } from "../../../kernel/leases.ts";
import { inParallel, mergeStreams } from "../../../kernel/parallel.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { formatWriters } from "../../../kernel/table-export.ts";
import { emailShards, keys } from "../../../keys.ts";
import { jobSeconds } from "../../../queues.ts";
import { campaignAuditSource } from "./campaign-audit-source.ts";
import { countFinished, type ExportProgress } from "./export-progress.ts";
import type { ExportSource } from "./export-source.ts";
import { dueAttributes, type ExportRecord, enqueueRun, type StoredColumns } from "./exports.ts";
import { exportSources } from "./sources.ts";

/**
 * Works until the export is done or the time is up; then another message continues. Idempotent.
 * Does nothing while another worker has the lease.
 */
export async function runExport(orgId: number, id: number): Promise<void> {
  const job = await acquireJob(orgId, id);
  if (!job) return;
  await runLeasedJob(job.lease, {
    work: () => writeExport(job),
    enqueueNext: () => enqueueRun(orgId, id),
    // For example, the segment was deleted.
    fail: ({ message }) => finishJob(job, { status: "failed", error: message }),
  });
}

const allSources = { ...exportSources, "campaign-audit": campaignAuditSource };

interface ExportJob {
  item: ExportRecord;
  lease: Lease;
  until: Date;
}

async function acquireJob(orgId: number, id: number): Promise<ExportJob | undefined> {
  const taken = await takeJob<ExportRecord>(keys.record(orgId, "EXPORT", id), {
    timeoutSeconds: jobSeconds.export,
    dueAttributes: (seconds) => dueAttributes(id, seconds),
  });
  if (taken?.item.siteId && (await isDeleted(orgId, taken.item.siteId))) return undefined;
  return taken && { ...taken, until: addSeconds(jobSeconds.export - 60) };
}

async function writeExport(job: ExportJob): Promise<JobOutcome> {
  const { item } = job;
  const source = await allSources[item.type](item.orgId, item.filter);
  if (!item.written && !(await startFile(job, await sampleColumns(item, source)))) return "lost";
  const outcome = await writeParts(job, source);
  if (outcome !== "done") return outcome;
  await objects.completeMultipartUpload(item.blob, item.written!.uploadId, item.written!.parts);
  await finishJob(job, { status: "completed" });
  return "done";
}

/** Starts the file with these columns. False if another worker has taken the export over. */
async function startFile(job: ExportJob, columns: StoredColumns): Promise<boolean> {
  const { blob, format } = job.item;
  const uploadId = await objects.startMultipartUpload(blob, formatWriters[format].contentType);
  return saveProgress(job, { columns, written: { uploadId, parts: [], rows: 0, cursors: {} } });
}

/** The topics of the site, and the custom fields in the first rows of each shard. */
async function sampleColumns(item: ExportRecord, source: ExportSource): Promise<StoredColumns> {
  if (!formatWriters[item.format].hasColumns) return { fields: [] };
  const { topics } = source;
  const pages = await inParallel(4, emailShards, async (shard) => {
    const options = { fieldNamesOnly: true, limit: sampledRowsPerShard };
    for await (const { items } of source.readPages(shard, options)) return items;
    return [];
  });
  return {
    fields: [...new Set(source.customFieldsOf(pages.flat()))].sort(),
    topics,
    sampled: true,
  };
}

const sampledRowsPerShard = 100;

async function readAllColumns(source: ExportSource): Promise<StoredColumns> {
  const fields = await inParallel(4, emailShards, async (shard) => {
    let found: string[] = [];
    for await (const { items } of source.readPages(shard, { fieldNamesOnly: true }))
      found = [...new Set([...found, ...source.customFieldsOf(items)])].slice(0, maxFields);
    return found;
  });
  return { fields: [...new Set(fields.flat())].sort().slice(0, maxFields), topics: source.topics };
}

// An item in DynamoDB has no room for more.
const maxFields = 2000;
const partBytes = 6 * 1024 * 1024;

async function writeParts(job: ExportJob, source: ExportSource): Promise<JobOutcome> {
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
async function startAgain(job: ExportJob, source: ExportSource): Promise<JobOutcome> {
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
  const shape = source.tableFor(item.columns!);
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
  const tag = await objects.uploadPart(
    { key: item.blob, uploadId, part: parts.length + 1 },
    Buffer.from(texts.join("")),
  );
  const written = { uploadId, parts: [...parts, tag], rows, cursors };
  return (await saveProgress(job, { written })) ? "saved" : "lost";
}

function hasNewField({ fields, sampled }: StoredColumns, used: string[]): boolean {
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
