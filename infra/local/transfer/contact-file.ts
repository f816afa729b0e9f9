// Imports a CSV file of contacts, such as an export of Mailchimp or listmonk, and waits until the
// service has imported it.
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type ApiTarget, callApi } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { type DemoProgress, formatCount } from "../demo/progress.ts";

interface ContactImport {
  id: number;
  status: string;
  error: string | null;
  processed: number;
  total: number | null;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
}

export async function importContactFile(
  caller: ApiTarget,
  { file, siteId, progress }: { file: string; siteId: number | undefined; progress: DemoProgress },
): Promise<ContactImport> {
  const { size } = statSync(file);
  const filename = basename(file);
  const upload = await callApi<{ uploadId: string; uploadUrl: string }>(
    caller,
    "POST /attachments",
    {
      filename,
      type: "text/csv",
      size,
      purpose: "import",
    },
  );
  const stored = await fetch(upload.uploadUrl, {
    method: "PUT",
    headers: { "content-type": "text/csv", "content-length": String(size) },
    body: Readable.toWeb(createReadStream(file)) as ReadableStream,
    duplex: "half",
  } as RequestInit);
  if (!stored.ok)
    throw new CliError(
      `The upload of ${filename} failed with status ${stored.status}: ${await stored.text()}`,
    );
  let job = await callApi<ContactImport>(caller, "POST /imports/upload", {
    uploadId: upload.uploadId,
    filename,
    ...(siteId && { siteId }),
  });
  while (job.status === "queued" || job.status === "running") {
    await pause(500);
    job = await callApi<ContactImport>(caller, `GET /imports/${job.id}`);
    progress.update("rows", job.processed, Math.max(job.total ?? job.processed, 1));
  }
  if (job.status === "failed") throw new CliError(`The import failed: ${job.error}`);
  const { created, updated, skipped, failed } = job;
  progress.finishStep(
    `${filename}: ${formatCount(created)} created, ${formatCount(updated)} updated, ` +
      `${formatCount(skipped)} unchanged or skipped, ${formatCount(failed)} failed`,
  );
  if (failed) progress.finishStep(`GET /imports/${job.id}/errors lists the failed rows`);
  return job;
}
