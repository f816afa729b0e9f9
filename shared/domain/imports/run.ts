// The work of an import: first the whole file is read, to be counted and to know that it can be read; then its rows are stored, a
// thousand at a time. Each time it is noted together with what they came to how far it is, so that whoever takes it up goes on there.
// A row's contact is made under an id that was set aside for this row: who stores it again after a death is told the same.
import { gzipSync } from "node:zlib";
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, any, atMost, equals } from "../../conditions.ts";
import { claim, get, getMany, put, update, updateReturning, type Write } from "../../doors/table.ts";
import { invalid, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys, off } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { Group } from "../contacts/groups.ts";
import { apply } from "../contacts/upserts.ts";
import { type Counts, dueAfter, type RowError, type Run, runSoon, type Stored } from "../imports.ts";
import * as sites from "../sites.ts";
import { type File, headOf, piecesOf } from "./bytes.ts";
import { columnsOf } from "./columns.ts";
import { contactOf } from "./contacts.ts";
import { look, utf8Watch } from "./encodings.ts";
import { type Place, type Row, rowsOf } from "./rows.ts";

interface Job {
  record: Stored;
  run: Run;
  until: Date;
}

/** Works until it is done or the time is up; then another message goes on. Safe to repeat, and left alone while somebody is at work. */
export async function run(orgId: number, id: number): Promise<void> {
  const job = await begun(orgId, id);
  if (!job) return;
  try {
    await work(job);
  } catch (error) {
    // It cannot be mended by waiting: no column is an address, a quote is not closed.
    if (!(error instanceof Problem)) throw error;
    await note(job, { status: "failed", error: error.message }, { over: true });
  }
}

const leaseSeconds = queues.import.timeoutSeconds + 30;

async function begun(orgId: number, id: number): Promise<Job | undefined> {
  const address = keys.importRun(orgId, id);
  const there = await get<Run>(address);
  if (!there || there.status === "completed" || there.status === "failed") return undefined;
  const time = epochSeconds();
  const set = { run: ids.randomText(12), lease: time + leaseSeconds, status: "running", ...dueAfter(id, leaseSeconds + 30) };
  const mine = await updateReturning<Run>(update(address, { set }, { if: any(absent("lease"), atMost("lease", time)) }));
  const record = mine && (await get<Stored>(keys.record(orgId, "IMPORT", id)));
  return record && { record, run: mine, until: after(queues.import.timeoutSeconds - 30) };
}

interface Noted {
  /** What the counters move by. */
  add?: Partial<Counts>;
  over?: boolean;
  with?: Write[];
}

/** False when somebody else has taken it over. */
async function note({ run }: Job, set: Partial<Run>, { add = {}, over = false, with: others = [] }: Noted = {}): Promise<boolean> {
  const moved = Object.fromEntries(Object.entries(add).filter(([, by]) => by)) as Record<keyof Counts, number>;
  const change = {
    set: { ...set, updatedAt: now().toISOString() },
    add: moved,
    remove: over ? ["run", "lease", ...off("due")] : [],
  };
  const noted = await claim(update(keys.importRun(run.orgId, run.id), change, { if: equals("run", run.run) }), ...others);
  if (noted) Object.assign(run, set, Object.fromEntries(Object.entries(moved).map(([name, by]) => [name, run[name as keyof Counts] + by])));
  return noted;
}

/** `lost`: somebody else is at it. */
type State = "done" | "paused" | "lost";

async function work(job: Job): Promise<void> {
  const { orgId, id } = job.run;
  await sites.find({ orgId }, job.record.siteId);
  const state = await stepsOf(job);
  if (state === "done") await note(job, { status: "completed" }, { over: true });
  if (state === "paused" && (await note(job, { lease: 0 }))) await runSoon(orgId, id);
}

async function stepsOf(job: Job): Promise<State> {
  for (const step of [looked, counted, stored]) {
    const state = await step(job);
    if (state !== "done") return state;
  }
  return "done";
}

const headBytes = 256 * 1024;

async function looked(job: Job): Promise<State> {
  if (job.run.look) return "done";
  const { bytes, tag } = await headOf(job.record, headBytes);
  return (await note(job, { look: { tag, ...look(bytes, job.record.wish) } })) ? "done" : "lost";
}

const fileOf = ({ record: { blob, size }, run }: Job): File => ({ blob, size, tag: run.look!.tag });
const format = ({ run: { look: found } }: Job) => ({
  delimiter: found!.delimiter,
  cr: found!.cr,
  encoding: found!.encoding ?? ("utf-8" as const),
});

