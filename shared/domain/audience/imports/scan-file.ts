// Scans an import's file: format, number of rows and columns. A file that cannot be read fails
// before any contact changes.

import { update } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { invalid } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import type { JobOutcome } from "../../../kernel/leased-job.ts";
import { keys } from "../../../keys.ts";
import { listOfSite } from "../topics/site-topics.ts";
import { findTopics, findUnclearProblem, mapColumns } from "./column-mapping.ts";
import { addEvidenceOfRow, findConsentColumns } from "./consent.ts";
import { readRows } from "./csv-rows.ts";
import { sampleCustomFields } from "./custom-field-sample.ts";
import { createUtf8Checker, sniffFormat } from "./format-sniffer.ts";
import { csvFormat, type ImportJob, saveProgress, sourceFile } from "./import-job.ts";
import { type ImportColumn, isExported, withTypes } from "./import-options.ts";
import type { ImportProgress } from "./import-record.ts";
import { readFrom, readHead } from "./stored-file.ts";
import { addFormatEvidence, detectValueFormat, findFormatProblem } from "./value-formats.ts";

const headBytes = 256 * 1024;

export async function detectFormat(job: ImportJob): Promise<JobOutcome> {
  if (job.run.look) return "done";
  const { bytes, etag } = await readHead(job.record, headBytes);
  const look = { tag: etag, ...sniffFormat(bytes, job.record.wish) };
  return (await saveProgress(job, { look })) ? "done" : "lost";
}

/**
 * Counts the rows, which says how many contact ids to reserve, and decides whether a file without a
 * mark is UTF-8.
 */
export async function countRows(job: ImportJob): Promise<JobOutcome> {
  if (job.run.total !== undefined) return "done";
  const survey = { ...(job.run.survey ?? { place: job.run.look!.start, rows: 0, utf8: true }) };
  const utf8 = createUtf8Checker();
  let isAtEnd = true;
  const identifiers = new Set(survey.identifiers);
  const formats = [...(survey.formats ?? [])];
  for await (const { end: place, cells } of readRows(
    observeBytes(readFrom(sourceFile(job), survey.place.bytes), utf8.add),
    survey.place,
    csvFormat(job),
  )) {
    if (survey.body) {
      survey.rows++;
      for (const [i, cell] of cells.entries()) if (isIdentifier(cell)) identifiers.add(i);
      addEvidenceOfRow(survey.consent ?? [], cells);
      addFormatEvidence(formats, cells);
    } else {
      survey.body = place;
      survey.consent = findConsentColumns(cells);
    }
    survey.place = place;
    if (survey.rows % 1000 === 0 && now() >= job.until) {
      isAtEnd = false;
      break;
    }
  }
  survey.identifiers = [...identifiers];
  survey.formats = formats;
  survey.utf8 &&= utf8.valid(isAtEnd);
  if (!isAtEnd) return (await saveProgress(job, { survey })) ? "paused" : "lost";
  return finishScan(job, survey);
}

async function* observeBytes(
  blocks: AsyncIterable<Uint8Array>,
  observe: (block: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) {
    observe(block);
    yield block;
  }
}

async function finishScan(
  job: ImportJob,
  {
    rows,
    utf8,
    body,
    identifiers = [],
    consent = [],
    formats = [],
  }: NonNullable<ImportProgress["survey"]>,
): Promise<JobOutcome> {
  const { record, run } = job;
  if (!body)
    throw invalid(
      "The file is empty: its first row must name the columns, and one of them must be email",
    );
  const format = {
    ...run.look!,
    encoding: run.look!.encoding ?? (utf8 ? ("utf-8" as const) : ("windows-1252" as const)),
  };
  const [header = [], ...rowSample] = await readFirstRows({
    ...job,
    run: { ...run, look: format },
  });
  const [{ keys: customFieldKeys, typeOf, texts }, topics] = await Promise.all([
    sampleCustomFields(record),
    listOfSite(record.orgId, record.siteId),
  ]);
  const mapped = mapColumns(header, rowSample, {
    mapping: record.wish.mapping,
    customFieldKeys,
    consent,
  });
  const typed = withTypes(mapped, typeOf);
  const values = detectValueFormat(record.wish, typed, formats);
  const problem = findUnclearProblem(mapped) ?? findFormatProblem(values, typed, formats);
  if (problem) throw invalid(problem);
  const columns = findTopics(typed, topics).map((column, i): ImportColumn => {
    const isText = identifiers.includes(i) || texts.has(column.field);
    return isText && !column.type && !isExported(column) ? { ...column, text: true } : column;
  });
  const firstId = rows ? await ids.nextId("CONTACT", rows) : 1;
  const columnsWrite = update(keys.record(record.orgId, "IMPORT", record.id), {
    set: { columns, format: values },
  });
  const saved = await saveProgress(
    job,
    { look: format, total: rows, firstId, place: body },
    columnsWrite,
  );
  if (saved) Object.assign(record, { columns, format: values });
  return saved ? "done" : "lost";
}

/** Whether it is a zip code, phone number or card number, which would lose digits as a number. */
const isIdentifier = (cell: string): boolean =>
  /^\s*(?:0\d|\+\d|\d{16})/.test(cell) && /^[\s+\d]*$/.test(cell);

const sampledRows = 20;

async function readFirstRows(job: ImportJob): Promise<string[][]> {
  const { start } = job.run.look!;
  const rows: string[][] = [];
  for await (const { cells } of readRows(
    readFrom(sourceFile(job), start.bytes),
    start,
    csvFormat(job),
  )) {
    rows.push(cells);
    if (rows.length > sampledRows) break;
  }
  return rows;
}
