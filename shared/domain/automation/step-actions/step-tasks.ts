// What actions do outside of the service: requests to URLs and emails to members. The transaction
// of the action writes a task, which a worker does and then removes. If the process dies before the
// task is queued, the due index finds it.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  remove,
  transact,
  update,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now, secondsUntil } from "../../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import * as log from "../../../kernel/log.ts";
import { counterShardOf, dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import type { EnrollmentItem } from "../enrollment-schema.ts";
import type { ActionConfig } from "./action-config.ts";

export interface StepTask {
  orgId: number;
  taskId: string;
  task: "call" | "notices";
  sequenceId: number;
  stepId: number;
  contactId: number;
  /** What the task starts gets this depth: see `SequenceChain`. */
  depth: number;
  /** Failed attempts. */
  tries: number;
  /** The next attempt, or the end of the present one (ISO 8601). */
  nextAt: string;
  v: number;
  /** Unix seconds. */
  expires: number;
}
export type StoredTask = StepTask & CompressedValue;

export interface CallContent {
  url: string;
  body: string;
  saveResponse: NonNullable<ActionConfig["saveResponse"]>;
}

export interface NoticeContent {
  memberIds: number[];
  /** Reserved ids of the emails, one for each member. */
  sendIds: number[];
  subject: string;
  message: string;
}

interface Contents {
  call: CallContent;
  notices: NoticeContent;
}

// Longer than all retries take.
const keptSeconds = 7 * 24 * 3600;
// Longer than it takes to queue the task.
const graceSeconds = 60;

/** One for each step of an enrollment, which runs a step once. */
const idOf = ({ id }: EnrollmentItem, stepId: number): string => `${id}-${stepId}`;

interface PreparedTask {
  /** For the transaction of the action. */
  write: Write;
  afterCommit(): Promise<void>;
}

export async function prepareTask<T extends StepTask["task"]>(
  { enrollment, stepId }: { enrollment: EnrollmentItem; stepId: number },
  task: T,
  content: Contents[T],
): Promise<PreparedTask> {
  const { orgId, sequenceId, contactId, depth = 0 } = enrollment;
  const taskId = idOf(enrollment, stepId);
  const key = keys.stepTask(orgId, taskId);
  const item: StoredTask = {
    ...{ orgId, taskId, task, sequenceId, stepId, contactId },
    ...{ depth: depth + 1, tries: 0, v: 1, nextAt: now().toISOString() },
    expires: epochSeconds(addSeconds(keptSeconds)),
    ...(await compress(key, content)),
    ...dueAttributes(contactId, addSeconds(graceSeconds)),
  };
  return { write: put(key, item), afterCommit: () => enqueueSoon(item) };
}

const dueAttributes = (contactId: number, at: Date) =>
  indexAttributes(indexes.due("STEPTASK", dueShardOf(contactId)), at.toISOString());

export const enqueueTask = (
  { orgId, taskId }: Pick<StepTask, "orgId" | "taskId">,
  delaySeconds = 0,
): Promise<void> => enqueue(queues.stepTasks, [{ orgId, taskId }], { group: orgId, delaySeconds });

/** A failure does not fail the action, because the task is stored. */
async function enqueueSoon(item: StepTask): Promise<void> {
  try {
    await enqueueTask(item);
  } catch (error) {
    log.error("a task of a sequence is queued later", error, { orgId: item.orgId });
  }
}

/** Longer than a worker of its queue takes. */
const leaseSeconds = 90;
// Two machines' clocks differ a little, and a message may arrive a little early.
const clockToleranceSeconds = 1;

/** Undefined if another worker has the task or has done it, or if it is not due. */
export async function claimTask(orgId: number, taskId: string): Promise<StoredTask | undefined> {
  const item = await get<StoredTask>(keys.stepTask(orgId, taskId));
  const latest = addSeconds(clockToleranceSeconds).toISOString();
  if (!item || item.nextAt > latest || item.expires < epochSeconds()) return undefined;
  const claimed = { ...item, nextAt: addSeconds(leaseSeconds).toISOString(), v: item.v + 1 };
  return (await moveTask(item, claimed)) ? claimed : undefined;
}

export const readContent = <T extends StepTask["task"]>(task: StoredTask): Promise<Contents[T]> =>
  decompress<Contents[T]>(task);

const moveTask = (before: StepTask, { nextAt, tries, v }: StepTask): Promise<boolean> => {
  const due = dueAttributes(before.contactId, addSeconds(graceSeconds, new Date(nextAt)));
  return transact(
    update(
      keys.stepTask(before.orgId, before.taskId),
      { set: { nextAt, tries, v, ...due } },
      { if: equals("v", before.v) },
    ),
  );
};

const maxDelaySeconds = 900;

/** Tries the task again at a time. */
export async function postponeTask(task: StepTask, at: Date, tries = task.tries): Promise<void> {
  const moved = { ...task, nextAt: at.toISOString(), tries, v: task.v + 1 };
  if (!(await moveTask(task, moved)) || secondsUntil(at) > maxDelaySeconds) return;
  await enqueueTask(task, secondsUntil(at));
}

/** Fails if another worker has the task. */
export const removeTaskWrite = ({ orgId, taskId, v }: StepTask): Write =>
  remove(keys.stepTask(orgId, taskId), { if: equals("v", v) });

/** Counts, with the removal of the task, that it could not be done, or not all of it. */
export const undeliveredWrite = ({ orgId, sequenceId, stepId, contactId }: StepTask): Write => {
  const shard = counterShardOf(contactId);
  return update(keys.stepCount(orgId, sequenceId, { stepId, shard }), { add: { undelivered: 1 } });
};

/** Removes the task, which could not be done. */
export const abandonTask = (task: StepTask): Promise<boolean> =>
  transact(removeTaskWrite(task), undeliveredWrite(task));
