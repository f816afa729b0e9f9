// Enrolls contacts in a sequence on request, cancels enrollments, counts and lists them.
import * as z from "zod";
import { all, equals } from "../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  queryAll,
  transact,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { readNewestFirst } from "../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { Count } from "../../kernel/record-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { emailShards, type Key, keys, ranges } from "../../keys.ts";
import { type ContactItem, FailedContact } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import { enqueueAdvance, type ScheduledEnrollment } from "./cohorts.ts";
import { prepareEnrollmentEvents } from "./enrollment-events.ts";
import * as enrollment from "./enrollment-schema.ts";
import {
  type Enrollment,
  type EnrollmentItem,
  type ListedEnrollment,
  toApi,
} from "./enrollment-schema.ts";
import { toFinishedItem, transitionToEnd } from "./enrollment-transition.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import type { StepGraph } from "./step-graph.ts";
import * as graphStore from "./step-graph-store.ts";
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
    enrollments: z.array(enrollment.Enrollment).describe("The new enrollments."),
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
  if (sequence.status === "archived")
    throw conflict("The sequence is archived", { code: "sequence_archived" });
  await checkStart(caller.orgId, sequence, startAtStep);
  return enrollWithRetry(caller.orgId, sequence, { contactIds, startAtStep });
}

async function checkStart(
  orgId: number,
  sequence: SequenceItem,
  startAtStep: number | undefined,
): Promise<void> {
  if (startAtStep === undefined) return;
  const { steps } = await graphStore.getGraph(orgId, sequence);
  if (steps.some(({ stepOrder }) => stepOrder === startAtStep)) return;
  const message = `startAtStep: the sequence has no step with stepOrder ${startAtStep}`;
  throw invalid(message, { details: [{ path: "startAtStep", message }] });
}

// Each enrollment takes two writes. The counter, the cohorts and the events take one each, and a
// transaction takes 100.
const maxPerTransaction = 48;

