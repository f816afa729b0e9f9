// Reports about sequences: funnels and stalled enrollments.
import * as z from "zod";
import { atMost, type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import { type QueryPage, query, queryAll, queryPages } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { readNewestFirst } from "../../kernel/newest-first.ts";
import { countSkipped, type PageRequest, positionOf, toPagination } from "../../kernel/paging.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import { rate } from "../../kernel/rates.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { addUp, type CounterTotals } from "../../kernel/sharded-counters.ts";
import { counterShards, emailShards, type Key, ranges, zeroPad } from "../../keys.ts";
import type { EnrollmentItem } from "../automation/enrollment-schema.ts";
import { type SequenceItem, sequenceStatuses } from "../automation/sequence-schema.ts";
import * as sites from "../identity/sites.ts";

export const SequenceFunnel = z
  .object({
    sequenceId: RecordId.describe("Id of the sequence, for GET /sequences/:id."),
    name: z.string().describe("Name of the sequence."),
    status: z.enum(sequenceStatuses).describe("Status of the sequence, as in GET /sequences/:id."),
    active: Count.describe("Enrollments that are active now."),
    completed: Count.describe("Enrollments that reached the end."),
    cancelled: Count.describe("Enrollments that left the sequence."),
    failed: Count.describe("Enrollments that could not continue."),
    total: Count.describe("active + completed + cancelled + failed."),
    completionRate: z
      .number()
      .describe("completed / (completed + cancelled + failed), from 0 to 1."),
  })
  .meta({ id: "SequenceFunnel" });
export type SequenceFunnel = z.output<typeof SequenceFunnel>;
export const funnelColumns = [
  "sequenceId",
  "name",
  "status",
  "active",
  "completed",
  "cancelled",
  "failed",
  "total",
  "completionRate",
] as const satisfies (keyof SequenceFunnel)[];

/** Newest first. */
export async function listFunnels(
  caller: CallerScope,
  requestedSiteId: number | undefined,
  request: PageRequest,
) {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const { items, pagination } = await records.list<SequenceItem>("SEQUENCE", caller, {
    ...request,
    siteIds: [siteId],
  });
  return {
    sequences: await inParallel(20, items, (sequence) => buildFunnel(caller.orgId, sequence)),
    pagination,
  };
}

/** The funnels of all sequences of a site. They fit into one response. */
export async function listAllFunnels(
  caller: CallerScope,
  requestedSiteId: number | undefined,
): Promise<SequenceFunnel[]> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const sequences = (await listSequencesOfSite(caller.orgId, siteId)).toReversed();
  return inParallel(20, sequences, (sequence) => buildFunnel(caller.orgId, sequence));
}

async function buildFunnel(
  orgId: number,
  { id, name, status }: SequenceItem,
): Promise<SequenceFunnel> {
  const sum = await getCounts(orgId, id);
  const { active = 0, completed = 0, cancelled = 0, failed = 0 } = sum;
  const ended = completed + cancelled + failed;
  return {
    sequenceId: id,
    name,
    status,
    active,
    completed,
    cancelled,
    failed,
    total: active + ended,
    completionRate: rate(completed, ended),
  };
}

/**
 * The first items of the range have the counters of the whole sequence; those of its steps follow.
 */
async function getCounts(orgId: number, sequenceId: number): Promise<CounterTotals> {
  const { items } = await query<Key & Record<string, unknown>>(
    ranges.sequenceCounts(orgId, sequenceId),
    { limit: counterShards.length },
  );
  return addUp(items.filter(({ sk }) => /^\d+$/.test(sk)));
}

const listSequencesOfSite = (orgId: number, siteId: number): Promise<SequenceItem[]> =>
  queryAll<SequenceItem>(ranges.records(orgId, "SEQUENCE"), { filter: equals("siteId", siteId) });

/** An enrollment without progress for this long is stalled. */
const stalledSeconds = 24 * 3600;

export const StalledEnrollment = z
  .object({
    enrollmentId: RecordId.describe(
      "Id of the enrollment, for `enrollmentId` of DELETE /sequences/:id/enrollments.",
    ),
    sequenceId: RecordId.describe("Sequence of the enrollment."),
    sequenceName: z.string().describe("Name of the sequence."),
    contactId: RecordId.describe("Contact that is enrolled."),
    email: z.string().describe("Email address of the contact."),
    currentStepId: RecordId.nullable().describe(
      "Step that the contact is at. `null` before the first step.",
    ),
    currentStepOrder: Count.describe(
      "Order of the step that the contact is at. 0 before the first step.",
    ),
    lastProgressAt: Timestamp.describe("When the contact last reached another step."),
    stalledHours: Count.describe("Whole hours since `lastProgressAt`."),
    nextRunAt: Timestamp.nullable().describe(
      "When the enrollment continues. `null` while the sequence is not active.",
    ),
    why: z
      .enum(["waiting", "sequence_not_active", "overdue"])
      .describe(
        "`waiting`: at a delay or outside the send window. `sequence_not_active`: the " +
          "sequence is not active. `overdue`: it should have continued by now.",
      ),
  })
  .meta({ id: "StalledEnrollment" });
