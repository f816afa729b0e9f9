// When a bounce mailbox is read. The due index finds it; read-mailbox.ts does the work.
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../clock.ts";
import { dueShardOf, indexAttributes, indexes } from "../../keys.ts";
import { queues } from "../../queues.ts";

export const secondsBetweenReads = 600;
const maxPauseSeconds = 6 * 3600;

/** The pause doubles with each reading that fails, from 10 minutes to 6 hours. */
export const secondsAfterFailures = (failures: number): number =>
  Math.min(secondsBetweenReads * 2 ** Math.min(failures - 1, 10), maxPauseSeconds);

/** The attributes of a mailbox that is to be read in so many seconds. */
export function readIn(configId: number, seconds: number) {
  const nextReadAt = addSeconds(seconds).toISOString();
  return {
    nextReadAt,
    ...indexAttributes(indexes.due("MAILBOX", dueShardOf(configId)), nextReadAt),
  };
}

/** Queues a reading. Kept apart so that callers do not load the worker. */
export const enqueueMailboxRead = (orgId: number, configId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "read-mailbox", orgId, configId }], { group: orgId });
