// One enrollment on its way: from where it is to where it is then, and the writes of that, not yet made. With it move the counters of
// the sequence and of its steps, and who comes to the end leaves the set on its contact.
import { now } from "../../clock.ts";
import { equals } from "../../conditions.ts";
import { put, remove, update, type Write } from "../../doors/table.ts";
import { type Address, countShardOf, keys, off, sortable } from "../../keys.ts";
import { type Count, counted, type EnrollmentItem, type FinishedItem, type FinishedStatus } from "./enrollment.ts";
import { type Cohort, dueAt } from "./waiting.ts";

/** A step of one enrollment on its way, or its end. */
export interface Move {
  item: EnrollmentItem;
  /** Steps it came to, and those it left, by id. */
  reached: number[];
  left: number[];
  to: Standing | Ending;
  /** Which names it then; without one it stands on the due index itself. */
  cohort?: Cohort | undefined;
}
/** Where it is then. */
export interface Standing {
  stepId?: number | undefined;
  order: number;
  at: string;
  waiting: boolean;
  sends?: Record<string, number> | undefined;
  held?: boolean;
}
export interface Ending {
  status: FinishedStatus;
  /** When it is over (ISO 8601). */
  at: string;
  reason?: string | undefined;
  /** The contact, unless it is gone. */
  contact: Address | undefined;
}
export const isEnding = (to: Move["to"]): to is Ending => "status" in to;

/** Writes of one move; its condition comes first and names no problem. */
export const moving = (move: Move): Write[] => (isEnding(move.to) ? finishing(move.item, move.to) : [standing(move, move.to)]);

/** Taken off the due index where it is held. */
function standing({ item, reached, left, cohort }: Move, { stepId, order, at, waiting, sends, held = false }: Standing): Write {
  const isListed = !held && !cohort;
  const set = {
    stepId,
    order,
    at,
    sends,
    v: item.v + 1,
    ...(waiting && { waiting }),
    ...(held && { held }),
    ...(reached.length + left.length > 0 && { lastProgressAt: now().toISOString() }),
    ...(isListed && dueAt(item, at)),
  };
  const drop = [
    ...(waiting ? [] : ["waiting"]),
    ...(held ? [] : ["held"]),
    ...(isListed ? [] : off("due")),
    ...(stepId === undefined ? ["stepId"] : []),
  ];
  return update(item, { set, remove: drop }, { if: equals("v", item.v) });
}

function finishing(item: EnrollmentItem, to: Ending): Write[] {
  const { orgId, sequenceId, contactId, home } = item;
  const left =
    to.contact && update(to.contact, { leave: { sequences: new Set([sequenceId]) }, add: { v: 1 } }, { if: equals("id", contactId) });
  return [
    remove(item, { if: equals("v", item.v) }),
    put(keys.finishedEnrollment(orgId, sequenceId, home, `${to.at}#${sortable(item.id)}`), finished(item, to)),
    ...(left ? [left] : []),
  ];
}

/** As it is kept when it is over. */
export const finished = (
  { id, sequenceId, contactId, stepId, order, lastProgressAt, createdAt }: EnrollmentItem,
  { status, reason, at }: Ending,
): FinishedItem => ({
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

/** Those that `counting` moves for it: of steps by their id, and 0 for that of the whole. */
export const countersOf = ({ to, reached, left }: Move): Set<number> => new Set([...(isEnding(to) ? [0] : []), ...reached, ...left]);

/** What many moves of one sequence count together: one write for those inside and one for each step that was come to or left. */
export function counting(moves: Move[]): Write[] {
  const [first] = moves;
  if (!first) return [];
  const { orgId, sequenceId, contactId } = first.item;
  const ended: Partial<Record<Count, number>> = {};
  const steps = new Map<number, { reached: number; left: number }>();
  const step = (id: number) => steps.get(id) ?? steps.set(id, { reached: 0, left: 0 }).get(id)!;
  for (const { to, reached, left } of moves) {
    if (isEnding(to)) Object.assign(ended, { active: (ended.active ?? 0) - 1, [to.status]: (ended[to.status] ?? 0) + 1 });
    for (const id of reached) step(id).reached++;
    for (const id of left) step(id).left++;
  }
  return [
    ...(Object.keys(ended).length ? [counted(first.item, ended)] : []),
    ...[...steps].map(([id, add]) => update(keys.stepCount(orgId, sequenceId, id, countShardOf(contactId)), { add: { ...add } })),
  ];
}

/** The way out at whatever step it is. */
export const ending = (item: EnrollmentItem, to: Ending): Move => ({
  item,
  to,
  reached: [],
  left: item.stepId === undefined ? [] : [item.stepId],
});