async function enrollWithRetry(
  orgId: number,
  sequence: SequenceItem,
  { contactIds, startAtStep }: { contactIds: number[]; startAtStep: number | undefined },
): Promise<EnrollResult> {
  const uniqueIds = [...new Set(contactIds)];
  const started: ScheduledEnrollment<EnrollmentItem>[] = [];
  return retryOnConflict("The contacts of the request", async () => {
    const { found, failed } = await loadContacts(orgId, sequence, uniqueIds);
    const pending = found.filter(({ sequences }) => !sequences?.has(sequence.id));
    const created = await createEnrollments(sequence.id, pending, startAtStep);
    started.push(...created);
    if (created.length < pending.length) throw new ConditionFailed(0);
    await enqueueAdvance(started);
    const enrollments = started.map(({ enrollment }) =>
      toApi(enrollment, sequence.status === "active", undefined),
    );
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
): Promise<ScheduledEnrollment<EnrollmentItem>[]> {
  const firstSerial = pending.length ? await ids.nextEnrollmentIds(pending.length) : 0;
  const entries = pending.map((contact, i) => ({
    contact,
    item: enrollment.newEnrollment(contact, { sequenceId, serial: firstSerial + i, order }),
  }));
  const batches = splitIntoBatches(entries, maxPerTransaction);
  const created = await inParallel(4, batches, async (batch) => {
    const { scheduled, writes } = enrollment.enrollmentWrites(batch.map(({ item }) => item));
    const contactWrites = batch.map(({ contact }) => sequenceSetWrite(contact, sequenceId));
    const items = batch.map(({ item }) => item);
    const events = await prepareEnrollmentEvents("sequence.enrolled", items);
    if (!(await transact(...contactWrites, ...writes, ...events.writes))) return [];
    await events.afterCommit();
    return scheduled;
  });
  return created.flat();
}

function sequenceSetWrite(contact: ContactItem, sequenceId: number): Write {
  const { add, conditions } = enrollment.sequenceSetChanges([sequenceId]);
  return update(
    contact,
    { add: { ...add, v: 1 } },
    { if: all(equals("id", contact.id), ...conditions) },
  );
}

/** The contacts that may be enrolled or already are, and an error for each of the others. */
async function loadContacts(orgId: number, { id, siteId }: SequenceItem, contactIds: number[]) {
  const byId = new Map(
    (await contacts.getByIds(orgId, contactIds, { consistent: true })).map((contact) => [
      contact.id,
      contact,
    ]),
  );
  const errorOf = (contact: ContactItem | undefined): string | undefined => {
    if (!contact) return "The contact does not exist";
    if (contact.siteId !== siteId) return "The contact belongs to another site";
    if (contact.sequences?.has(id)) return undefined;
    const blocking = enrollment.blockingStatus(contact);
    if (blocking) return `The contact is ${blocking}`;
    return enrollment.enterableSequences(contact, [id]).length
      ? undefined
      : `The contact is in ${enrollment.maxSequencesPerContact} sequences already`;
  };
  const failed = contactIds.flatMap((contactId) => {
    const error = errorOf(byId.get(contactId));
    return error === undefined ? [] : [{ contactId, error }];
  });
  return { found: [...byId.values()].filter((contact) => !errorOf(contact)), failed };
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
    return enrollment.finishedToApi(toFinishedItem(item, to));
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
  const range = ranges.enrollments(caller.orgId, sequenceId, enrollment.shardOfId(enrollmentId));
  const [found] = await queryAll<EnrollmentItem>(range, {
    filter: equals("id", enrollmentId),
    consistent: true,
  });
  return found;
}

export type EnrollmentCounts = Record<(typeof enrollment.enrollmentStatuses)[number], number>;

export interface SequenceCounts {
  byStatus: EnrollmentCounts;
  /** By step id. */
  steps: Map<number, { reached: number; left: number }>;
}

export async function getCounts(orgId: number, sequenceId: number): Promise<SequenceCounts> {
  const items = await queryAll<Record<string, unknown>>(ranges.sequenceCounts(orgId, sequenceId), {
    consistent: true,
  });
  const byStatus: EnrollmentCounts = { active: 0, completed: 0, cancelled: 0, failed: 0 };
  const steps: SequenceCounts["steps"] = new Map();
  for (const item of items) {
    const countOf = (name: string) => Number(item[name] ?? 0);
    const [, step] = /^STEP#(\d+)#/.exec(String(item.sk)) ?? [];
    for (const status of enrollment.enrollmentStatuses) byStatus[status] += countOf(status);
    if (step === undefined) continue;
    const { reached, left } = steps.get(Number(step)) ?? { reached: 0, left: 0 };
    steps.set(Number(step), {
      reached: reached + countOf("reached"),
      left: left + countOf("left"),
    });
  }
  return { byStatus, steps };
}

export interface EnrollmentFilter {
  status?: (typeof enrollment.enrollmentStatuses)[number] | undefined;
  /** The step that they are at, or at which they ended early. */
  stepId?: number | undefined;
}

/**
 * Active enrollments first, newest contact first; then ended ones, latest end first. With a step, a
 * page may be short and still have a cursor.
 */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  { sequenceId, ...filter }: EnrollmentFilter & { sequenceId: number },
) {
  const sequence = await findItem(caller, sequenceId);
  const [{ items, next }, counts] = await Promise.all([
    graphStore
      .getGraph(caller.orgId, sequence)
      .then((graph) => readPage(caller.orgId, { sequence, graph, request, filter })),
    getCounts(caller.orgId, sequenceId),
  ]);
  return {
    items: await withEmails(caller.orgId, items),
    pagination: toPagination(request, totalOf(counts, filter), next),
  };
}

async function withEmails(orgId: number, items: Enrollment[]): Promise<ListedEnrollment[]> {
  const found = await contacts.getByIds(
    orgId,
    items.map(({ contactId }) => contactId),
  );
  const emails = new Map(found.map(({ id, sk }) => [id, sk]));
  return items.map((item) => ({ ...item, contactEmail: emails.get(item.contactId) ?? null }));
}

function totalOf(
  { byStatus, steps }: SequenceCounts,
  { status, stepId }: EnrollmentFilter,
): number | null {
  if (stepId !== undefined) {
    const { reached, left } = steps.get(stepId) ?? { reached: 0, left: 0 };
    return status === "active" ? reached - left : null;
  }
  return status === undefined
    ? Object.values(byStatus).reduce((sum, n) => sum + n, 0)
    : byStatus[status];
}

interface EnrollmentPageRequest {
  sequence: SequenceItem;
  graph: StepGraph;
  request: PageRequest;
  filter?: EnrollmentFilter;
}

/** Number of enrollments that one page reads when most of them may be at other steps. */
const maxRead = 10_000;

/** `next` is the cursor position of the next page, if there is one. */
export async function readPage(
  orgId: number,
  { sequence, graph, request, filter = {} }: EnrollmentPageRequest,
) {
  const orders = new Map(graph.steps.map(({ id, stepOrder }) => [id, stepOrder]));
  const sequenceIsActive = sequence.status === "active";
  const toListed = (item: FoundEnrollment["item"]): Enrollment =>
    "finishedAt" in item
      ? enrollment.finishedToApi(item)
      : toApi(item, sequenceIsActive, orders.get(item.stepId ?? 0));
  const skip = countSkipped(request);
  const end = skip + request.limit;
  const found: FoundEnrollment[] = [];
  const cursor = positionOf(request, positionPattern);
  let read = 0;
  for await (const entry of iterateEnrollments(orgId, sequence.id, { ...filter, cursor })) {
    if (isWanted(entry.item, filter)) found.push(entry);
    if (found.length > end) break;
    if (++read >= maxRead && found.length >= skip)
      return { items: found.slice(skip).map(({ item }) => toListed(item)), next: entry.position };
  }
  const page = found.slice(skip, end);
  return {
    items: page.map(({ item }) => toListed(item)),
    next: found.length > end ? page.at(-1)?.position : undefined,
  };
}

const isWanted = (item: FoundEnrollment["item"], { status, stepId }: EnrollmentFilter): boolean => {
  const itemStatus = "finishedAt" in item ? item.status : "active";
  if (status !== undefined && itemStatus !== status) return false;
  return stepId === undefined || (itemStatus !== "completed" && item.stepId === stepId);
};

interface FoundEnrollment {
  item: EnrollmentItem | StoredFinished;
  position: string;
}
type StoredFinished = enrollment.FinishedEnrollmentItem & Key;

/** `A` and the sort key of an active enrollment, or `F` and that of a finished one. */
const positionPattern = new RegExp(
  `^(A${positionParts.id}|F${positionParts.time}#${positionParts.id})$`,
);

async function* iterateEnrollments(
  orgId: number,
  sequenceId: number,
  { status, stepId, cursor }: EnrollmentFilter & { cursor: string | undefined },
): AsyncGenerator<FoundEnrollment> {
  const [part, below] = cursor === undefined ? ["A", undefined] : [cursor[0], cursor.slice(1)];
  const size = stepId === undefined ? 25 : 250;
  if (part === "A" && (status === undefined || status === "active")) {
    const activeRanges = emailShards.map((home) => ranges.enrollments(orgId, sequenceId, home));
    for await (const item of readNewestFirst<EnrollmentItem>(activeRanges, ({ sk }) => sk, {
      below,
      size,
    }))
      yield { item, position: `A${item.sk}` };
  }
  if (status === "active") return;
  const finishedRanges = emailShards.map((home) =>
    ranges.finishedEnrollments(orgId, sequenceId, home),
  );
  for await (const item of readNewestFirst<StoredFinished>(finishedRanges, ({ sk }) => sk, {
    below: part === "F" ? below : undefined,
    size,
  }))
    yield { item, position: `F${item.sk}` };
}
