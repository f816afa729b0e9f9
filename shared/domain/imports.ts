// Contacts from a CSV file, which a worker reads by and by.
import type { Caller } from "../caller.ts";
import { after, epochSeconds } from "../clock.ts";
import { where } from "../conditions.ts";
import * as blobs from "../doors/blobs.ts";
import { enqueue } from "../doors/queue.ts";
import { get, getMany, put } from "../doors/table.ts";
import { invalid, overLimit } from "../errors.ts";
import { dueShard, keys, on, shelves } from "../keys.ts";
import type { PageRequest, Pagination } from "../paging.ts";
import { inParallel } from "../parallel.ts";
import { queues } from "../queues.ts";
import * as groups from "./contacts/groups.ts";
import { type Import, type NewImport, none, type RowError, type Run, type Stored } from "./imports/import.ts";
import * as rowErrors from "./imports/row-errors.ts";
import * as records from "./records.ts";
import type { Upload } from "./sending/attachments.ts";
import * as sites from "./sites.ts";

const maxBytes = 1024 ** 3;

type Who = Pick<Caller, "orgId" | "siteId">;
export type Source = { bytes: Uint8Array } | { uploadId: string };

/** Stored, then enqueued; should we die in between, a tick finds it. 404 for a list that is not there, 400 for a file that is not. */
export async function start(who: Who, { siteId: given, filename, ...wish }: NewImport, source: Source): Promise<Import> {
  const { orgId } = who;
  const siteId = await sites.resolve(who, given);
  await groups.listsOf(who, siteId, wish.lists);
  const stamp = await records.stamp("IMPORT");
  const { name, ...file } = await fileOf(orgId, stamp.id, source);
  const record: Stored = { ...stamp, orgId, siteId, filename: filename ?? name ?? null, ...file, wish, bound: who.siteId !== undefined };
  const run: Run = { orgId, id: stamp.id, status: "queued", updatedAt: stamp.createdAt, ...none };
  await records.insert("IMPORT", who, record, put(keys.importRun(orgId, stamp.id), { ...run, ...dueAfter(stamp.id, 60) }));
  await runSoon(orgId, stamp.id);
  return told(record, run, []);
}

export const dueAfter = (id: number, seconds: number) => on(shelves.due("IMPORT", dueShard(id)), after(seconds).toISOString());

export const runSoon = (orgId: number, importId: number): Promise<void> => enqueue(queues.import, [{ orgId, importId }], { group: orgId });

/** Where its bytes are: kept for a week. */
async function fileOf(orgId: number, id: number, source: Source): Promise<{ blob: string; size: number; name?: string }> {
  if ("uploadId" in source) return uploaded(orgId, source.uploadId);
  const { bytes } = source;
  if (!bytes.length) throw invalid("The file is empty", { details: [{ path: "file", message: "is empty" }] });
  const blob = `uploads/${orgId}/import-${id}`;
  await blobs.put(blob, bytes, "text/csv");
  return { blob, size: bytes.length };
}

async function uploaded(orgId: number, uploadId: string): Promise<{ blob: string; size: number; name: string }> {
  const upload = await get<Upload>(keys.upload(orgId, uploadId));
  const size = upload && upload.expires > epochSeconds() ? await blobs.sizeOf(upload.blob) : undefined;
  if (!upload || !size)
    throw invalid("uploadId names no finished upload", { details: [{ path: "uploadId", message: "names no finished upload" }] });
  if (size > maxBytes) throw overLimit("uploadId", "An import may have at most 1 GB");
  return { blob: upload.blob, size, name: upload.filename };
}

/** Throws 404, and 403 for a key of another site. */
export async function find(who: Who, id: number): Promise<Import> {
  const [record, run] = await Promise.all([records.find<Stored>("IMPORT", who, id), get<Run>(keys.importRun(who.orgId, id))]);
  return told(record, run!, await rowErrors.first(run!));
}

/** Newest first; of one site, or of all that the caller may see. */
export async function list(
  who: Who,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: Import[]; pagination: Pagination }> {
  const { items, pagination } = await records.list<Stored>("IMPORT", who, request, where({ siteId: await sites.only(who, siteId) }));
  const runs = await getMany<Run>(items.map(({ id }) => keys.importRun(who.orgId, id)));
  const errors = await inParallel(8, runs, (run) => rowErrors.first(run!));
  return { items: items.map((record, i) => told(record, runs[i]!, errors[i]!)), pagination };
}

const errorsAtOnce = 10_000;

/** Some 10,000 of them, by row; `next` is where to go on. Kept for 90 days. */
export async function errors(who: Who, id: number, cursor: string | undefined): Promise<{ rows: RowError[]; next?: string }> {
  await records.find<Stored>("IMPORT", who, id);
  const rows = await rowErrors.list({ orgId: who.orgId, id }, cursor === undefined ? undefined : Number(cursor), errorsAtOnce);
  return rows.length < errorsAtOnce ? { rows } : { rows, next: String(rows.at(-1)!.row) };
}

function told({ wish, columns, ...record }: Stored, run: Run, errors: RowError[]): Import {
  const { status, error, total, processed, created, updated, skipped, failed, look, updatedAt } = run;
  const share = total ? Math.min(99, Math.floor((100 * processed) / total)) : 0;
  return {
    id: record.id,
    siteId: record.siteId,
    filename: record.filename,
    size: record.size,
    status,
    error: error ?? null,
    progress: status === "completed" ? 100 : share,
    total: total ?? null,
    processed,
    created,
    updated,
    skipped,
    failed,
    mode: wish.mode,
    resubscribe: wish.resubscribe,
    contactStatus: wish.status,
    tags: wish.tags,
    lists: wish.lists,
    delimiter: look?.delimiter ?? null,
    encoding: look?.encoding ?? null,
    mapping: columns ? Object.fromEntries(columns.map(({ header, field }) => [header, field])) : null,
    errors,
    createdAt: record.createdAt,
    updatedAt,
  };
}
