// Deletes in the background what a deleted record left behind. The transaction that deletes the
// record writes a tombstone, which stays on the due index until everything is deleted. Each step
// can run repeatedly and by two workers at once, so a cleanup has no owner.
import { exists } from "../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../clock.ts";
import type { Key } from "../keys.ts";

interface Tombstone {
  /** When the record was deleted. */
  diedAt: string;
}

interface Cleanup<T> {
  timeoutSeconds: number;
  /** Deletes until the deadline. Returns whether everything is deleted. */
  clean(tombstone: T, deadline: Date): Promise<boolean>;
  /** Enqueues the message that continues. */
  enqueueNext(): Promise<void>;
  deleteTombstone(tombstone: T): Promise<void>;
}

/** Requests that read the record before it was deleted have ended after this time. */
const lateWriterSeconds = 900;

/**
 * Works until everything is deleted or its time is up; then another message continues. Cleans once
 * more when late requests have ended, and only then deletes the tombstone.
 */
export async function runCleanup<T extends Tombstone>(
  key: Key,
  { timeoutSeconds, clean, enqueueNext, deleteTombstone }: Cleanup<T>,
): Promise<void> {
  const deadline = addSeconds(timeoutSeconds - 30);
  const tombstone = await get<T>(key);
  if (!tombstone) return;
  // While this worker runs, the schedule does not enqueue the cleanup.
  if (!(await moveDueTime(key, addSeconds(2 * timeoutSeconds)))) return;
  if (!(await clean(tombstone, deadline))) return enqueueNext();
  const end = addSeconds(lateWriterSeconds, new Date(tombstone.diedAt));
  if (now() >= end) await deleteTombstone(tombstone);
  else await moveDueTime(key, end);
}

const moveDueTime = (key: Key, to: Date): Promise<boolean> =>
  transact(update(key, { set: { duesk: to.toISOString() } }, { if: exists }));
