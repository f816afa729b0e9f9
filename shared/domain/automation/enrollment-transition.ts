// A transition of an enrollment, to a new position or to its end, and its writes. The counters of
// the sequence and of its steps change with it; an ended enrollment is also removed from the set on
// its contact.

import { equals } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, update, type Write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { counterShardOf, indexAttributeNames, type Key, keys, zeroPad } from "../../keys.ts";
import { dueIndexAttributes } from "./enrollment-scheduling.ts";
import {
  type ActionProblem,
  type EnrollmentCounter,
  type EnrollmentItem,
  enrollmentCountWrite,
  type FinishedEnrollmentItem,
  type FinishedEnrollmentStatus,
  logPrefix,
} from "./enrollment-schema.ts";

export interface EnrollmentTransition {
  enrollment: EnrollmentItem;
  reachedStepIds: number[];
  leftStepIds: number[];
  /** Ways that splits drew, by step id. */
  drawnWays?: Record<string, number>;
  /** Sort key of the event that a wait ended with. */
  wokenBy?: string | undefined;
  /** The step whose action the transition does. */
  actedStepId?: number | undefined;
  /** Value of a conversion. Undefined without one. */
  value?: number | undefined;
  /** When the run began, in which the enrollment moved (ISO 8601). Defaults to now. */
  at?: string;
  to: EnrollmentPosition | EnrollmentEnd;
}
export interface EnrollmentPosition {
  stepId?: number | undefined;
  order: number;
  at: string;
  waiting: boolean;
  /** The action of the step is done. */
  acted?: boolean;
  /** The latest actions that could not be done, if there is a new one. */
  actionProblems?: ActionProblem[] | undefined;
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

function positionWrite(transition: EnrollmentTransition, to: EnrollmentPosition): Write {
  const { enrollment } = transition;
  return update(enrollment, positionChanges(transition, to), { if: equals("v", enrollment.v) });
}

/** The enrollment as the transition leaves it. */
export function moveEnrollment(
  transition: EnrollmentTransition,
  to: EnrollmentPosition,
): EnrollmentItem {
  const { set, remove: removed } = positionChanges(transition, to);
  const kept = Object.entries({ ...transition.enrollment, ...set }).filter(
    ([name, value]) => value !== undefined && !removed.includes(name),
  );
  return Object.fromEntries(kept) as unknown as EnrollmentItem;
}

/** A held enrollment leaves the due index, and keeps the events that no run has looked at. */
function positionChanges(
  { enrollment, reachedStepIds, leftStepIds, drawnWays, wokenBy, at: ranAt }: EnrollmentTransition,
  { stepId, order, at, waiting, acted, actionProblems, sends, held = false }: EnrollmentPosition,
) {
  const set = {
    stepId,
    order,
    at,
    sends,
    v: enrollment.v + 1,
    ...(drawnWays &&
      Object.keys(drawnWays).length > 0 && {
        ways: { ...enrollment.ways, ...drawnWays },
      }),
    ...(waiting && { waiting }),
    ...(acted && { acted }),
    ...(actionProblems && { actionProblems }),
    wokenBy,
    ...(reachedStepIds.length + leftStepIds.length > 0 && {
      lastProgressAt: ranAt ?? now().toISOString(),
    }),
    ...(held ? { held } : dueIndexAttributes(enrollment, at)),
  };
  const removedAttributes = [
    ...(waiting ? [] : ["waiting"]),
    ...(acted ? [] : ["acted"]),
    ...(held ? indexAttributeNames("due") : ["held", "heard"]),
    ...(stepId === undefined ? ["stepId"] : []),
  ];
  return { set, remove: removedAttributes };
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
  { stepId, actionProblems, ...item }: EnrollmentItem,
  { status, reason, at }: EnrollmentEnd,
): FinishedEnrollmentItem => ({
  id: item.id,
  sequenceId: item.sequenceId,
  contactId: item.contactId,
  status,
  order: item.order,
  lastProgressAt: item.lastProgressAt,
  createdAt: item.createdAt,
  finishedAt: at,
  ...(stepId !== undefined && { stepId }),
  ...(actionProblems && { actionProblems }),
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
  actedStepId,
  value,
  enrollment: { ways = {} },
}: EnrollmentTransition): Set<number> =>
  new Set([
    ...(isEnd(to) ? [0] : []),
    ...reachedStepIds,
    ...leftStepIds,
    ...(actedStepId === undefined ? [] : [actedStepId]),
    ...(value === undefined ? [] : Object.keys(ways).slice(-maxCountedSplits).map(Number)),
  ]);

/** A conversion counts for the latest splits of the contact. */
const maxCountedSplits = 20;

/**
 * Counter writes of transitions of one sequence: one for the sequence if any ended, and one for
 * each step reached or left.
 */
export function transitionCountWrites(transitions: EnrollmentTransition[]): Write[] {
  const [first] = transitions;
  if (!first) return [];
  const { orgId, sequenceId, contactId } = first.enrollment;
  const ended: Partial<Record<EnrollmentCounter, number>> = {};
  const steps = new Map<number, Record<string, number>>();
  const count = (id: number, name: string, by = 1) => {
    const counts = steps.get(id) ?? {};
    steps.set(id, { ...counts, [name]: (counts[name] ?? 0) + by });
  };
  for (const transition of transitions) {
    const { to, reachedStepIds, leftStepIds, drawnWays = {}, value, enrollment } = transition;
    const { actedStepId } = transition;
    if (isEnd(to))
      Object.assign(ended, {
        active: (ended.active ?? 0) - 1,
        [to.status]: (ended[to.status] ?? 0) + 1,
      });
    for (const id of reachedStepIds) count(id, "reached");
    for (const id of leftStepIds) count(id, "left");
    if (actedStepId !== undefined) count(actedStepId, "acted");
    for (const [id, way] of Object.entries(drawnWays)) count(Number(id), `way${way}`);
    if (value === undefined) continue;
    ended.converted = (ended.converted ?? 0) + 1;
    ended.value = (ended.value ?? 0) + value;
    for (const id of leftStepIds) {
      count(id, "converted");
      count(id, "value", value);
    }
    for (const [id, way] of Object.entries(enrollment.ways ?? {}).slice(-maxCountedSplits)) {
      count(Number(id), `converted${way}`);
      count(Number(id), `value${way}`, value);
    }
  }
  return [
    ...(Object.keys(ended).length ? [enrollmentCountWrite(first.enrollment, ended)] : []),
    ...[...steps].map(([stepId, add]) => {
      const key = keys.stepCount(orgId, sequenceId, { stepId, shard: counterShardOf(contactId) });
      return update(key, { add });
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
