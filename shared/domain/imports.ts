// Contacts from a CSV file, which a worker reads by and by: what was asked for, and how far it is.
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { after, epochSeconds } from "../clock.ts";
import { where } from "../conditions.ts";
import * as blobs from "../doors/blobs.ts";
import { enqueue } from "../doors/queue.ts";
import { get, getMany, put, query } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { invalid, overLimit } from "../errors.ts";
import { dueShard, keys, on, ranges, shelves } from "../keys.ts";
import type { PageRequest, Pagination } from "../paging.ts";
import { inParallel } from "../parallel.ts";
import { queues } from "../queues.ts";
import { GroupName } from "./contacts/contact.ts";
import * as groups from "./contacts/groups.ts";
import { type Column, delimiters, encodings, Field, fields, modes } from "./imports/wishes.ts";
import * as records from "./records.ts";
import type { Upload } from "./sending/attachments.ts";
import * as sites from "./sites.ts";

const maxBytes = 1024 ** 3;
const Id = z.int().positive();
const contactStatus = z.enum(["subscribed", "unsubscribed", "pending"]);

export const NewImport = z.object({
  siteId: Id.optional(),
  mapping: z
    .record(z.string().trim().min(1).max(200), Field)
    .refine((mapping) => Object.keys(mapping).length <= 1000, "may have at most 1,000 columns")
    .default({})
    .describe(
      `What a column is, by its header: ${fields.join(", ")} or customFields.<key>. A column that is not named here is guessed by its header (in English, German, French, Spanish, Italian, Portuguese or Dutch); one that is nothing we know becomes a custom field of its name. Numbers, true and false in custom fields are taken as such where they are written plainly: 42, -1.5, not 007`,
    ),
  tags: z.array(GroupName).max(20).default([]).describe("Names; for every contact of the file. They give no points and start no sequences"),
  lists: z.array(Id).max(20).default([]).describe("Ids; for every contact of the file. They give no points and start no sequences"),
  mode: z
    .enum(modes)
    .default("upsert")
    .describe("create: addresses that are there already are skipped; update: those that are not are; upsert: neither"),
  resubscribe: z
    .boolean()
    .default(false)
    .describe("Subscribes again who unsubscribed, and takes addresses off the suppression list; without it nobody who left comes back"),
  status: contactStatus
    .default("subscribed")
    .describe("Of contacts that are made, where the file has no status for them; who is there keeps what it has"),
  delimiter: z.enum(delimiters).optional().describe("Detected where it is not given"),
  encoding: z.enum(encodings).optional().describe("Detected where it is not given"),
  filename: oneLine(200).optional(),
});
export type NewImport = z.output<typeof NewImport>;

const RowError = z.object({
  row: z.int().describe("As a spreadsheet counts: the header is row 1, empty rows count"),
  email: z.string(),
  message: z.string(),
});
export type RowError = z.output<typeof RowError>;

