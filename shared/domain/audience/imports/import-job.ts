// The leased job of an import. Progress is only saved while the worker has the lease.

import type { Write } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../../clock.ts";
import * as leasedJob from "../../../kernel/leased-job.ts";
import type { Lease } from "../../../kernel/leases.ts";
import * as records from "../../../kernel/records.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { jobSeconds, queues } from "../../../queues.ts";
import type { ImportProgress, ImportRecord } from "./import-record.ts";
import type { StoredFile } from "./stored-file.ts";

export interface ImportJob {
  record: ImportRecord;
  run: ImportProgress;
  lease: Lease;
  until: Date;
}

export const dueAttributes = (id: number, seconds: number) =>
  indexAttributes(indexes.due("IMPORT", dueShardOf(id)), addSeconds(seconds).toISOString());

export const enqueueRun = (orgId: number, importId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "import", orgId, importId }], { group: orgId });

/** Undefined if the import is over or another worker has the lease. */
export async function acquireJob(orgId: number, id: number): Promise<ImportJob | undefined> {
  const taken = await leasedJob.takeJob<ImportProgress>(keys.importRun(orgId, id), {
    timeoutSeconds: jobSeconds.import,
    dueAttributes: (seconds) => dueAttributes(id, seconds),
  });
  const record = taken && (await records.findAlive<ImportRecord>("IMPORT", orgId, id));
  const until = addSeconds(jobSeconds.import - 30);
  return record && { record, run: taken.item, lease: taken.lease, until };
}

/** False if another worker has taken the import over, or the site was deleted. */
export async function saveProgress(
  { lease, run, record }: ImportJob,
  progress: Partial<ImportProgress>,
  ...extraWrites: Write[]
): Promise<boolean> {
  if (await isDeleted(run.orgId, record.siteId)) return false;
  return leasedJob.saveProgress({ item: run, lease }, progress, ...extraWrites);
}

export const sourceFile = ({ record: { blob, size }, run }: ImportJob): StoredFile => ({
  blob,
  size,
  tag: run.look!.tag,
});
export const csvFormat = ({ run: { look: format } }: ImportJob) => ({
  delimiter: format!.delimiter,
  cr: format!.cr,
  encoding: format!.encoding ?? ("utf-8" as const),
});
