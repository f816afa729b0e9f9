// Enrolls contacts in a sequence on request, and cancels enrollments.
import * as z from "zod";
import { all, equals } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  queryAll,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { Count } from "../../kernel/record-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys, ranges } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { FailedContact } from "../audience/contacts/failed-contact.ts";
import type { ChangeContext, Commit } from "../audience/contacts/reactions.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import { prepareEnrollmentEvents } from "./enrollment-events.ts";
import { enqueueAdvance } from "./enrollment-scheduling.ts";
import * as enrollmentSchema from "./enrollment-schema.ts";
import { type Enrollment, type EnrollmentItem, toApi } from "./enrollment-schema.ts";
import {
  toFinishedItem,
  transitionCountWrites,
  transitionToEnd,
  transitionWrites,
} from "./enrollment-transition.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import { withoutRefused } from "./sequence-starts.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import { commitWithRetry } from "./transition-commits.ts";

export const EnrollResult = z
  .object({
    enrolled: Count.describe("Number of contacts enrolled."),
    unchanged: Count.describe("Number of contacts that were already active in the sequence."),
    failed: z
      .array(FailedContact)
      .describe(
        "Contacts that could not be enrolled: not a contact of the site, not subscribed, or in " +
          "100 sequences already.",
      ),
    enrollments: z.array(enrollmentSchema.Enrollment).describe("The new enrollments."),
  })
  .meta({ id: "EnrollmentOutcome" });
export type EnrollResult = z.output<typeof EnrollResult>;

export const maxPerRequest = 100;

/**
 * Idempotent: an active enrollment does not change. 409 when the sequence is archived, 400 when it
 * has no step with that order.
 */
export async function enroll(
  caller: CallerScope,
  sequenceId: number,
  { contactIds, startAtStep }: { contactIds: number[]; startAtStep?: number | undefined },
): Promise<EnrollResult> {
  const sequence = await findItem(caller, sequenceId);
  if (sequence.status === "archived") throw archived();
  await checkStart(caller.orgId, sequence, startAtStep);
  return enrollWithRetry(caller.orgId, sequence, { contactIds, startAtStep });
}

const archived = () => conflict("The sequence is archived", { code: "sequence_archived" });

async function checkStart(
  orgId: number,
  sequence: SequenceItem,
  startAtStep: number | undefined,
): Promise<void> {
  if (startAtStep === undefined) return;
  const { steps } = await stepGraphStore.getGraph(orgId, sequence);
  if (steps.some(({ stepOrder }) => stepOrder === startAtStep)) return;
  const message = `startAtStep: the sequence has no step with stepOrder ${startAtStep}`;
  throw invalid(message, { details: [{ path: "startAtStep", message }] });
}

// Each enrollment takes two writes. The counter and the events take one each, and a transaction
// takes 100.
const maxPerTransaction = 49;

async function enrollWithRetry(
  orgId: number,
  sequence: SequenceItem,
  { contactIds, startAtStep }: { contactIds: number[]; startAtStep: number | undefined },
): Promise<EnrollResult> {
  const uniqueIds = [...new Set(contactIds)];
  const started: EnrollmentItem[] = [];
  return retryOnConflict("The contacts of the request", async () => {
    const { found, failed } = await loadContacts(orgId, sequence, uniqueIds);
    const pending = found.filter(({ sequences }) => !sequences?.has(sequence.id));
    const created = await createEnrollments(sequence.id, pending, startAtStep);
    started.push(...created);
    if (created.length < pending.length) throw new ConditionFailed(0);
    await enqueueAdvance(orgId, started);
    const enrollments = started.map((item) => toApi(item, sequence.status === "active", undefined));
    return {
      enrolled: started.length,
      unchanged: found.length - started.length,
      failed,
      enrollments,
    };
  });
}

/**
 * One transaction per batch. Leaves out the batches whose condition failed because something
 * changed since the contacts were read.
 */
async function createEnrollments(
  sequenceId: number,
  pending: ContactItem[],
  order: number | undefined,
): Promise<EnrollmentItem[]> {
  const firstSerial = pending.length ? await ids.nextEnrollmentIds(pending.length) : 0;
  const entries = pending.map((contact, i) => ({
    contact,
    item: enrollmentSchema.newEnrollment(contact, { sequenceId, serial: firstSerial + i, order }),
  }));
  const batches = splitIntoBatches(entries, maxPerTransaction);
  const created = await inParallel(4, batches, async (batch) => {
    try {
      return await commitNew(batch, write);
    } catch (error) {
      if (error instanceof ConditionFailed) return [];
      throw error;
    }
  });
  return created.flat();
}

async function commitNew(
  batch: { contact: ContactItem; item: EnrollmentItem }[],
  commit: Commit,
): Promise<EnrollmentItem[]> {
  const items = batch.map(({ item }) => item);
  const contactWrites = batch.map(({ contact, item }) =>
    sequenceSetWrite(contact, item.sequenceId),
  );
  const events = await prepareEnrollmentEvents("sequence.enrolled", items);
  await commit(...contactWrites, ...enrollmentSchema.enrollmentWrites(items), ...events.writes);
  await events.afterCommit();
  return items;
}

