// Cleanup of deleted forms: a background job deletes the submissions, counters and versions of a
// form. After a crash it starts again.

import { put, query, remove, type Write, write, writeMany } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { runCleanup } from "../../kernel/cleanup-job.ts";
import {
  dueShardOf,
  indexAttributes,
  indexes,
  type Key,
  type KeyRange,
  keys,
  ranges,
} from "../../keys.ts";
import { jobSeconds, queues } from "../../queues.ts";

interface DeletedForm {
  orgId: number;
  group: number;
  diedAt: string;
}

/** The tombstone, for the transaction that deletes the form. */
export const deletionWrite = (orgId: number, formId: number): Write =>
  put(keys.deletedForm(orgId, formId), {
    orgId,
    group: formId,
    diedAt: now().toISOString(),
    ...indexAttributes(indexes.due("FORM", dueShardOf(formId)), addSeconds(60).toISOString()),
  });

export const enqueueCleanup = (orgId: number, formId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "sweep", orgId, kind: "FORM", groupId: formId }], { group: orgId });

export function cleanUp(orgId: number, formId: number): Promise<void> {
  const key = keys.deletedForm(orgId, formId);
  return runCleanup<DeletedForm>(key, {
    timeoutSeconds: jobSeconds.sweep,
    clean: async (_, deadline) => {
      for (const range of [
        ranges.submissions(orgId, formId),
        ranges.submissionCounts(orgId, formId),
        ranges.recordBodies(orgId, "FORM", formId),
      ])
        if (!(await deleteRange(range, deadline))) return false;
      return true;
    },
    enqueueNext: () => enqueueCleanup(orgId, formId),
    deleteTombstone: () => write(remove(key)),
  });
}

const pageSize = 500;

/** Returns false when the time is up before the range is empty. */
async function deleteRange(range: KeyRange, until: Date): Promise<boolean> {
  for (let hasMore = true; hasMore; ) {
    if (now() >= until) return false;
    const { items, next } = await query<Key>(range, { limit: pageSize, consistent: true });
    await writeMany(items.map((item) => remove(item)));
    hasMore = next !== undefined;
  }
  return true;
}
