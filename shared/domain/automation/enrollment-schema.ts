// The enrollment of a contact in a sequence. Its item is in the membership shard of the contact,
// and the contact lists the sequence in a set: one transaction writes both, with the counters of
// the sequence and of its steps.
import * as z from "zod";
import {
  absent,
  any,
  type Condition,
  contains,
  equals,
  not,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import { type ItemChanges, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { counterShardOf, emailShards, indexAttributeNames, type Key, keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import {
  assignCohorts,
  cohortWrites,
  dueIndexAttributes,
  type ScheduledEnrollment,
} from "./cohorts.ts";

export const finishedStatuses = ["completed", "cancelled", "failed"] as const;
export type FinishedEnrollmentStatus = (typeof finishedStatuses)[number];
export const enrollmentStatuses = ["active", ...finishedStatuses] as const;

export const Enrollment = z
  .object({
    id: RecordId.describe(
      "Id of the enrollment, for `enrollmentId` of DELETE /sequences/:id/enrollments.",
    ),
    sequenceId: RecordId.describe("Sequence of the enrollment."),
    contactId: RecordId.describe("Contact that is enrolled."),
    status: z
      .enum(enrollmentStatuses)
      .describe(
        "`active`: in the sequence. `completed`: reached the end. `cancelled`: left it, see " +
          "`failureReason`. `failed`: could not continue.",
      ),
    currentStepId: RecordId.nullable().describe(
      "Step that the contact is at. `null` before the first and after the last step.",
    ),
    currentStepOrder: Count.nullable().describe("Order of that step."),
    nextRunAt: Timestamp.nullable().describe(
      "When the enrollment continues. `null` when it has ended, and while the sequence is " +
        "not active.",
    ),
    lastProgressAt: Timestamp.describe("When the contact last reached another step."),
    completedAt: Timestamp.nullable().describe(
      "When the enrollment ended, for whatever reason. `null` while it is active.",
    ),
    failureReason: z
      .string()
      .nullable()
      .describe(
        "Why the enrollment was cancelled: `cancelled`, `unsubscribed`, `pending`, " +
          "`suppressed` or `contact_deleted`.",
      ),
    createdAt: Timestamp.describe("When the contact was enrolled."),
  })
  .meta({ id: "Enrollment" });
export type Enrollment = z.output<typeof Enrollment>;

export const ListedEnrollment = Enrollment.extend({
  contactEmail: z
    .string()
    .nullable()
    .describe("Email address of the contact. `null` if the contact was deleted."),
}).meta({ id: "ListedEnrollment" });
export type ListedEnrollment = z.output<typeof ListedEnrollment>;

export interface EnrollmentItem extends Key {
  id: number;
  orgId: number;
  siteId: number;
  sequenceId: number;
  contactId: number;
  /** Last known email address of the contact: a hint. */
  email: string;
  /** Membership shard of the contact. */
  home: string;
  /** The step to run next. Absent before the first. */
  stepId?: number;
  /** `stepOrder` of that step. Before the first step: the order to start at. */
  order: number;
  /** The wait at its delay step has begun. */
  waiting?: boolean;
  /** Became due while its sequence was not active. */
  held?: boolean;
  /** When it continues (ISO 8601). */
  at: string;
  lastProgressAt: string;
  createdAt: string;
  /** Send id of the mail of each step. */
  sends?: Record<string, number>;
  v: number;
}

export interface FinishedEnrollmentItem
  extends Pick<EnrollmentItem, "id" | "sequenceId" | "contactId" | "lastProgressAt" | "createdAt"> {
  status: FinishedEnrollmentStatus;
  stepId?: number;
  order: number;
  finishedAt: string;
  reason?: string;
}

/** Sort key prefix of ended enrollments in the contact log. */
export const logPrefix = "SEQUENCE|";

export const maxSequencesPerContact = 100;

/** Why a contact cannot be in a sequence: its status. Undefined when it can. */
export const blockingStatus = ({ status }: Pick<ContactItem, "status">): string | undefined =>
  status === "subscribed" ? undefined : status;

export const enterableSequences = (contact: ContactItem, sequenceIds: number[]): number[] =>
  blockingStatus(contact)
    ? []
    : sequenceIds
        .filter((id) => !contact.sequences?.has(id))
        .slice(0, maxSequencesPerContact - (contact.sequences?.size ?? 0));

/**
 * Changes and conditions for the contact's own write, in the transaction that creates its
 * enrollments.
 */
export const sequenceSetChanges = (
  sequenceIds: number[],
): { add: NonNullable<ItemChanges["add"]>; conditions: Condition[] } =>
  sequenceIds.length
    ? {
        add: { sequences: new Set(sequenceIds) },
        conditions: [
          equals("status", "subscribed"),
          any(
            absent("sequences"),
            sizeBelow("sequences", maxSequencesPerContact - sequenceIds.length + 1),
          ),
          ...sequenceIds.map((id) => not(contains("sequences", id))),
        ],
      }
    : { add: {}, conditions: [] };

interface NewEnrollment {
  sequenceId: number;
  /** From `ids.nextEnrollmentIds`. */
  serial: number;
  /** `stepOrder` of the step to start with. */
  order?: number | undefined;
}

export function newEnrollment(
  { orgId, siteId, id: contactId, sk: email, ...contact }: ContactItem,
  { sequenceId, serial, order = 0 }: NewEnrollment,
): EnrollmentItem {
  const home = membershipShardOf({ sk: email, ...(contact.home && { home: contact.home }) });
  const at = now().toISOString();
  const core = { orgId, siteId, sequenceId, contactId, home };
  return {
    ...keys.enrollment(orgId, sequenceId, { shard: home, contactId }),
    // The remainder of the id names the shard (see `shardOfId`).
    id: serial * emailShards.length + emailShards.indexOf(home),
    ...core,
    email,
    order,
    at,
    lastProgressAt: at,
    createdAt: at,
    v: 1,
    ...dueIndexAttributes(core, at),
  };
}

export const shardOfId = (enrollmentId: number): string =>
  emailShards[enrollmentId % emailShards.length]!;

type EnrollmentRef = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;

/**
 * Writes of new enrollments of one organization: one for each, one counter for each sequence, and
 * their cohorts.
 */
export function enrollmentWrites(items: EnrollmentItem[]): {
  scheduled: ScheduledEnrollment<EnrollmentItem>[];
  writes: Write[];
} {
  const bySequence = [...Map.groupBy(items, ({ sequenceId }) => sequenceId).values()];
  const cohorts = new Map(
    bySequence.flatMap((sequenceItems) => [
      ...assignCohorts(sequenceItems.map((item) => ({ item, at: item.at }))),
    ]),
  );
  return {
    scheduled: items.map((item) => ({ enrollment: item, cohort: cohorts.get(item) })),
    writes: [
      ...items.map((item) =>
        put(item, cohorts.has(item) ? withoutDueAttributes(item) : item, { ifAbsent: true }),
      ),
      ...cohortWrites(cohorts.values()),
      ...bySequence.map((sequenceItems) =>
        enrollmentCountWrite(sequenceItems[0]!, { active: sequenceItems.length }),
      ),
    ],
  };
}

const withoutDueAttributes = (item: EnrollmentItem): object =>
  Object.fromEntries(
    Object.entries(item).filter(([name]) => !indexAttributeNames("due").includes(name)),
  );

export type EnrollmentStatus = "active" | FinishedEnrollmentStatus;

export const enrollmentCountWrite = (
  { orgId, sequenceId, contactId }: EnrollmentRef,
  add: Partial<Record<EnrollmentStatus, number>>,
): Write =>
  update(keys.sequenceCount(orgId, sequenceId, counterShardOf(contactId)), {
    add: add as Record<string, number>,
  });

export const toApi = (
  item: EnrollmentItem,
  active: boolean,
  currentStepOrder: number | undefined,
): Enrollment => ({
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

export const finishedToApi = (item: FinishedEnrollmentItem): Enrollment => ({
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
