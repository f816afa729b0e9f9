// A transition of an enrollment, to a new position or to its end, and its writes. The counters of
// the sequence and of its steps change with it; an ended enrollment is also removed from the set on
// its contact.

import { equals } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, update, type Write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { counterShardOf, indexAttributeNames, type Key, keys, zeroPad } from "../../keys.ts";
import { type Cohort, dueIndexAttributes } from "./cohorts.ts";
import {
  type EnrollmentItem,
  type EnrollmentStatus,
  enrollmentCountWrite,
  type FinishedEnrollmentItem,
  type FinishedEnrollmentStatus,
  logPrefix,
} from "./enrollment-schema.ts";

export interface EnrollmentTransition {
  enrollment: EnrollmentItem;
  reachedStepIds: number[];
  leftStepIds: number[];
  to: EnrollmentPosition | EnrollmentEnd;
  /**
   * Cohort that lists the enrollment afterwards. Without one, it has a due index entry of its own.
   */
  cohort?: Cohort | undefined;
}
export interface EnrollmentPosition {
  stepId?: number | undefined;
  order: number;
  at: string;
  waiting: boolean;
  sends?: Record<string, number> | undefined;
  held?: boolean;
}
export interface EnrollmentEnd {
  status: FinishedEnrollmentStatus;
  /** When it ended (ISO 8601). */
  at: string;
  reason?: string | undefined;
  /** Undefined when the contact was deleted. */
  contact: Key | undefined;
}
export const isEnd = (to: EnrollmentTransition["to"]): to is EnrollmentEnd => "status" in to;

/**
 * Writes of one transition. The first one carries its condition, which throws no problem when it
 * fails.
 */
export const transitionWrites = (transition: EnrollmentTransition): Write[] =>
  isEnd(transition.to)
    ? endWrites(transition.enrollment, transition.to)
    : [positionWrite(transition, transition.to)];

/** A held enrollment leaves the due index. */
function positionWrite(
  { enrollment, reachedStepIds, leftStepIds, cohort }: EnrollmentTransition,
  { stepId, order, at, waiting, sends, held = false }: EnrollmentPosition,
): Write {
  const onDueIndex = !held && !cohort;
  const set = {
    stepId,
    order,
    at,
    sends,
    v: enrollment.v + 1,
    ...(waiting && { waiting }),
    ...(held && { held }),
    ...(reachedStepIds.length + leftStepIds.length > 0 && { lastProgressAt: now().toISOString() }),
    ...(onDueIndex && dueIndexAttributes(enrollment, at)),
  };
  const removedAttributes = [
    ...(waiting ? [] : ["waiting"]),
    ...(held ? [] : ["held"]),
    ...(onDueIndex ? [] : indexAttributeNames("due")),
    ...(stepId === undefined ? ["stepId"] : []),
  ];
  return update(enrollment, { set, remove: removedAttributes }, { if: equals("v", enrollment.v) });
}

function endWrites(item: EnrollmentItem, to: EnrollmentEnd): Write[] {
  const { orgId, sequenceId, contactId, home } = item;
  const finished = toFinishedItem(item, to);
  const position = `${to.at}#${zeroPad(item.id)}`;
  const contactWrites = to.contact
    ? [
        update(
          to.contact,
          { deleteFromSet: { sequences: new Set([sequenceId]) }, add: { v: 1 } },
          { if: equals("id", contactId) },
        ),
        put(keys.contactLog(orgId, contactId, `${logPrefix}${position}`), finished),
      ]
    : [];
  return [
    remove(item, { if: equals("v", item.v) }),
    put(keys.finishedEnrollment(orgId, sequenceId, { shard: home, position }), finished),
    ...contactWrites,
  ];
}

export const toFinishedItem = (
  { id, sequenceId, contactId, stepId, order, lastProgressAt, createdAt }: EnrollmentItem,
  { status, reason, at }: EnrollmentEnd,
): FinishedEnrollmentItem => ({
  id,
  sequenceId,
  contactId,
  status,
  order,
  lastProgressAt,
  createdAt,
  finishedAt: at,
  ...(stepId !== undefined && { stepId }),
  ...(reason !== undefined && { reason }),
});

/**
 * Counters that `transitionCountWrites` changes for it: step ids, and 0 for the counter of the
 * sequence.
 */
export const counterIdsOf = ({
  to,
  reachedStepIds,
  leftStepIds,
}: EnrollmentTransition): Set<number> =>
  new Set([...(isEnd(to) ? [0] : []), ...reachedStepIds, ...leftStepIds]);

/**
 * Counter writes of transitions of one sequence: one for the sequence if any ended, and one for
 * each step reached or left.
 */
export function transitionCountWrites(transitions: EnrollmentTransition[]): Write[] {
  const [first] = transitions;
  if (!first) return [];
  const { orgId, sequenceId, contactId } = first.enrollment;
  const ended: Partial<Record<EnrollmentStatus, number>> = {};
  const steps = new Map<number, { reached: number; left: number }>();
  const countsOf = (id: number) => steps.get(id) ?? steps.set(id, { reached: 0, left: 0 }).get(id)!;
  for (const { to, reachedStepIds, leftStepIds } of transitions) {
    if (isEnd(to))
      Object.assign(ended, {
        active: (ended.active ?? 0) - 1,
        [to.status]: (ended[to.status] ?? 0) + 1,
      });
    for (const id of reachedStepIds) countsOf(id).reached++;
    for (const id of leftStepIds) countsOf(id).left++;
  }
  return [
    ...(Object.keys(ended).length ? [enrollmentCountWrite(first.enrollment, ended)] : []),
    ...[...steps].map(([stepId, add]) => {
      const key = keys.stepCount(orgId, sequenceId, { stepId, shard: counterShardOf(contactId) });
      return update(key, { add: { ...add } });
    }),
  ];
}

/** Ends an enrollment at its current step. */
export const transitionToEnd = (
  enrollment: EnrollmentItem,
  to: EnrollmentEnd,
): EnrollmentTransition => ({
  enrollment,
  to,
  reachedStepIds: [],
  leftStepIds: enrollment.stepId === undefined ? [] : [enrollment.stepId],
});
