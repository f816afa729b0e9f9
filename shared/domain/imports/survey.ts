// First the whole file is read, to know that it can be read and how.
import { now } from "../../clock.ts";
import { update } from "../../doors/table.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import * as reader from "../contacts/reader.ts";
import { headOf, piecesOf } from "./bytes.ts";
import { columnsOf } from "./columns.ts";
import { look, utf8Watch } from "./encodings.ts";
import type { Run, Stored } from "./import.ts";
import { fileOf, format, type Job, note, type State } from "./job.ts";
import { rowsOf } from "./rows.ts";

const headBytes = 256 * 1024;

/** How it is written, by its beginning. */
export async function looked(job: Job): Promise<State> {
  if (job.run.look) return "done";
  const { bytes, tag } = await headOf(job.record, headBytes);
  return (await note(job, { look: { tag, ...look(bytes, job.record.wish) } })) ? "done" : "lost";
}

/** Counts the rows; then it is known how many ids they need, and of a file without a mark whether it is UTF-8. */
export async function counted(job: Job): Promise<State> {
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
  const columns = columnsOf(header, first, record.wish.mapping, await customKeys(record));
  const firstId = rows ? await ids.take("CONTACT", rows) : 1;
  const naming = update(keys.record(record.orgId, "IMPORT", record.id), { set: { columns } });
  const noted = await note(job, { look: found, total: rows, firstId, place: body }, { with: [naming] });
  if (noted) record.columns = columns;
  return noted ? "done" : "lost";
}

const mostPeople = 500;

/** Of custom fields, as some people of the site have them; what most have comes first. */
async function customKeys({ orgId, siteId }: Stored): Promise<string[]> {
  const { items } = await reader.page(orgId, siteId, { limit: mostPeople }, {});
  const times = new Map<string, number>();
  for (const key of items.flatMap(({ customFields }) => Object.keys(customFields ?? {}))) times.set(key, (times.get(key) ?? 0) + 1);
  return [...times].sort(([, a], [, b]) => b - a).map(([key]) => key);
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