export type StalledEnrollment = z.output<typeof StalledEnrollment>;
export const stalledColumns = [
  "enrollmentId",
  "sequenceId",
  "sequenceName",
  "contactId",
  "email",
  "currentStepId",
  "currentStepOrder",
  "lastProgressAt",
  "stalledHours",
  "nextRunAt",
  "why",
] as const satisfies (keyof StalledEnrollment)[];

const isStalled = (): Condition =>
  atMost("lastProgressAt", addSeconds(-stalledSeconds).toISOString());

/**
 * The newest sequence first, and in it the newest contact. The cursor is `<sequence>#<contact>` of
 * the last entry.
 */
export async function listStalled(
  caller: CallerScope,
  requestedSiteId: number | undefined,
  request: PageRequest,
) {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const skip = countSkipped(request);
  const cursor = positionOf(request, /^\d{16}#\d{16}$/);
  const found: StalledItem[] = [];
  for await (const enrollment of readStalled({ orgId, siteId }, cursor, request.limit)) {
    found.push(enrollment);
    if (found.length > skip + request.limit) break;
  }
  const page = found.slice(skip, skip + request.limit);
  const last = page.at(-1);
  const more = found.length > skip + request.limit && last;
  return {
    enrollments: page.map(toStalledEnrollment),
    pagination: toPagination(
      request,
      null,
      more ? `${zeroPad(last.item.sequenceId)}#${last.item.sk}` : undefined,
    ),
  };
}

export interface StalledItem {
  item: EnrollmentItem;
  sequence: SequenceItem;
}

export const compareNewestFirst = (a: StalledItem, b: StalledItem): number =>
  b.sequence.id - a.sequence.id || (a.item.sk < b.item.sk ? 1 : -1);

async function* readStalled(
  { orgId, siteId }: { orgId: number; siteId: number },
  cursor: string | undefined,
  size: number,
): AsyncGenerator<StalledItem> {
  const [from, below] = cursor?.split("#") ?? [];
  const sequences = (await listSequencesOfSite(orgId, siteId)).toReversed();
  for await (const sequence of withActiveEnrollments(
    orgId,
    sequences.filter(({ id }) => from === undefined || zeroPad(id) <= from),
  )) {
    const id = zeroPad(sequence.id);
    const shardRanges = emailShards.map((shard) => ranges.enrollments(orgId, sequence.id, shard));
    const start = {
      below: id === from ? below : undefined,
      size: Math.ceil(size / 4),
      filter: isStalled(),
    };
    for await (const item of readNewestFirst<EnrollmentItem>(shardRanges, ({ sk }) => sk, start))
      yield { item, sequence };
  }
}

/**
 * Skips sequences without active enrollments. Reads counters of 20 sequences at a time, as far as
 * the caller reads.
 */
async function* withActiveEnrollments(
  orgId: number,
  sequences: SequenceItem[],
): AsyncGenerator<SequenceItem> {
  for (const batch of splitIntoBatches(sequences, 20)) {
    const active = await Promise.all(
      batch.map(async ({ id }) => (await getCounts(orgId, id)).active ?? 0),
    );
    yield* batch.filter((_, i) => active[i]! > 0);
  }
}

/**
 * The pages of one shard over all sequences, for exports. A position is `<sequence>#<contact>` too.
 */
export async function* readStalledPages(
  { orgId, siteId }: { orgId: number; siteId: number },
  shard: string,
  from: string | undefined,
): AsyncGenerator<QueryPage<StalledItem>> {
  const [first, start] = from?.split("#") ?? [];
  const sequences = (await listSequencesOfSite(orgId, siteId)).filter(
    ({ id }) => first === undefined || zeroPad(id) >= first,
  );
  // Yields one empty page, so that the export writer moves on to the next shard.
  if (!sequences.length) yield { items: [] };
  for (const [i, sequence] of sequences.entries()) {
    const after = zeroPad(sequence.id) === first ? start || undefined : undefined;
    const following = sequences[i + 1];
    const range = ranges.enrollments(orgId, sequence.id, shard);
    const options = { limit: 5000, after, filter: isStalled() };
    for await (const page of queryPages<EnrollmentItem>(range, options)) {
      const next =
        page.next !== undefined
          ? `${zeroPad(sequence.id)}#${page.next}`
          : following && `${zeroPad(following.id)}#`;
      yield {
        items: page.items.map((item) => ({ item, sequence })),
        ...(next !== undefined && { next }),
      };
    }
  }
}

export const toStalledEnrollment = ({ item, sequence }: StalledItem): StalledEnrollment => {
  const isRunning = sequence.status === "active" && !item.held;
  return {
    enrollmentId: item.id,
    sequenceId: sequence.id,
    sequenceName: sequence.name,
    contactId: item.contactId,
    email: item.email,
    currentStepId: item.stepId ?? null,
    currentStepOrder: item.order,
    lastProgressAt: item.lastProgressAt,
    stalledHours: Math.floor((now().getTime() - Date.parse(item.lastProgressAt)) / 3_600_000),
    nextRunAt: isRunning ? item.at : null,
    why: isRunning ? runningReason(item) : "sequence_not_active",
  };
};

const runningReason = ({ at }: EnrollmentItem): StalledEnrollment["why"] =>
  at > now().toISOString() ? "waiting" : "overdue";
