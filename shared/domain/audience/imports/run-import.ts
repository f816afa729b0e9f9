// Runs an import: scans the whole file first, then stores its rows.
import { finishJob, type JobOutcome, runLeasedJob } from "../../../kernel/leased-job.ts";
import * as sites from "../../identity/sites.ts";
import { acquireJob, enqueueRun, type ImportJob } from "./import-job.ts";
import { countRows, detectFormat } from "./scan-file.ts";
import { storeRows } from "./store-rows.ts";

/**
 * Works until the import is done or the time is up; then another message continues. Idempotent.
 * Does nothing while another worker has the lease.
 */
export async function runImport(orgId: number, id: number): Promise<void> {
  const job = await acquireJob(orgId, id);
  if (!job) return;
  await runLeasedJob(job.lease, {
    work: () => runSteps(job),
    enqueueNext: () => enqueueRun(orgId, id),
    // The file itself is wrong: for example no column has addresses, or a quote is not closed.
    fail: ({ message }) => finishJob(toTakenJob(job), { status: "failed", error: message }),
  });
}

async function runSteps(job: ImportJob): Promise<JobOutcome> {
  await sites.find({ orgId: job.run.orgId }, job.record.siteId);
  for (const step of [detectFormat, countRows, storeRows]) {
    const outcome = await step(job);
    if (outcome !== "done") return outcome;
  }
  await finishJob(toTakenJob(job), { status: "completed" });
  return "done";
}

const toTakenJob = ({ run, lease }: ImportJob) => ({ item: run, lease });