/**
 * Enrolls the contact as it was read, unless it is in the sequence. Throws if that is not possible
 * or the contact has changed since.
 */
export async function commitEnrollment(
  contact: ContactItem,
  sequenceId: number,
  { commit, chain }: ChangeContext,
): Promise<void> {
  const { orgId } = contact;
  const sequence = await findItem({ orgId }, sequenceId);
  if (sequence.status === "archived") throw archived();
  const obstacle = findObstacle(sequence, contact);
  if (obstacle) throw invalid(obstacle);
  if (contact.sequences?.has(sequenceId) || !withoutRefused([sequenceId], chain).length) return;
  const serial = await ids.nextEnrollmentIds(1);
  const item = enrollmentSchema.newEnrollment(contact, {
    sequenceId,
    serial,
    depth: chain?.depth,
  });
  await commitNew([{ contact, item }], commit);
  await enqueueAdvance(orgId, [item]);
}

/** Ends the enrollment of the contact, if there is one. Throws if it has changed since. */
export async function commitLeaving(
  contact: ContactItem,
  sequenceId: number,
  { commit }: ChangeContext,
): Promise<void> {
  if (!contact.sequences?.has(sequenceId)) return;
  const { orgId, id: contactId } = contact;
  const shard = membershipShardOf(contact);
  const key = keys.enrollment(orgId, sequenceId, { shard, contactId });
  const item = await get<EnrollmentItem>(key);
  if (!item) return;
  const to = {
    status: "cancelled" as const,
    reason: "cancelled",
    contact,
    at: now().toISOString(),
  };
  const transition = transitionToEnd(item, to);
  await commit(...transitionWrites(transition), ...transitionCountWrites([transition]));
}

function sequenceSetWrite(contact: ContactItem, sequenceId: number): Write {
  const { add, conditions } = enrollmentSchema.sequenceSetChanges(contact, [sequenceId]);
  return update(
    contact,
    { add: { ...add, v: 1 } },
    { if: all(equals("id", contact.id), ...conditions) },
  );
}

/** The contacts that may be enrolled or already are, and an error for each of the others. */
async function loadContacts(orgId: number, sequence: SequenceItem, contactIds: number[]) {
  const byId = new Map(
    (await contacts.getByIds(orgId, contactIds, { consistent: true })).map((contact) => [
      contact.id,
      contact,
    ]),
  );
  const errorOf = (contact: ContactItem | undefined): string | undefined =>
    contact ? findObstacle(sequence, contact) : "The contact does not exist";
  const failed = contactIds.flatMap((contactId) => {
    const error = errorOf(byId.get(contactId));
    return error === undefined ? [] : [{ contactId, error }];
  });
  return { found: [...byId.values()].filter((contact) => !errorOf(contact)), failed };
}

/** Why the contact cannot be in the sequence. */
function findObstacle(
  { id, siteId, triggerType }: SequenceItem,
  contact: ContactItem,
): string | undefined {
  if (contact.siteId !== siteId) return "The contact belongs to another site";
  if (contact.sequences?.has(id)) return undefined;
  const blocking = enrollmentSchema.blockingStatus(contact, triggerType);
  if (blocking) return `The contact is ${blocking}`;
  return enrollmentSchema.enterableSequences(contact, [id]).length
    ? undefined
    : `The contact is in ${enrollmentSchema.maxSequencesPerContact} sequences already`;
}

interface EnrollmentSelector {
  contactId?: number | undefined;
  enrollmentId?: number | undefined;
}

/** Ends an enrollment at its current step. 404 when it is not active. */
export async function cancel(
  caller: CallerScope,
  sequenceId: number,
  selector: EnrollmentSelector,
): Promise<Enrollment> {
  await findItem(caller, sequenceId);
  return retryOnConflict("The enrollment", async () => {
    const item = await getActive(caller, sequenceId, selector);
    if (!item) throw missing("The active enrollment does not exist");
    const [contact] = await contacts.getByIds(caller.orgId, [item.contactId], { consistent: true });
    const to = {
      status: "cancelled" as const,
      reason: "cancelled",
      contact,
      at: now().toISOString(),
    };
    const [committed] = await commitWithRetry([transitionToEnd(item, to)]);
    // A worker advanced the enrollment in between.
    if (!committed) throw new ConditionFailed(0);
    return enrollmentSchema.finishedToApi(toFinishedItem(item, to));
  });
}

async function getActive(
  caller: CallerScope,
  sequenceId: number,
  { contactId, enrollmentId = 0 }: EnrollmentSelector,
): Promise<EnrollmentItem | undefined> {
  if (contactId !== undefined) {
    const contact = await contacts.findItem(caller, contactId);
    return get<EnrollmentItem>(
      keys.enrollment(caller.orgId, sequenceId, { shard: membershipShardOf(contact), contactId }),
    );
  }
  const range = ranges.enrollments(
    caller.orgId,
    sequenceId,
    enrollmentSchema.shardOfId(enrollmentId),
  );
  const [found] = await queryAll<EnrollmentItem>(range, {
    filter: equals("id", enrollmentId),
    consistent: true,
  });
  return found;
}