/** Counts the rows; then it is known how many ids they need, and of a file without a mark whether it is UTF-8. */
async function counted(job: Job): Promise<State> {
  if (job.run.total !== undefined) return "done";
  const survey = { ...(job.run.survey ?? { place: job.run.look!.start, rows: 0, utf8: true }) };
  const utf8 = utf8Watch();
  let end = true;
  for await (const { end: place } of rowsOf(watched(piecesOf(fileOf(job), survey.place.bytes), utf8.watch), survey.place, format(job))) {
    if (survey.body) survey.rows++;
    else survey.body = place;
    survey.place = place;
    if (survey.rows % 1000 === 0 && now() >= job.until) {
      end = false;
      break;
    }
  }
  survey.utf8 &&= utf8.valid(end);
  if (!end) return (await note(job, { survey })) ? "paused" : "lost";
  return settled(job, survey);
}

async function* watched(pieces: AsyncIterable<Uint8Array>, watch: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    watch(piece);
    yield piece;
  }
}

async function settled(job: Job, { rows, utf8, body }: NonNullable<Run["survey"]>): Promise<State> {
  const { record, run } = job;
  if (!body) throw invalid("The file is empty: its first row must name the columns, one of them email");
  const found = { ...run.look!, encoding: run.look!.encoding ?? (utf8 ? ("utf-8" as const) : ("windows-1252" as const)) };
  const [header = [], ...first] = await someRows({ ...job, run: { ...run, look: found } });
  const columns = columnsOf(header, first, record.wish.mapping);
  const firstId = rows ? await ids.take("CONTACT", rows) : 1;
  const naming = update(keys.record(record.orgId, "IMPORT", record.id), { set: { columns } });
  const noted = await note(job, { look: found, total: rows, firstId, place: body }, { with: [naming] });
  if (noted) record.columns = columns;
  return noted ? "done" : "lost";
}

const sample = 20;

async function someRows(job: Job): Promise<string[][]> {
  const { start } = job.run.look!;
  const rows: string[][] = [];
  for await (const { cells } of rowsOf(piecesOf(fileOf(job), start.bytes), start, format(job))) {
    rows.push(cells);
    if (rows.length > sample) break;
  }
  return rows;
}

async function stored(job: Job): Promise<State> {
  // Somebody may have died over the rows that come first now.
  let again = true;
  const place = job.run.place!;
  for await (const rows of batched(rowsOf(piecesOf(fileOf(job), place.bytes), place, format(job)), place)) {
    if (now() >= job.until) return "paused";
    if (!(await storeSome(job, rows, again))) return "lost";
    again = false;
  }
  return "done";
}

const maxRows = 1000;
const maxBytes = 1_000_000;

/** Cut by their places in the file alone. */
async function* batched(rows: AsyncIterable<Row>, from: Place): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let start = from.bytes;
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < maxRows && row.end.bytes - start < maxBytes) continue;
    yield batch;
    batch = [];
    start = row.end.bytes;
  }
  if (batch.length) yield batch;
}

/** Rows, and the note of what they came to. */
async function storeSome(job: Job, rows: Row[], again: boolean): Promise<boolean> {
  const { record, run } = job;
  const { wish, orgId, siteId, bound } = record;
  const lists = await present(record);
  const errors: RowError[] = [];
  const good = rows.flatMap(({ row, cells }, i) => {
    const read = contactOf(cells, record.columns!);
    if (read.error !== undefined) errors.push({ row, email: read.email, message: read.error });
    else return [{ row, id: run.firstId! + run.processed + i, contact: { ...read.row, tags: [...read.row.tags, ...wish.tags], lists } }];
    return [];
  });
  const outcomes = await apply(
    { orgId, siteId: bound ? siteId : undefined },
    siteId,
    good.map(({ contact }) => contact),
    {
      resubscribe: wish.resubscribe,
      mode: wish.mode,
      fresh: { status: wish.status, source: "import" },
      ids: good.map(({ id }) => id),
      again,
    },
  );
  for (const [i, { error }] of outcomes.entries())
    if (error !== undefined) errors.push({ row: good[i]!.row, email: good[i]!.contact.email, message: error });
  const count = (outcome: string) => outcomes.filter((one) => one.outcome === outcome).length;
  const add = {
    processed: rows.length,
    created: count("created"),
    updated: count("updated"),
    skipped: count("skipped"),
    failed: errors.length,
  };
  return note(job, { place: rows.at(-1)!.end }, { add, with: errors.length ? [keeping(run, errors)] : [] });
}

/** Of the lists, those that are still there: one that is deleted meanwhile has no members. */
async function present({ orgId, siteId, wish }: Stored): Promise<number[]> {
  const found = await getMany<Group>(
    wish.lists.map((id) => keys.record(orgId, "LIST", id)),
    { consistent: true },
  );
  return found.flatMap((list) => (list?.siteId === siteId ? [list.id] : []));
}

const keptSeconds = 90 * 24 * 3600;

function keeping({ orgId, id }: Run, errors: RowError[]): Write {
  const sorted = errors.toSorted((a, b) => a.row - b.row);
  const packed = gzipSync(JSON.stringify(sorted.map(({ row, email, message }) => [row, email.slice(0, 100), message.slice(0, 200)])));
  return put(keys.importErrors(orgId, id, sorted.at(-1)!.row), { errors: packed, expires: epochSeconds() + keptSeconds });
}
