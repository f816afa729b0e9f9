// A long background job on one item, such as an import, an export or the erasure of a site. One
// worker at a time has the lease. It works until the job is done or its time is up; then another
// message continues. If the worker crashes, the lease ends and the due index finds the job again.
import { oneOf } from "../adapters/dynamodb/conditions.ts";
import type { Write } from "../adapters/dynamodb/table.ts";
import { now } from "../clock.ts";
import { isTransient, type Problem } from "../errors.ts";
import { indexAttributeNames, type Key } from "../keys.ts";
import { endedJobAttributes, type JobAttributes } from "./job-index.ts";
import * as leases from "./leases.ts";

/**
 * `done`: `work` has removed the lease or the job. `paused`: the time is up, and the next message
 * continues. `idle`: nothing can be done now, so only the lease is given back. `lost`: another
 * worker has taken the job over, or the job no longer exists.
 */
export type JobOutcome = "done" | "paused" | "idle" | "lost";

interface JobSteps {
  work(): Promise<JobOutcome>;
  /** Enqueues the message that continues. */
  enqueueNext(): Promise<void>;
  /**
   * Saves a problem that no retry can solve. Without `fail`, such a problem is thrown like any
   * other error.
   */
  fail?(problem: Problem): Promise<unknown>;
}

/**
 * Works under a lease that was taken before. After an error it gives the lease back and throws, so
 * that the queue repeats the message.
 */
export async function runLeasedJob(
  lease: leases.Lease,
  { work, enqueueNext, fail }: JobSteps,
): Promise<void> {
  try {
    const outcome = await work();
    if (outcome === "done" || outcome === "lost") return;
    if ((await leases.release(lease)) && outcome === "paused") await enqueueNext();
  } catch (error) {
    if (fail && !isTransient(error)) {
      await fail(error as Problem);
      return;
    }
    // If the lease was lost, another worker continues, and this error no longer matters.
    if (await leases.release(lease)) throw error;
  }
}

interface TakeJob {
  timeoutSeconds: number;
  dueAttributes: (seconds: number) => Record<string, string>;
}

/**
 * Takes the lease of a job that is queued or running. The due index finds the job again when the
 * lease is over.
 */
export function takeJob<T>(address: Key, { timeoutSeconds, dueAttributes }: TakeJob) {
  const seconds = timeoutSeconds + 30;
  return leases.take<T>(address, {
    seconds,
    set: { status: "running", ...dueAttributes(seconds + 30) },
    if: oneOf("status", ["queued", "running"]),
  });
}

interface TakenJob<T> {
  item: T;
  lease: leases.Lease;
}

/**
 * Saves progress as absolute numbers, so a repeated write counts nothing twice. False if another
 * worker has taken the job over.
 */
export async function saveProgress<T extends object>(
  { item, lease }: TakenJob<T>,
  progress: Partial<T>,
  ...extraWrites: Write[]
): Promise<boolean> {
  const set = { ...progress, updatedAt: now().toISOString() };
  const isSaved = await leases.change(lease, { set }, ...extraWrites);
  if (isSaved) Object.assign(item, progress);
  return isSaved;
}

/** Ends the job, so that no worker takes it again. */
export function finishJob(
  { item, lease }: TakenJob<JobAttributes>,
  result: { status: "completed" | "cancelled" | "failed"; error?: string },
): Promise<boolean> {
  const time = now().toISOString();
  return leases.finish(lease, {
    set: {
      ...result,
      ...endedJobAttributes(item, result.status),
      updatedAt: time,
      finishedAt: time,
    },
    remove: indexAttributeNames("due"),
  });
}
