// The due index of enrollments. An enrollment has an index entry of its own, or a cohort has one
// entry for all its members: enrollments of one sequence that are due in the same minute. With
// cohorts, a wait costs an enrollment 2.2 instead of 5.2 write units.
// - The transaction that sets the due time of an active, unheld enrollment also writes its index
//   entry or its cohort.
// - Only the enrollment says when it is due: a cohort never changes, so it may list members that
//   have advanced or left since.
// - A cohort is deleted after all its members have advanced, are held or have left. After a crash,
//   the schedule finds it again.
import { randomUUID } from "node:crypto";
import { put, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { enrollmentShards, indexAttributes, indexes, type Key, keys, sha256 } from "../../keys.ts";
import { queues, type SequenceWorkMessage } from "../../queues.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";

type EnrollmentRef = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;
type CohortMember = EnrollmentRef & Pick<EnrollmentItem, "home">;

export interface Cohort extends Key, Pick<EnrollmentItem, "orgId" | "sequenceId"> {
  id: string;
  /** When its last member is due (ISO 8601). */
  at: string;
  /** Contact ids by the membership shard of their enrollments. */
  members: Record<string, number[]>;
}

/** Cohorts per transaction. */
export const maxCohorts = 2;
// A cohort costs 5 write units (2 put, 1 delete, 2 index); separate index entries cost 2 each.
const minCohortSize = 3;

interface ScheduledMember {
  item: CohortMember;
  /** When it is due (ISO 8601). */
  at: string;
}

/**
 * Groups enrollments of one sequence. The largest groups become cohorts; a member of another group
 * is not in the result.
 */
export function assignCohorts(scheduled: ScheduledMember[]): Map<CohortMember, Cohort> {
  const groups = [...Map.groupBy(scheduled, ({ at }) => dueMinute(at)).values()];
  const largest = groups
    .filter(({ length }) => length >= minCohortSize)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, maxCohorts);
  return new Map(
    largest.flatMap((group) => {
      const cohort = createCohort(group);
      return group.map(({ item }) => [item, cohort] as const);
    }),
  );
}

function createCohort(group: ScheduledMember[]): Cohort {
  const { item, at } = group.reduce((last, member) => (member.at > last.at ? member : last));
  const { orgId, sequenceId } = item;
  const id = randomUUID();
  const byHome = Map.groupBy(group, (member) => member.item.home);
  const members = Object.fromEntries(
    [...byHome].map(([home, shardMembers]) => [
      home,
      shardMembers.map((member) => member.item.contactId),
    ]),
  );
  const dueAttributes = indexAttributes(
    indexes.dueEnrollments(cohortShard(item)),
    dueSortKey(item, at),
  );
  const key = keys.cohort(orgId, sequenceId, id);
  return { ...key, orgId, sequenceId, id, at, members, ...dueAttributes };
}

/** For the transaction of the members. */
export const cohortWrites = (cohorts: Iterable<Cohort | undefined>): Write[] =>
  [...new Set(cohorts)].flatMap((cohort) =>
    cohort ? [put(cohort, cohort, { ifAbsent: true })] : [],
  );

/** Keys of the members' enrollments, some of which may be gone. */
export const memberKeys = ({ orgId, sequenceId, members }: Cohort): Key[] =>
  Object.entries(members).flatMap(([home, ids]) =>
    ids.map((contactId) => keys.enrollment(orgId, sequenceId, { shard: home, contactId })),
  );

/**
 * The sort key has the minute, then a hash: enrollments of one minute are mixed over all
 * organizations.
 */
export const dueIndexAttributes = (item: EnrollmentRef, at: string): Record<string, string> =>
  indexAttributes(
    indexes.dueEnrollments(hashNumberOf(item) % enrollmentShards),
    dueSortKey(item, at),
  );

const dueSortKey = (item: EnrollmentRef, at: string): string =>
  `${dueMinute(at)}#${hashOf(item).slice(8, 24)}`;

// Cohorts of one sequence use few shards: a worker finds several of them and fills its
// transactions, and other workers stay free.
const shardsPerSequence = 8;
const cohortShard = ({ contactId, ...sequence }: EnrollmentRef): number =>
  (hashNumberOf({ ...sequence, contactId: 0 }) + (contactId % shardsPerSequence)) %
  enrollmentShards;

const hashOf = ({ orgId, sequenceId, contactId }: EnrollmentRef): string =>
  sha256(`${orgId}/${sequenceId}/${contactId}`);
const hashNumberOf = (item: EnrollmentRef): number => Number.parseInt(hashOf(item).slice(0, 8), 16);

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

export interface ScheduledEnrollment<M extends CohortMember = CohortMember> {
  enrollment: M;
  /** Cohort that lists it. Without one, the enrollment has an index entry of its own. */
  cohort?: Cohort | undefined;
}

/** Advances enrollments at once. Without this message, the schedule finds them within a minute. */
export async function enqueueAdvance(scheduled: ScheduledEnrollment[]): Promise<void> {
  const cohorts = [...new Set(scheduled.flatMap(({ cohort }) => cohort ?? []))];
  const singlesByOrg = Map.groupBy(
    scheduled.flatMap(({ enrollment, cohort }) => (cohort ? [] : [enrollment])),
    ({ orgId }) => orgId,
  );
  const messages: SequenceWorkMessage[] = [
    ...cohorts.map(({ orgId, sequenceId, id }) => ({
      work: "cohort" as const,
      orgId,
      sequenceId,
      cohortId: id,
    })),
    ...[...singlesByOrg].flatMap(([orgId, enrollments]) =>
      splitIntoBatches(enrollments, maxAdvanceBatch).map((batch) => ({
        work: "some" as const,
        orgId,
        enrollments: batch.map(({ sequenceId, home, contactId }) => ({
          sequenceId,
          home,
          contactId,
        })),
      })),
    ),
  ];
  await enqueue(queues.advance, messages, {
    group: (message) => ("orgId" in message ? message.orgId : ""),
  });
}