export const Import = z
  .object({
    id: z.int(),
    siteId: z.int(),
    filename: z.string().nullable(),
    size: z.int().describe("Bytes"),
    status: z.enum(["queued", "running", "completed", "failed"]),
    error: z.string().nullable().describe("Why it failed as a whole. What is counted below was done nonetheless"),
    progress: z.int().describe("Per cent"),
    total: z.int().nullable().describe("Rows below the header, blank ones apart; null until they are counted"),
    processed: z.int().describe("created + updated + skipped + failed"),
    created: z.int(),
    updated: z.int().describe("An address that comes again in the file is updated again: the last row wins"),
    skipped: z.int().describe("By the mode"),
    failed: z.int().describe("Rows that something is wrong with"),
    mode: z.enum(modes),
    resubscribe: z.boolean(),
    contactStatus,
    tags: z.array(z.string()),
    lists: z.array(z.int()),
    delimiter: z.enum(delimiters).nullable(),
    encoding: z.enum(encodings).nullable(),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe("What each column was taken for, once the header is read. Given back as mapping it does the same again"),
    errors: z.array(RowError).describe("The first 100; all of them by GET /imports/:id/errors"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Import" });
export type Import = z.output<typeof Import>;

/** What does not change any more, but for the columns, which are told once. */
export interface Stored extends records.Stored {
  orgId: number;
  siteId: number;
  filename: string | null;
  /** Key of the blob. */
  blob: string;
  size: number;
  wish: Omit<NewImport, "siteId" | "filename">;
  /** Asked for by a key of this site alone. */
  bound: boolean;
  columns?: Column[];
}

/** How far it is: small, because it is written again and again. */
export interface Run extends Counts {
  orgId: number;
  id: number;
  status: Import["status"];
  error?: string;
  updatedAt: string;
  /** Who is at work, until when (Unix seconds). */
  run?: string;
  lease?: number;
  look?: {
    tag: string;
    encoding?: Stored["wish"]["encoding"];
    delimiter: NonNullable<Stored["wish"]["delimiter"]>;
    cr: boolean;
    start: Place;
  };
  /** How far it is counted, and where the first row begins. */
  survey?: { place: Place; rows: number; utf8: boolean; body?: Place };
  total?: number;
  /** Of the contact that the first row would make; those of the others follow. */
  firstId?: number;
  /** How far it is stored. */
  place?: Place;
}
interface Place {
  bytes: number;
  row: number;
}
export interface Counts {
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
}

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

const none: Counts = { processed: 0, created: 0, updated: 0, skipped: 0, failed: 0 };

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
  return told(record, run!, await firstErrors(run!));
}

/** Newest first; of one site, or of all that the caller may see. */
export async function list(
  who: Who,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: Import[]; pagination: Pagination }> {
  const { items, pagination } = await records.list<Stored>("IMPORT", who, request, where({ siteId: await sites.only(who, siteId) }));
  const runs = await getMany<Run>(items.map(({ id }) => keys.importRun(who.orgId, id)));
  const errors = await inParallel(8, runs, (run) => firstErrors(run!));
  return { items: items.map((record, i) => told(record, runs[i]!, errors[i]!)), pagination };
}

const shownErrors = 100;
const errorsAtOnce = 10_000;

const firstErrors = async (run: Run): Promise<RowError[]> =>
  run.failed ? (await errorsAfter(run, "", shownErrors)).slice(0, shownErrors) : [];

/** Some 10,000 of them, by row; `next` is where to go on. Kept for 90 days. */
export async function errors(who: Who, id: number, cursor: string | undefined): Promise<{ rows: RowError[]; next?: string }> {
  await records.find<Stored>("IMPORT", who, id);
  const after = cursor === undefined ? "" : keys.importErrors(who.orgId, id, Number(cursor)).sk;
  const rows = await errorsAfter({ orgId: who.orgId, id }, after, errorsAtOnce);
  return rows.length < errorsAtOnce ? { rows } : { rows, next: String(rows.at(-1)!.row) };
}

interface ErrorPage {
  errors: Uint8Array;
  expires: number;
}

/** Whole pages, until there are enough. */
async function errorsAfter({ orgId, id }: Pick<Run, "orgId" | "id">, start: string, enough: number): Promise<RowError[]> {
  const found: RowError[] = [];
  let after: string | undefined = start || undefined;
  do {
    const page: { items: ErrorPage[]; next?: string } = await query<ErrorPage>(ranges.importErrors(orgId, id), {
      limit: 4,
      after,
      consistent: true,
    });
    for (const { errors: packed, expires } of page.items)
      if (expires > epochSeconds() && found.length < enough)
        found.push(
          ...(JSON.parse(gunzipSync(packed).toString("utf8")) as [number, string, string][]).map(([row, email, message]) => ({
            row,
            email,
            message,
          })),
        );
    after = page.next;
  } while (after !== undefined && found.length < enough);
  return found;
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
