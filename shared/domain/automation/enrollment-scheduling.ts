// When enrollments advance. Each active enrollment that is not held has its own entry on the due
// index. The entry is part of the enrollment's item, so the write that sets the due time also sets
// the entry, and the schedule finds the enrollment after any crash.
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { enrollmentShards, indexAttributes, indexes, sha256 } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";

type EnrollmentRef = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;

/**
 * The sort key has the minute, then a hash: enrollments of one minute are mixed over all
 * organizations.
 */
export function dueIndexAttributes(ref: EnrollmentRef, at: string): Record<string, string> {
  const { orgId, sequenceId, contactId } = ref;
  const hash = sha256(`${orgId}/${sequenceId}/${contactId}`);
  return indexAttributes(
    indexes.dueEnrollments(dueShardOf(ref)),
    `${dueMinute(at)}#${hash.slice(0, 16)}`,
  );
}

// A sequence uses few shards, and contacts that were created together share one: a worker finds
// many enrollments of one sequence, which fit into one transaction, and other workers stay free.
const shardsPerSequence = 8;
const neighbours = 128;
function dueShardOf({ orgId, sequenceId, contactId }: EnrollmentRef): number {
  const first = Number.parseInt(sha256(`${orgId}/${sequenceId}`).slice(0, 8), 16);
  const place = Math.floor(contactId / neighbours) % shardsPerSequence;
  return (first + place) % enrollmentShards;
}

const minuteMs = 60_000;

/**
 * Rounds up, so that no enrollment is early. A time that has passed is rounded down, so that it is
 * due at once.
 */
function dueMinute(at: string): string {
  const ms = Date.parse(at);
  const round = ms <= now().getTime() ? Math.floor : Math.ceil;
  return new Date(round(ms / minuteMs) * minuteMs).toISOString();
}

/**
 * Enrollments per batch. So many of one sequence fit into one transaction with their mail and all
 * counters. A few more would need a second transaction with a chunk of its own.
 */
export const maxAdvanceBatch = 85;

/**
 * Advances enrollments of one organization at once. Without this message, the schedule finds them
 * within a minute.
 */
export async function enqueueAdvance(orgId: number, enrollments: EnrollmentItem[]): Promise<void> {
  const messages = splitIntoBatches(enrollments, maxAdvanceBatch).map((batch) => ({
    work: "some" as const,
    orgId,
    enrollments: batch.map(({ sequenceId, home, contactId }) => ({ sequenceId, home, contactId })),
  }));
  await enqueue(queues.advance, messages, { group: orgId });
}
