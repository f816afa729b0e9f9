// Counts the enrollments of a sequence and lists them in pages.
import { queryAll } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { readNewestFirst } from "../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { emailShards, type Key, ranges } from "../../keys.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import * as enrollmentSchema from "./enrollment-schema.ts";
import {
  type Enrollment,
  type EnrollmentItem,
  type ListedEnrollment,
  toApi,
} from "./enrollment-schema.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import { maxBranches } from "./step-configs.ts";
import type { StepGraph } from "./step-graph.ts";
import * as stepGraphStore from "./step-graph-store.ts";

export type EnrollmentCounts = Record<(typeof enrollmentSchema.enrollmentStatuses)[number], number>;

export interface SequenceCounts {
  byStatus: EnrollmentCounts;
  conversions: Conversions;
  /** By step id. */
  steps: Map<number, StepCounts>;
}

interface Conversions {
  converted: number;
  value: number;
}

interface StepCounts extends Conversions {
  reached: number;
  left: number;
  /** How many its action was done for. */
  acted: number;
  /** Notices and requests that could not be delivered. */
  undelivered: number;
  /** How many went each way of a split, and how many of these converted. */
  ways: (Conversions & { reached: number })[];
}
export const noStepCounts: StepCounts = {
  reached: 0,
  left: 0,
  acted: 0,
  undelivered: 0,
  converted: 0,
  value: 0,
  ways: Array.from({ length: maxBranches }, () => ({ reached: 0, converted: 0, value: 0 })),
};

export async function getCounts(orgId: number, sequenceId: number): Promise<SequenceCounts> {
  const items = await queryAll<Record<string, unknown>>(ranges.sequenceCounts(orgId, sequenceId), {
    consistent: true,
  });
  const byStatus: EnrollmentCounts = { active: 0, completed: 0, cancelled: 0, failed: 0 };
  const conversions: Conversions = { converted: 0, value: 0 };
  const steps: SequenceCounts["steps"] = new Map();
  for (const item of items) {
    const countOf = (name: string) => Number(item[name] ?? 0);
    const [, step] = /^STEP#(\d+)#/.exec(String(item.sk)) ?? [];
    for (const status of enrollmentSchema.enrollmentStatuses) byStatus[status] += countOf(status);
    if (step === undefined) {
      conversions.converted += countOf("converted");
      conversions.value += countOf("value");
      continue;
    }
    const counts = steps.get(Number(step)) ?? noStepCounts;
    const { reached, left, acted, undelivered, converted, value, ways } = counts;
    steps.set(Number(step), {
      reached: reached + countOf("reached"),
      left: left + countOf("left"),
      acted: acted + countOf("acted"),
      undelivered: undelivered + countOf("undelivered"),
      converted: converted + countOf("converted"),
      value: value + countOf("value"),
      ways: ways.map((counts, way) => ({
        reached: counts.reached + countOf(`way${way}`),
        converted: counts.converted + countOf(`converted${way}`),
        value: counts.value + countOf(`value${way}`),
      })),
    });
  }
  return { byStatus, conversions, steps };
}

export interface EnrollmentFilter {
  status?: (typeof enrollmentSchema.enrollmentStatuses)[number] | undefined;
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
    stepGraphStore
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
    const { reached, left } = steps.get(stepId) ?? noStepCounts;
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
      ? enrollmentSchema.finishedToApi(item)
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
type StoredFinished = enrollmentSchema.FinishedEnrollmentItem & Key;

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
