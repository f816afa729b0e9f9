// Exports too long for one answer, written to object storage by a worker: first all is read to be counted and to know the columns,
// then it is written, part by part. After each part it is noted how far it came, so that whoever takes it up goes on there.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { after, epochSeconds, now } from "../clock.ts";
import { absent, any, atMost, type Condition, equals } from "../conditions.ts";
import * as blobs from "../doors/blobs.ts";
import { enqueue } from "../doors/queue.ts";
import { claim, get, type Page, update, updateReturning } from "../doors/table.ts";
import { Problem } from "../errors.ts";
import { randomText } from "../ids.ts";
import { dueShard, keys, off, on, shards, shelves } from "../keys.ts";
import { inParallel } from "../parallel.ts";
import { queues } from "../queues.ts";
import * as pages from "./contacts/pages.ts";
import { type Format, formats, type Shape, writers } from "./exports/formats.ts";
import { type Filter, type Kind, kinds, ofSite, type Source, sources } from "./exports/sources.ts";
import * as records from "./records.ts";
import * as sites from "./sites.ts";

export const Export = z
  .object({
    id: z.int(),
    type: z.enum(kinds),
    format: z.enum(formats),
    status: z.enum(["queued", "running", "completed", "failed"]),
    progress: z.int().describe("Per cent"),
    rows: z.int().nullable().describe("How many it will have, once they are counted"),
    downloadUrl: z.string().nullable().describe("Once it is completed, for seven days: good for an hour, ask again for another"),
    error: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Export" });
export type Export = z.output<typeof Export>;

interface Stored extends records.Stored {
  orgId: number;
  /** null for what belongs to the whole organization. */
  siteId: number | null;
  type: Kind;
  format: Format;
  filter: Filter;
  status: Export["status"];
  error?: string;
  /** Key of the blob. */
  blob: string;
  /** What the first reading found. */
  survey?: Survey;
  /** How far it is written. */
  written?: Written;
  /** Who is at work, until when (Unix seconds). */
  run?: string;
  lease?: number;
}

interface Survey {
  rows: number;
  fields: string[];
}

interface Written {
  uploadId: string;
  parts: string[];
  rows: number;
  /** The collection, by its place, and the sort key after which it goes on; past the last it is all there. */
  shard: number;
  after?: string | undefined;
}

type Who = Pick<Caller, "orgId" | "siteId">;

export interface Wish {
  type: Kind;
  format: Format;
  filter: Filter;
}

/** Stored, then enqueued; should we die in between, a tick finds it. 404 and 400 as the filter has it. */
export async function start(who: Who, wish: Wish): Promise<Export> {
  const { orgId } = who;
  const { type, format, filter } = await settled(who, wish);
  const stamp = await records.stamp("EXPORT");
  const blob = `exports/${orgId}/${stamp.id}-${randomText(16)}.${format}`;
  const siteId = ofSite.has(type) ? filter.siteId! : null;
  const item: Stored = { ...stamp, orgId, siteId, type, format, filter, status: "queued", blob, ...dueAfter(stamp.id, 60) };
  await records.insert("EXPORT", who, item);
  await runSoon(orgId, item.id);
  return told(item);
}

/** With the site that the filter means, as this caller may read it. */
export async function settled(who: Who, { type, format, filter }: Wish): Promise<Wish> {
  if (!ofSite.has(type)) return { type, format, filter };
  if (type !== "contacts") return { type, format, filter: { siteId: await sites.resolve(who, filter.siteId) } };
  const { siteId } = await pages.wantedOf(who, filter);
  return { type, format, filter: { ...filter, siteId } };
}

const dueAfter = (id: number, seconds: number) => on(shelves.due("EXPORT", dueShard(id)), after(seconds).toISOString());

export const runSoon = (orgId: number, exportId: number): Promise<void> => enqueue(queues.export, [{ orgId, exportId }], { group: orgId });

/** Throws 404, and 403 for a key of another site. */
export const find = async (who: Who, id: number): Promise<Export> => told(await records.find<Stored>("EXPORT", who, id));

// As long as the bucket keeps it.
const keptSeconds = 7 * 24 * 3600;
const urlSeconds = 3600;

async function told({ id, type, format, status, survey, written, blob, error, createdAt, updatedAt }: Stored): Promise<Export> {
  const there = status === "completed" && epochSeconds() - Date.parse(updatedAt) / 1000 < keptSeconds;
  const downloadUrl = there ? await blobs.downloadUrl(blob, `${type}.${format}`, urlSeconds) : null;
  const share = survey?.rows ? Math.min(99, Math.floor((100 * (written?.rows ?? 0)) / survey.rows)) : 0;
  const progress = status === "completed" ? 100 : share;
  const rows = status === "completed" ? (written?.rows ?? 0) : (survey?.rows ?? null);
  return { id, type, format, status, progress, rows, downloadUrl, error: error ?? null, createdAt, updatedAt };
}

/** Works until it is done or the time is up; then another message goes on. Safe to repeat, and left alone while somebody is at work. */
export async function run(orgId: number, id: number): Promise<void> {
  const job = await begun(orgId, id);
  if (!job) return;
  try {
    await work(job);
  } catch (error) {
    // It cannot be mended by waiting: a segment is gone, a site.
    if (!(error instanceof Problem)) throw error;
    await note(job, { status: "failed", error: error.message }, true);
  }
}

interface Job {
  item: Stored;
  until: Date;
}

const leaseSeconds = queues.export.timeoutSeconds + 30;

async function begun(orgId: number, id: number): Promise<Job | undefined> {
  const address = keys.record(orgId, "EXPORT", id);
  const there = await get<Stored>(address);
  if (!there || there.status === "completed" || there.status === "failed") return undefined;
  const time = epochSeconds();
  const set = { run: randomText(12), lease: time + leaseSeconds, status: "running", ...dueAfter(id, leaseSeconds + 30) };
  const item = await updateReturning<Stored>(update(address, { set }, { if: any(absent("lease"), atMost("lease", time)) }));
  return item && { item, until: after(queues.export.timeoutSeconds - 60) };
}

/** False when somebody else has taken it over. */
async function note({ item }: Job, set: Partial<Stored>, over = false): Promise<boolean> {
  const mine: Condition = equals("run", item.run);
  const change = { set: { ...set, updatedAt: now().toISOString() }, remove: over ? ["run", "lease", ...off("due")] : [] };
  const noted = await claim(update(keys.record(item.orgId, "EXPORT", item.id), change, { if: mine }));
  if (noted) Object.assign(item, set);
  return noted;
}

async function work(job: Job): Promise<void> {
  const { item } = job;
  const source = await sources[item.type](item.orgId, item.filter);
  if (!item.survey && !(await note(job, { survey: await surveyed(source) }))) return;
  const { type } = writers[item.format];
  if (!item.written && !(await note(job, { written: { uploadId: await blobs.beginParts(item.blob, type), parts: [], rows: 0, shard: 0 } })))
    return;
  const state = await writeParts(job, source, source.shape(item.survey!.fields));
  if (state === "done") {
    await blobs.finishParts(item.blob, item.written!.uploadId, item.written!.parts);
    await note(job, { status: "completed" }, true);
  }
  if (state === "paused" && (await note(job, { lease: 0 }))) await runSoon(item.orgId, item.id);
}

/** Collections side by side, of which nothing is kept but their number and the names of their fields. */
async function surveyed(source: Source): Promise<Survey> {
  const fields = new Set<string>();
  let rows = 0;
  await inParallel(4, shards, async (shard) => {
    for await (const { items } of source.pages(shard, undefined, true)) {
      rows += items.length;
      for (const field of source.fieldsOf(items)) if (fields.size < mostFields) fields.add(field);
    }
  });
  return { rows, fields: [...fields].sort() };
}

// What a record has room for.
const mostFields = 2000;
const partBytes = 6 * 1024 * 1024;

/** One part after the other. `lost`: somebody else is at it. */
async function writeParts(job: Job, source: Source, shape: Shape): Promise<"done" | "paused" | "lost"> {
  while (job.item.written!.shard < shards.length) {
    if (now() >= job.until) return "paused";
    if (!(await writePart(job, source, shape))) return "lost";
  }
  return "done";
}

/** As many rows as a part takes, and the note that they are written. */
async function writePart(job: Job, source: Source, shape: Shape): Promise<boolean> {
  const { item } = job;
  const { begin, some, end } = writers[item.format];
  const { uploadId, parts, ...from } = item.written!;
  const texts = [parts.length ? "" : begin(shape)];
  let [rows, bytes] = [from.rows, 0];
  let place: Pick<Written, "shard" | "after"> = from;
  for await (const { page, next } of pagesFrom(source, from)) {
    const text = some(shape, await source.rows(page.items), rows === 0);
    texts.push(text);
    rows += page.items.length;
    bytes += Buffer.byteLength(text);
    place = next;
    if (bytes >= partBytes) break;
  }
  if (place.shard === shards.length) texts.push(end(shape));
  const tag = await blobs.putPart(item.blob, uploadId, parts.length + 1, Buffer.from(texts.join("")));
  return note(job, { written: { uploadId, parts: [...parts, tag], rows, ...place } });
}

/** Pages of one collection after the other, each with where to go on after it. */
async function* pagesFrom(
  source: Source,
  { shard: first, after: start }: Pick<Written, "shard" | "after">,
): AsyncGenerator<{ page: Page<unknown>; next: Pick<Written, "shard" | "after"> }> {
  for (let shard = first; shard < shards.length; shard++)
    for await (const page of source.pages(shards[shard]!, shard === first ? start : undefined))
      yield { page, next: page.next === undefined ? { shard: shard + 1 } : { shard, after: page.next } };
}
