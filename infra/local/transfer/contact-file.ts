// Imports a CSV file of contacts, such as an export of Mailchimp or listmonk, and waits until the
// service has imported it.
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type ApiTarget, callApi } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { type DemoProgress, formatCount } from "../demo/progress.ts";

interface Run {
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
): Promise<Run> {
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
  let run = await callApi<Run>(caller, "POST /imports/upload", {
    uploadId: upload.uploadId,
    filename,
    ...(siteId && { siteId }),
  });
  while (run.status === "queued" || run.status === "running") {
    await pause(500);
    run = await callApi<Run>(caller, `GET /imports/${run.id}`);
    progress.update("rows", run.processed, Math.max(run.total ?? run.processed, 1));
  }
  if (run.status === "failed") throw new CliError(`The import failed: ${run.error}`);
  const { created, updated, skipped, failed } = run;
  progress.finishStep(
    `${filename}: ${formatCount(created)} created, ${formatCount(updated)} updated, ` +
      `${formatCount(skipped)} unchanged or skipped, ${formatCount(failed)} failed`,
  );
  if (failed) progress.finishStep(`GET /imports/${run.id}/errors lists the failed rows`);
  return run;
}
