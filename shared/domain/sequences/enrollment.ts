// One contact's way through one sequence, and writes of it that are not yet made. Who is inside has an item beside the sequence, in
// the collection of the contact's memberships, and the sequence in a set on the contact: both are moved in one transaction, with the
// counters of the sequence and of its steps.
import * as z from "zod";
import { now } from "../../clock.ts";
import { absent, any, type Condition, contains, equals, not, smaller } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { type Changes, put, remove, update, type Write } from "../../doors/table.ts";
import { type Address, countShardOf, enrollmentShards, keys, off, on, sha256, shards, shelves, sortable } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { homeOf } from "../contacts/groups.ts";

export const finishedStatuses = ["completed", "cancelled", "failed"] as const;
export type FinishedStatus = (typeof finishedStatuses)[number];
export const enrollmentStatuses = ["active", ...finishedStatuses] as const;

export const Enrollment = z
  .object({
    id: z.int(),
    sequenceId: z.int(),
    contactId: z.int(),
    status: z.enum(enrollmentStatuses),
    currentStepId: z.int().nullable().describe("The step it is at; null before the first and after the last"),
    currentStepOrder: z.int().nullable(),
    nextRunAt: z.string().nullable().describe("When it goes on; null once it is over, and while its sequence is not active"),
    lastProgressAt: z.string().describe("When it last came to another step"),
    completedAt: z.string().nullable().describe("When it was over, in whatever way"),
    failureReason: z
      .string()
      .nullable()
      .describe("Why it was cancelled or failed: cancelled, unsubscribed, pending, suppressed, contact_deleted"),
    createdAt: z.string(),
  })
  .meta({ id: "Enrollment" });
export type Enrollment = z.output<typeof Enrollment>;

export interface EnrollmentItem extends Address {
  id: number;
  orgId: number;
  siteId: number;
  sequenceId: number;
  contactId: number;
  /** Where the contact was found last: a hint. */
  email: string;
  home: string;
  /** Not done yet; absent before the first. */
  stepId?: number;
  /** Of that step; before the first: where it begins. */
  order: number;
  /** The wait at its step has begun. */
  waiting?: boolean;
  /** Fell due while its sequence was not active. */
  held?: boolean;
  /** When it goes on (ISO 8601). */
  at: string;
  lastProgressAt: string;
  createdAt: string;
  /** By step: the mail it got. */
  sends?: Record<string, number>;
  v: number;
}

export interface FinishedItem extends Pick<EnrollmentItem, "id" | "sequenceId" | "contactId" | "lastProgressAt" | "createdAt"> {
  status: FinishedStatus;
  stepId?: number;
  order: number;
  finishedAt: string;
  reason?: string;
}

export const mostSequences = 100;

/** Why a contact cannot be in a sequence; undefined when it can. */
export const obstacle = ({ status }: Pick<ContactItem, "status">): string | undefined => (status === "subscribed" ? undefined : status);

/** Sequences that a contact may enter now. */
export const open = (contact: ContactItem, sequenceIds: number[]): number[] =>
  obstacle(contact) ? [] : sequenceIds.filter((id) => !contact.sequences?.has(id)).slice(0, mostSequences - (contact.sequences?.size ?? 0));

/** What entering changes on the contact, and what must hold for it: for whoever writes the contact in the same transaction. */
export const entering = (sequenceIds: number[]): { add: NonNullable<Changes["add"]>; conditions: Condition[] } =>
  sequenceIds.length
    ? {
        add: { sequences: new Set(sequenceIds) },
        conditions: [
          equals("status", "subscribed"),
          any(absent("sequences"), smaller("sequences", mostSequences - sequenceIds.length + 1)),
          ...sequenceIds.map((id) => not(contains("sequences", id))),
        ],
      }
    : { add: {}, conditions: [] };

/** An enrollment as it begins. `number`: of those that `ids.takeEnrollments` gave; `order`: of the step it begins with. */
export function begun(
  { orgId, siteId, id: contactId, sk: email, ...contact }: ContactItem,
  sequenceId: number,
  number: number,
  order = 0,
): EnrollmentItem {
  const home = homeOf({ sk: email, ...(contact.home && { home: contact.home }) });
  const at = now().toISOString();
  const core = { orgId, siteId, sequenceId, contactId, home };
  return {
    ...keys.enrollment(orgId, sequenceId, home, contactId),
    // Its last digit tells its collection.
    id: number * shards.length + shards.indexOf(home),
    ...core,
    email,
    order,
    at,
    lastProgressAt: at,
    createdAt: at,
    v: 1,
    ...dueAt(core, at),
  };
}

