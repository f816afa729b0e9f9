// Where those who wait are found once they are due: on the due index, each for itself, or as a cohort: those of one sequence who go on
// in the same minute, in one item that names them. So the index is not written for each of them, twice for every wait.
//   Whoever is active and not held stands on the index, or is named by a cohort there, from the transaction on that says when it goes on.
//   When it goes on is told by the enrollment alone: a cohort may name some who have gone on since, or have left. It never changes.
//   A cohort goes when its time has come for all, and only after all whom it names have gone on, are held or have left. If somebody
//   dies before, the tick finds it again.
import { randomUUID } from "node:crypto";
import { now } from "../../clock.ts";
import { enqueue } from "../../doors/queue.ts";
import { put, type Write } from "../../doors/table.ts";
import { type Address, enrollmentShards, keys, on, sha256, shelves } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import { type Advance, queues } from "../../queues.ts";
import type { EnrollmentItem } from "./enrollment.ts";

type Named = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;
type Member = Named & Pick<EnrollmentItem, "home">;

export interface Cohort extends Address, Pick<EnrollmentItem, "orgId" | "sequenceId"> {
  id: string;
  /** When the last of them goes on (ISO 8601). */
  at: string;
  /** Ids of contacts, by the home of their enrollments. */
  members: Record<string, number[]>;
}

/** Of one sequence. As many get a cohort as a transaction may hold beside: the largest. */
export const mostCohorts = 2;
// Two write units to put it and one to remove it, and two on the index, which each for himself would take.
const fewest = 3;

/** By who is in one of them. `waiting`: of one sequence, and when each goes on (ISO 8601). */
export function cohortsOf(waiting: { item: Member; at: string }[]): Map<Member, Cohort> {
  const some = [...Map.groupBy(waiting, ({ at }) => minuteOf(at)).values()].filter(({ length }) => length >= fewest);
  const largest = some.toSorted((a, b) => b.length - a.length).slice(0, mostCohorts);
  return new Map(
    largest.flatMap((together) => {
      const cohort = cohortOf(together);
      return together.map(({ item }) => [item, cohort] as const);
    }),
  );
}

function cohortOf(together: { item: Member; at: string }[]): Cohort {
  const { item, at } = together.reduce((last, one) => (one.at > last.at ? one : last));
  const [{ orgId, sequenceId }, id] = [item, randomUUID()];
  const homes = Map.groupBy(together, (one) => one.item.home);
  const members = Object.fromEntries([...homes].map(([home, some]) => [home, some.map((one) => one.item.contactId)]));
  const place = on(shelves.dueEnrollments(shardOfCohort(item)), sortAt(item, at));
  return { ...keys.cohort(orgId, sequenceId, id), orgId, sequenceId, id, at, members, ...place };
}

/** In the transaction of those who are in them. */
export const gathering = (cohorts: Iterable<Cohort | undefined>): Write[] =>
  [...new Set(cohorts)].flatMap((cohort) => (cohort ? [put(cohort, cohort, { new: true })] : []));

/** Addresses of enrollments, some of which may be gone. */
export const membersOf = ({ orgId, sequenceId, members }: Cohort): Address[] =>
  Object.entries(members).flatMap(([home, ids]) => ids.map((contactId) => keys.enrollment(orgId, sequenceId, home, contactId)));

/** Minutes, not seconds: within one, those of all organizations are mixed. */
export const dueAt = (item: Named, at: string): Record<string, string> =>
  on(shelves.dueEnrollments(numberOf(item) % enrollmentShards), sortAt(item, at));

const sortAt = (item: Named, at: string): string => `${minuteOf(at)}#${hashOf(item).slice(8, 24)}`;

// Those of one sequence come to few shards: there they meet, and go on in fuller transactions; and it leaves workers to others.
const shardsOfSequence = 8;
const shardOfCohort = ({ contactId, ...sequence }: Named): number =>
  (numberOf({ ...sequence, contactId: 0 }) + (contactId % shardsOfSequence)) % enrollmentShards;

const hashOf = ({ orgId, sequenceId, contactId }: Named): string => sha256(`${orgId}/${sequenceId}/${contactId}`);
const numberOf = (item: Named): number => Number.parseInt(hashOf(item).slice(0, 8), 16);

/** Nobody goes on before time; whoever is to go on now need not wait for the next minute. */
function minuteOf(at: string): string {
  const [ms, minuteMs] = [Date.parse(at), 60_000];
  return new Date((ms <= now().getTime() ? Math.floor(ms / minuteMs) : Math.ceil(ms / minuteMs)) * minuteMs).toISOString();
}

/**
 * So many are brought on at once: those of one sequence who get a mail fit into one transaction with all that it writes and counts.
 * A few more would make a second one, with a chunk of mail of its own.
 */
export const mostTogether = 85;

export interface Placed<M extends Member = Member> {
  item: M;
  /** Which names it; without one it stands on the index itself. */
  cohort?: Cohort | undefined;
}

/** So that nobody waits for the next minute: a tick would find them. */
export async function advanceSoon(placed: Placed[]): Promise<void> {
  const cohorts = [...new Set(placed.flatMap(({ cohort }) => cohort ?? []))];
  const alone = Map.groupBy(
    placed.flatMap(({ item, cohort }) => (cohort ? [] : [item])),
    ({ orgId }) => orgId,
  );
  const messages: Advance[] = [
    ...cohorts.map(({ orgId, sequenceId, id }) => ({ work: "cohort" as const, orgId, sequenceId, cohortId: id })),
    ...[...alone].flatMap(([orgId, theirs]) =>
      chunked(theirs, mostTogether).map((some) => ({
        work: "some" as const,
        orgId,
        enrollments: some.map(({ sequenceId, home, contactId }) => ({ sequenceId, home, contactId })),
      })),
    ),
  ];
  await enqueue(queues.advance, messages, { group: (message) => ("orgId" in message ? message.orgId : "") });
}
