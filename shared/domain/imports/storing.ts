// Rows are stored, a thousand at a time. Each time it is noted together with what they came to how far it is, so that whoever takes it
// up goes on there. A row's contact is made under an id that was set aside for this row: who stores it again after a death is told the
// same.
import { now } from "../../clock.ts";
import { getMany } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import type { Group } from "../contacts/groups.ts";
import { apply } from "../contacts/upserts.ts";
import { piecesOf } from "./bytes.ts";
import { contactOf } from "./contacts.ts";
import type { RowError, Stored } from "./import.ts";
import { fileOf, format, type Job, note, type State } from "./job.ts";
import * as rowErrors from "./row-errors.ts";
import { type Place, type Row, rowsOf } from "./rows.ts";

export async function stored(job: Job): Promise<State> {
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
  return note(job, { place: rows.at(-1)!.end }, { add, with: errors.length ? [rowErrors.keeping(run, errors)] : [] });
}

/** Of the lists, those that are still there: one that is deleted meanwhile has no members. */
async function present({ orgId, siteId, wish }: Stored): Promise<number[]> {
  const found = await getMany<Group>(
    wish.lists.map((id) => keys.record(orgId, "LIST", id)),
    { consistent: true },
  );
  return found.flatMap((list) => (list?.siteId === siteId ? [list.id] : []));
}
