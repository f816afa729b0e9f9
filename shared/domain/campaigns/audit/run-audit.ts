// Audits an ended campaign: reads every row once, counts and hashes them page by page, and compares
// the result with the counters and with the earlier audit. Constant memory; each save is a position
// where the next worker continues.
import { addSeconds, now, secondsUntil } from "../../../clock.ts";
import {
  finishJob,
  type JobOutcome,
  runLeasedJob,
  saveProgress,
  takeJob,
} from "../../../kernel/leased-job.ts";
import type { Lease } from "../../../kernel/leases.ts";
import { isDeleted } from "../../../kernel/site-access.ts";
import { keys } from "../../../keys.ts";
import { jobSeconds } from "../../../queues.ts";
import * as mailSources from "../../sending/mail-sources.ts";
import { compareWithTotals } from "./audit-counts.ts";
import { addPageToHash } from "./audit-hash.ts";
import {
  type AuditJob,
  type AuditProgress,
  type AuditResult,
  auditDueAttributes,
  emptyProgress,
  enqueueAudit,
} from "./audit-job.ts";
import { type AuditPage, readAuditPages } from "./audit-rows.ts";

const timeoutSeconds = jobSeconds["campaign-audit"];
/**
 * An event changes its send shortly before it changes the counters. If its worker dies in between,
 * the queue delivers the event again after up to 18 minutes, six times the longest timeout of a
 * worker that counts mails. The next worker can die too.
 */
const restartSeconds = [30, 300, 900, 900, 900];

interface TakenJob {
  item: AuditJob;
  lease: Lease;
}

/**
 * Works until the audit is done or the time is up; then another message continues. Idempotent. Does
 * nothing while another worker has the lease.
 */
export async function runAudit(orgId: number, id: number): Promise<void> {
  const job = await takeJob<AuditJob>(keys.campaignAudit(orgId, id), {
    timeoutSeconds,
    dueAttributes: (seconds) => auditDueAttributes(id, seconds),
  });
  if (!job || (await isDeleted(orgId, job.item.siteId))) return;
  const until = addSeconds(timeoutSeconds - 30);
  const secondsToWait = () => secondsUntil(new Date(job.item.startsAt));
  await runLeasedJob(job.lease, {
    work: async () => {
      // The due index finds a job that waits for longer than a lease, and queues repeat messages.
      if (secondsToWait()) return "idle";
      const outcome = await readRows(job, until);
      return outcome === "done" ? finishAudit(job) : outcome;
    },
    enqueueNext: () => enqueueAudit(orgId, id, secondsToWait()),
    fail: ({ message }) => finishJob(job, { status: "failed", error: message }),
  });
}

const rowsPerSave = 50_000;

async function readRows(job: TakenJob, until: Date): Promise<JobOutcome> {
  const { orgId, id } = job.item;
  let { progress } = job.item;
  let unsavedRows = 0;
  for await (const page of readAuditPages({ orgId, id }, progress)) {
    progress = addPage(progress, page);
    unsavedRows += page.rows.length;
    const isTimeUp = now() >= until;
    if (unsavedRows < rowsPerSave && !isTimeUp) continue;
    if (!(await saveProgress(job, { progress }))) return "lost";
    if (isTimeUp) return "paused";
    unsavedRows = 0;
  }
  job.item.progress = progress;
  return "done";
}

function addPage(progress: AuditProgress, page: AuditPage): AuditProgress {
  const counts = { ...progress.counts };
  for (const { outcome } of page.rows) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return {
    after: page.position,
    hash: addPageToHash(progress.hash, page),
    pages: progress.pages + 1,
    counts,
  };
}

/** Starts again when the rows do not match the counters, which may be a moment late. */
async function finishAudit(job: TakenJob): Promise<JobOutcome> {
  const { orgId, id, progress, restarts, baseline } = job.item;
  const { hash, pages, counts } = progress;
  const { all: totals } = await mailSources.getSourceTotals(orgId, { kind: "campaign", id });
  const contradictions = compareWithTotals(counts, totals);
  if (contradictions.length && restarts < restartSeconds.length) {
    const startsAt = addSeconds(restartSeconds[restarts]!).toISOString();
    const restarted = { progress: emptyProgress, restarts: restarts + 1, startsAt };
    return (await saveProgress(job, restarted)) ? "paused" : "lost";
  }
  const result: AuditResult = { hash, pages, counts, at: now().toISOString(), problems: [] };
  const isChanged = baseline !== undefined && baseline.hash !== hash;
  // Uncertain mail becomes mailed or failed when its provider reports it.
  const isSettledSince = (baseline?.counts.uncertain ?? 0) > (counts.uncertain ?? 0);
  if (contradictions.length)
    result.problems.push(`The rows contradict the counters. ${contradictions.join("; ")}`);
  if (isChanged && !isSettledSince)
    result.problems.push(
      `The stored emails have changed since the audit of ${baseline.at}. ` +
        `Its hash was ${baseline.hash}`,
    );
  const isNewBaseline = !baseline || (isChanged && isSettledSince);
  await saveProgress(job, { latest: result, baseline: isNewBaseline ? result : baseline });
  await finishJob(job, { status: "completed" });
  return "done";
}
