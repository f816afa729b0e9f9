// One contact's way through one sequence, and writes of it that are not yet made. Who is inside has an item beside the sequence, in
// the collection of the contact's memberships, and the sequence in a set on the contact: both are moved in one transaction, with the
// counters of the sequence and of its steps.
import * as z from "zod";
import { now } from "../../clock.ts";
import { absent, any, type Condition, contains, equals, not, smaller } from "../../conditions.ts";
import { type Changes, put, update, type Write } from "../../doors/table.ts";
import { type Address, countShardOf, keys, off, shards } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { homeOf } from "../contacts/memberships.ts";
import { cohortsOf, dueAt, gathering, type Placed } from "./waiting.ts";

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

/** All of one organization: the enrollments, one write for each sequence they enter, and one where there is a cohort of them. */
export function beginning(items: EnrollmentItem[]): { placed: Placed<EnrollmentItem>[]; writes: Write[] } {
  const bySequence = [...Map.groupBy(items, ({ sequenceId }) => sequenceId).values()];
  const cohorts = new Map(bySequence.flatMap((some) => [...cohortsOf(some.map((item) => ({ item, at: item.at })))]));
  return {
    placed: items.map((item) => ({ item, cohort: cohorts.get(item) })),
    writes: [
      ...items.map((item) => put(item, cohorts.has(item) ? unlisted(item) : item, { new: true })),
      ...gathering(cohorts.values()),
      ...bySequence.map((some) => counted(some[0]!, { active: some.length })),
    ],
  };
}

const unlisted = (item: EnrollmentItem): object => Object.fromEntries(Object.entries(item).filter(([name]) => !off("due").includes(name)));

export type Count = "active" | FinishedStatus;

/** Of those inside, and of those who have been. */
export const counted = ({ orgId, sequenceId, contactId }: Named, add: Partial<Record<Count, number>>): Write =>
  update(keys.sequenceCount(orgId, sequenceId, countShardOf(contactId)), { add: add as Record<string, number> });

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
