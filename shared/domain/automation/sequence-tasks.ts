// Background work over all enrollments of one sequence. `release` continues held enrollments when
// the sequence becomes active, and those at a changed or removed step. `remove` ends all when the
// sequence is deleted. sequence-task-runner.ts runs it.

import { put, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";

export interface SequenceTask extends Key {
  orgId: number;
  sequenceId: number;
  siteId: number;
  what: "release" | "remove";
  /** When it was written (ISO 8601). Identifies the task: a newer one replaces it. */
  since: string;
  /** Number of completed passes. */
  round: number;
  /** Position of the current pass in each shard. */
  places?: Record<string, string>;
}
type TaskSubject = Pick<SequenceTask, "sequenceId" | "siteId">;

const taskWrite = (orgId: number, subject: TaskSubject, what: SequenceTask["what"]): Write =>
  put(keys.sequenceTask(orgId, subject.sequenceId), {
    orgId,
    ...subject,
    what,
    since: now().toISOString(),
    round: 0,
    ...dueIndexAttributes(subject.sequenceId, addSeconds(60)),
  });

export const dueIndexAttributes = (sequenceId: number, at: Date) =>
  indexAttributes(indexes.due("SEQUENCE", dueShardOf(sequenceId)), at.toISOString());

/** For the transaction of the change that needs the task. */
export const releaseTaskWrite = (orgId: number, subject: TaskSubject): Write =>
  taskWrite(orgId, subject, "release");
export const removalTaskWrite = (orgId: number, subject: TaskSubject): Write =>
  taskWrite(orgId, subject, "remove");

export const enqueueTask = (orgId: number, sequenceId: number): Promise<void> =>
  enqueue(queues.advance, [{ work: "chore", orgId, sequenceId }], { group: orgId });
