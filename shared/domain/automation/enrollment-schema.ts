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
import { counterShardOf, emailShards, type Key, keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import { dueIndexAttributes } from "./enrollment-scheduling.ts";
import { type SequenceTriggerType, takesUnsubscribed } from "./trigger-schema.ts";

export const finishedStatuses = ["completed", "cancelled", "failed"] as const;
export type FinishedEnrollmentStatus = (typeof finishedStatuses)[number];
/** Why an enrollment completed before its last step. */
export const endReasons = ["exit_step", "goal", "exit"] as const;
export type EndReason = (typeof endReasons)[number];

export const enrollmentStatuses = ["active", ...finishedStatuses] as const;

const ActionProblem = z
  .object({
    stepId: RecordId.describe("Step with the action."),
    message: z.string().describe("Why it was not done, or not all of it, in one sentence."),
    createdAt: Timestamp.describe("When the contact was at the step."),
  })
  .meta({ id: "ActionProblem" });
export type ActionProblem = z.output<typeof ActionProblem>;

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
        "`active`: in the sequence. `completed`: reached the end, or see `endReason`. " +
          "`cancelled`: left it, see `failureReason`. `failed`: could not continue.",
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
          "`suppressed`, `contact_deleted`, or `contact_merged`: the contact that it was merged " +
          "into was in the sequence.",
      ),
    endReason: z
      .enum(endReasons)
      .nullable()
      .describe(
        "Why the enrollment completed before the last step. `exit_step`: at a step of the type " +
          "`exit`. `goal` and `exit`: met one of the `goals` or `exits` of the sequence. `null` " +
          "otherwise.",
      ),
    actionProblems: z
      .array(ActionProblem)
      .describe(
        "Actions that could not be done, such as with a list that was deleted, oldest first. The " +
          "contact went on without them. At most the latest 20.",
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
  /** The action of its action step is done. */
  acted?: boolean;
  /** Became due while its sequence was not active. */
  held?: boolean;
  /** When it continues (ISO 8601). */
  at: string;
  lastProgressAt: string;
  createdAt: string;
  /** Sort key of the custom event that started it, in the log of the contact. */
  startedBy?: string;
  /** Send id of the mail of each step. */
  sends?: Record<string, number>;
  /** The way that each split drew, by step id. */
  ways?: Record<string, number>;
  /** Sort keys of events, which its sequence listens to, that arrived since its last run. */
  heard?: Set<string>;
  /** Sort key of the event that its latest wait for an event ended with. */
  wokenBy?: string;
  /** How many sequences of a chain came before, if an action started it. */
  depth?: number;
  /** Its latest actions that could not be done. */
  actionProblems?: ActionProblem[];
  v: number;
}

export interface FinishedEnrollmentItem
  extends Pick<
    EnrollmentItem,
    "id" | "sequenceId" | "contactId" | "lastProgressAt" | "createdAt" | "actionProblems"
  > {
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
export const blockingStatus = (
  { status }: Pick<ContactItem, "status">,
  triggerType: SequenceTriggerType,
): string | undefined =>
  status === "subscribed" || takesUnsubscribed(triggerType) ? undefined : status;

/** The sequences that the contact is not in, as many as it may still enter. */
export const enterableSequences = (contact: ContactItem, sequenceIds: number[]): number[] =>
  sequenceIds
    .filter((id) => !contact.sequences?.has(id))
    .slice(0, maxSequencesPerContact - (contact.sequences?.size ?? 0));

/**
 * Changes and conditions for the contact's own write, in the transaction that creates its
 * enrollments.
 */
export const sequenceSetChanges = (
  { status }: ContactItem,
  sequenceIds: number[],
): { add: NonNullable<ItemChanges["add"]>; conditions: Condition[] } =>
  sequenceIds.length
    ? {
        add: { sequences: new Set(sequenceIds) },
        conditions: [
          equals("status", status),
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
  startedBy?: string | undefined;
  depth?: number | undefined;
}

export function newEnrollment(
  { orgId, siteId, id: contactId, sk: email, ...contact }: ContactItem,
  { sequenceId, serial, order = 0, startedBy, depth }: NewEnrollment,
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
    ...(startedBy !== undefined && { startedBy }),
    ...(depth !== undefined && { depth }),
    v: 1,
    ...dueIndexAttributes(core, at),
  };
}

export const shardOfId = (enrollmentId: number): string =>
  emailShards[enrollmentId % emailShards.length]!;

type EnrollmentRef = Pick<EnrollmentItem, "orgId" | "sequenceId" | "contactId">;

/**
 * Writes of new enrollments of one organization: one for each, and one counter for each sequence.
 */
export const enrollmentWrites = (items: EnrollmentItem[]): Write[] => [
  ...items.map((item) => put(item, item, { ifAbsent: true })),
  ...[...Map.groupBy(items, ({ sequenceId }) => sequenceId).values()].map((sequenceItems) =>
    enrollmentCountWrite(sequenceItems[0]!, { active: sequenceItems.length }),
  ),
];

/** How many enrollments have a status, how many converted, and the value of these conversions. */
export type EnrollmentCounter = "active" | FinishedEnrollmentStatus | "converted" | "value";

export const enrollmentCountWrite = (
  { orgId, sequenceId, contactId }: EnrollmentRef,
  add: Partial<Record<EnrollmentCounter, number>>,
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
  endReason: null,
  actionProblems: item.actionProblems ?? [],
  createdAt: item.createdAt,
});

const isEndReason = (reason: string | undefined): reason is EndReason =>
  endReasons.includes(reason as EndReason);

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
  failureReason: isEndReason(item.reason) ? null : (item.reason ?? null),
  endReason: isEndReason(item.reason) ? item.reason : null,
  actionProblems: item.actionProblems ?? [],
  createdAt: item.createdAt,
});
