// Stores rows in batches of 1,000. Each batch saves its counts and the file position in one write,
// so the next worker resumes there.
// Every row has a reserved contact id, so storing a row again after a crash changes nothing.

import { getMany } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import type { JobOutcome } from "../../../kernel/leased-job.ts";
import { keys } from "../../../keys.ts";
import { upsertRows } from "../contacts/upserts.ts";
import type { Group } from "../groups/groups.ts";
import { addAll as suppressAll } from "../suppressions/suppression-imports.ts";
import { type CsvRow, type FilePosition, readRows } from "./csv-rows.ts";
import { csvFormat, type ImportJob, saveProgress, sourceFile } from "./import-job.ts";
import type { ImportRecord, ImportRowError, NewImport } from "./import-record.ts";
import { maxTagsOf, parseRow } from "./parse-row.ts";
import * as rowErrors from "./row-errors.ts";
import { readFrom } from "./stored-file.ts";

export async function storeRows(job: ImportJob): Promise<JobOutcome> {
  // A previous worker may have crashed in the middle of the first batch, so its rows may already be
  // stored.
  let mayBeRetry = true;
  const position = job.run.place!;
  for await (const rows of batchRows(
    readRows(readFrom(sourceFile(job), position.bytes), position, csvFormat(job)),
    position,
  )) {
    if (now() >= job.until) return "paused";
    if (!(await storeBatch(job, rows, mayBeRetry))) return "lost";
    mayBeRetry = false;
  }
  return "done";
}

const maxBatchRows = 1000;
const maxBatchBytes = 1_000_000;

/** Depends only on the positions of the rows, so a repeat makes the same batches. */
async function* batchRows(
  rows: AsyncIterable<CsvRow>,
  from: FilePosition,
): AsyncGenerator<CsvRow[]> {
  let batch: CsvRow[] = [];
  let start = from.bytes;
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < maxBatchRows && row.end.bytes - start < maxBatchBytes) continue;
    yield batch;
    batch = [];
    start = row.end.bytes;
  }
  if (batch.length) yield batch;
}

/** Stores the rows, then the progress. False if the import is lost. */
async function storeBatch(job: ImportJob, rows: CsvRow[], mayBeRetry: boolean): Promise<boolean> {
  const { record, run } = job;
  const { wish: options, orgId, siteId, bound } = record;
  const lists = await findExistingListIds(record);
  const errors: ImportRowError[] = [];
  const maxTags = maxTagsOf(options);
  const validRows = rows.flatMap(({ row, cells }, i) => {
    const parsed = parseRow(cells, record.columns!, { maxTags });
    if (parsed.error !== undefined) {
      errors.push({ row, email: parsed.email, message: parsed.error });
      return [];
    }
    const status =
      parsed.suppress && (bound || options.resubscribe) ? { status: "unsubscribed" as const } : {};
    const tags = [...parsed.row.tags, ...options.tags];
    const { sendConfirmation } = options;
    const contact = { ...parsed.row, ...status, tags, lists, sendConfirmation };
    return [
      {
        row,
        id: run.firstId! + run.processed + i,
        contact,
        suppress: parsed.suppress && !bound,
        lacksConsent: parsed.lacksConsent,
      },
    ];
  });
  const entry = { reason: "import" as const, source: "import" };
  const suppressed = validRows.filter(({ suppress }) => suppress);
  await suppressAll(
    orgId,
    suppressed.map(({ contact: { email } }) => ({ email, ...entry })),
  );
  const upsert = async (some: typeof validRows, status: NewImport["status"]) => {
    const outcomes = await upsertRows(
      { caller: { orgId, ...(bound && { siteIds: [siteId] }) }, siteId },
      some.map(({ contact }) => contact),
      {
        resubscribe: options.resubscribe,
        mode: options.mode,
        startSequences: options.startSequences,
        consentSource: "import",
        confirmationSource: "import",
        format: record.format,
        defaults: { status, source: "import" },
        ids: some.map(({ id }) => id),
        mayBeRetry,
      },
    );
    for (const [i, { error }] of outcomes.entries())
      if (error !== undefined)
        errors.push({ row: some[i]!.row, email: some[i]!.contact.email, message: error });
    return outcomes;
  };
  const outcomes = [
    ...(await upsert(
      validRows.filter(({ lacksConsent }) => !lacksConsent),
      options.status,
    )),
    // A new contact is not subscribed without a yes in the column that asks for it.
    ...(await upsert(
      validRows.filter(({ lacksConsent }) => lacksConsent),
      options.status === "subscribed" ? "unsubscribed" : options.status,
    )),
  ];
  const count = (outcome: string) => outcomes.filter((row) => row.outcome === outcome).length;
  const progress = {
    place: rows.at(-1)!.end,
    processed: run.processed + rows.length,
    created: run.created + count("created"),
    updated: run.updated + count("updated"),
    skipped: run.skipped + count("skipped"),
    failed: run.failed + errors.length,
  };
  return saveProgress(
    job,
    progress,
    ...(errors.length ? [rowErrors.addErrorsWrite(run, errors)] : []),
  );
}

/** A list that was deleted since the import was created is left out. */
async function findExistingListIds({ orgId, siteId, wish }: ImportRecord): Promise<number[]> {
  const found = await getMany<Group>(
    wish.lists.map((id) => keys.record(orgId, "LIST", id)),
    { consistent: true },
  );
  return found.flatMap((list) => (list?.siteId === siteId ? [list.id] : []));
}
