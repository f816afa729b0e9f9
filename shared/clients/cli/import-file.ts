// `pennymail import FILE`: imports contacts and shows the progress.
import * as fs from "node:fs";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ApiClient, call, connect } from "./api-client.ts";
import type { Command, CommandInput } from "./command.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { optionText, optionUsage } from "./help.ts";
import { findOperation } from "./names.ts";
import { fieldParserOptions, readFields } from "./operation-options.ts";
import { formatRecord } from "./tables.ts";
import type { Terminal } from "./terminal.ts";

interface ImportJob {
  id: number;
  status: "queued" | "running" | "completed" | "failed";
  error: string | null;
  progress: number;
  total: number | null;
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
  errors: { row: number; email: string; message: string }[];
}

/** The fields of an import other than its file. */
const fields = (findOperation("imports", "create")?.bodyOptions ?? []).filter(
  ({ name }) => name !== "uploadId",
);

export const importFile: Command = {
  usage: "import FILE [options]",
  summary: "Import contacts from a CSV file, with a progress bar",
  description: "Waits until the import is finished. Exits with 1 if it failed as a whole.",
  options: fieldParserOptions(fields),
  optionTexts: Object.fromEntries(fields.map((field) => [optionUsage(field), optionText(field)])),
  words: [1, 1],
  run: async ({ terminal, values, words }) => {
    const client = connect(terminal);
    const options = { filename: basename(words[0]!), ...readFields(fields, values) };
    const { id } = await startImport(client, await openFile(words[0]!), options);
    const job = await waitForImport(client, id, terminal);
    printJob(job, { terminal, values });
    if (job.status === "failed")
      throw new CommandError(`The import failed: ${job.error}`, exitCodes.refused);
  },
};

async function openFile(path: string): Promise<Blob> {
  try {
    // Node 18 has no openAsBlob, which does not read the file into memory.
    return fs.openAsBlob
      ? await fs.openAsBlob(path, { type: "text/csv" })
      : new Blob([fs.readFileSync(path)], { type: "text/csv" });
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A request has at most 6 MB on AWS. */
const maxRequestBytes = 4_000_000;

async function startImport(
  client: ApiClient,
  file: Blob,
  options: Record<string, unknown>,
): Promise<ImportJob> {
  if (file.size <= maxRequestBytes) return call(client, "imports.create", file, asTexts(options));
  const type = "text/csv";
  const upload = { filename: options.filename, type, size: file.size, purpose: "import" };
  const { uploadId, uploadUrl } = await call<{ uploadId: string; uploadUrl: string }>(
    client,
    "attachments.createUpload",
    upload,
  );
  const stored = await fetch(uploadUrl, {
    method: "PUT",
    body: file,
    headers: { "content-type": type },
  });
  if (!stored.ok)
    throw new CommandError(`The upload failed with status ${stored.status}`, exitCodes.refused);
  return call(client, "imports.create", { uploadId, ...options });
}

/** Values of the query: lists and objects are JSON there. */
const asTexts = (options: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === "object" ? JSON.stringify(value) : value,
    ]),
  );

const pollMilliseconds = 1000;

async function waitForImport(client: ApiClient, id: number, terminal: Terminal) {
  while (true) {
    const job = await call<ImportJob>(client, "imports.get", id);
    drawProgress(job, terminal);
    if (job.status === "completed" || job.status === "failed") return job;
    await pause(pollMilliseconds);
  }
}

const barWidth = 30;

function drawProgress({ progress, processed, total, status }: ImportJob, terminal: Terminal): void {
  if (!terminal.showsProgress) return;
  const filled = Math.round((progress / 100) * barWidth);
  const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
  const end = status === "completed" || status === "failed" ? "\n" : "";
  terminal.writeError(`\r${bar} ${progress} %  ${processed} of ${total ?? "?"} rows${end}`);
}

const shownErrors = 10;

function printJob(job: ImportJob, { terminal, values }: Pick<CommandInput, "terminal" | "values">) {
  if (values.json || !terminal.isInteractive)
    return terminal.write(`${JSON.stringify(job, null, 2)}\n`);
  const { id, status, total, created, updated, skipped, failed, errors } = job;
  terminal.write(formatRecord({ id, status, total, created, updated, skipped, failed }, terminal));
  if (!failed) return;
  terminal.write(formatRecord({ errors: errors.slice(0, shownErrors) }, terminal));
  terminal.writeError(`\`pennymail imports get-errors ${id}\` lists all rows that failed.\n`);
}