export const homeOfId = (enrollmentId: number): string => shards[enrollmentId % shards.length]!;

type Named = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;

const shardOf = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16) % enrollmentShards;

/** Minutes, not seconds: within one, those of all organizations are mixed. */
export function dueAt({ orgId, sequenceId, contactId }: Named, at: string): Record<string, string> {
  const hash = sha256(`${orgId}/${sequenceId}/${contactId}`);
  const minuteMs = 60_000;
  // Nobody goes on before time; whoever is to go on now need not wait for the next minute.
  const ms = Date.parse(at);
  const minute = new Date((ms <= now().getTime() ? Math.floor(ms / minuteMs) : Math.ceil(ms / minuteMs)) * minuteMs);
  return on(shelves.dueEnrollments(shardOf(hash)), `${minute.toISOString()}#${hash.slice(8, 24)}`);
}

/** All of one organization: the enrollments, and one write for each sequence they enter. */
export const beginning = (items: EnrollmentItem[]): Write[] => [
  ...items.map((item) => put(item, item, { new: true })),
  ...[...Map.groupBy(items, ({ sequenceId }) => sequenceId).values()].map((some) => counted(some[0]!, { active: some.length })),
];

type Count = "active" | FinishedStatus;

const counted = ({ orgId, sequenceId, contactId }: Named, add: Partial<Record<Count, number>>): Write =>
  update(keys.sequenceCount(orgId, sequenceId, countShardOf(contactId)), { add: add as Record<string, number> });

/** A step of one enrollment on its way, or its end. */
export interface Move {
  item: EnrollmentItem;
  /** Steps it came to, and those it left, by id. */
  reached: number[];
  left: number[];
  to: Standing | Ending;
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
export const moving = ({ item, to, reached, left }: Move): Write[] =>
  isEnding(to) ? finishing(item, to) : [standing(item, to, reached.length + left.length > 0)];

/** Taken off the due index where it is held. */
function standing(item: EnrollmentItem, { stepId, order, at, waiting, sends, held = false }: Standing, progressed: boolean): Write {
  const set = {
    stepId,
    order,
    at,
    sends,
    v: item.v + 1,
    ...(waiting && { waiting }),
    ...(held && { held }),
    ...(progressed && { lastProgressAt: now().toISOString() }),
    ...(held ? {} : dueAt(item, at)),
  };
  const drop = [...(waiting ? [] : ["waiting"]), ...(held ? off("due") : ["held"]), ...(stepId === undefined ? ["stepId"] : [])];
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

/** So that nobody waits for the next minute: a tick would find them. */
export async function advanceSoon(items: Pick<EnrollmentItem, "orgId" | "sequenceId" | "home" | "contactId">[]): Promise<void> {
  const messages = [...Map.groupBy(items, ({ orgId }) => orgId)].flatMap(([orgId, theirs]) =>
    chunked(theirs, 100).map((some) => ({
      work: "some" as const,
      orgId,
      enrollments: some.map(({ sequenceId, home, contactId }) => ({ sequenceId, home, contactId })),
    })),
  );
  await enqueue(queues.advance, messages, { group: (message) => ("orgId" in message ? message.orgId : "") });
}

export const told = (item: EnrollmentItem, active: boolean, currentStepOrder: number | undefined): Enrollment => ({
  id: item.id,
  sequenceId: item.sequenceId,
  contactId: item.contactId,
  status: "active",
  currentStepId: item.stepId ?? null,
  currentStepOrder: currentStepOrder ?? null,
  nextRunAt: active && !item.held ? item.at : null,
  lastProgressAt: item.lastProgressAt,
  completedAt: null,
  failureReason: null,
  createdAt: item.createdAt,
});

export const toldFinished = (item: FinishedItem): Enrollment => ({
  id: item.id,
  sequenceId: item.sequenceId,
  contactId: item.contactId,
  status: item.status,
  currentStepId: item.status === "completed" ? null : (item.stepId ?? null),
  currentStepOrder: item.status === "completed" || item.stepId === undefined ? null : item.order,
  nextRunAt: null,
  lastProgressAt: item.lastProgressAt,
  completedAt: item.finishedAt,
  failureReason: item.reason ?? null,
  createdAt: item.createdAt,
});
