// When the figures of Postmaster Tools are pulled: once after the key is entered, and then daily.
// The due index finds the settings; pull-figures.ts does the work.
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../../clock.ts";
import { dueShardOf, indexAttributes, indexes } from "../../../keys.ts";
import { queues } from "../../../queues.ts";

/** The attributes of settings whose figures are to be pulled in so many seconds. */
export function pullIn(orgId: number, seconds: number) {
  const nextPullAt = addSeconds(seconds).toISOString();
  return {
    nextPullAt,
    ...indexAttributes(indexes.due("POSTMASTER", dueShardOf(orgId)), nextPullAt),
  };
}

/** Queues a pull. Kept apart so that callers do not load the worker. */
export const enqueueFiguresPull = (orgId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "pull-postmaster-figures", orgId }], { group: orgId });
