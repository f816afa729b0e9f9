// Reports about sequences: how many came how far, and who does not go on.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { after, now } from "../../clock.ts";
import { atMost, type Condition, equals } from "../../conditions.ts";
import { type Page, query, queryAll } from "../../doors/table.ts";
import { type Address, countShards, ranges, shards, sortable } from "../../keys.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../../paging.ts";
import { chunked, inParallel } from "../../parallel.ts";
import { rate } from "../insight/figures.ts";
import { type Sum, summed } from "../insight/sums.ts";
import { newest } from "../newest.ts";
import * as records from "../records.ts";
import type { EnrollmentItem } from "../sequences/enrollment.ts";
import { type SequenceItem, statuses } from "../sequences/record.ts";
import * as sites from "../sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const n = z.int();
export const SequenceFunnel = z
  .object({
    sequenceId: n,
    name: z.string(),
    status: z.enum(statuses),
    active: n,
    completed: n,
    cancelled: n,
    failed: n,
    total: n,
    completionRate: z.number().describe("completed / (completed + cancelled + failed), 0 to 1"),
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
export async function funnel(who: Who, given: number | undefined, request: PageRequest) {
  const siteId = await sites.resolve(who, given);
  const { items, pagination } = await records.list<SequenceItem>("SEQUENCE", who, request, equals("siteId", siteId));
  return { sequences: await inParallel(20, items, (one) => funnelOf(who.orgId, one)), pagination };
}

/** All of a site's; a site has not so many sequences that they would not fit into one answer. */
export async function wholeFunnel(who: Who, given: number | undefined): Promise<SequenceFunnel[]> {
  const siteId = await sites.resolve(who, given);
  return inParallel(20, (await ofSite(who.orgId, siteId)).toReversed(), (one) => funnelOf(who.orgId, one));
}

async function funnelOf(orgId: number, { id, name, status }: SequenceItem): Promise<SequenceFunnel> {
  const sum = await countsOf(orgId, id);
  const { active = 0, completed = 0, cancelled = 0, failed = 0 } = sum;
  const over = completed + cancelled + failed;
  return {
    sequenceId: id,
    name,
    status,
    active,
    completed,
    cancelled,
    failed,
    total: active + over,
    completionRate: rate(completed, over),
  };
}

/** The counters of the whole stand before those of its steps. */
async function countsOf(orgId: number, sequenceId: number): Promise<Sum> {
  const { items } = await query<Address & Record<string, unknown>>(ranges.sequenceCounts(orgId, sequenceId), { limit: countShards.length });
  return summed(items.filter(({ sk }) => /^\d+$/.test(sk)));
}

const ofSite = (orgId: number, siteId: number): Promise<SequenceItem[]> =>
  queryAll<SequenceItem>(ranges.records(orgId, "SEQUENCE"), { filter: equals("siteId", siteId) });

/** Without progress for so long, and an enrollment is stalled. */
const stalledSeconds = 24 * 3600;

export const StalledEnrollment = z
  .object({
    enrollmentId: n,
    sequenceId: n,
    sequenceName: z.string(),
    contactId: n,
    email: z.string(),
    currentStepId: n.nullable().describe("null before its first step"),
    currentStepOrder: n,
    lastProgressAt: z.string(),
    stalledHours: n.describe("Whole hours since then"),
    nextRunAt: z.string().nullable().describe("null while its sequence is not active"),
    why: z
      .enum(["waiting", "sequence_not_active", "overdue"])
      .describe("waiting: at a delay or send window that is not over yet; overdue: it should have gone on by now"),
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

const stalled = (): Condition => atMost("lastProgressAt", after(-stalledSeconds).toISOString());

/** The newest sequence first, and in it the newest contact. A cursor is `<sequence>#<contact>` of the last one. */
export async function listStalled(who: Who, given: number | undefined, request: PageRequest) {
  const { orgId } = who;
  const siteId = await sites.resolve(who, given);
  const skip = skipped(request);
  const cursor = decodeCursor(request.cursor, (place) => /^\d{16}#\d{16}$/.test(place));
  const found: Stalled[] = [];
  for await (const one of walk(orgId, siteId, cursor, request.limit)) {
    found.push(one);
    if (found.length > skip + request.limit) break;
  }
  const page = found.slice(skip, skip + request.limit);
  const last = page.at(-1);
  const more = found.length > skip + request.limit && last;
  return {
    enrollments: page.map(tellStalled),
    pagination: pagination(request, null, more ? `${sortable(last.item.sequenceId)}#${last.item.sk}` : undefined),
  };
}

export interface Stalled {
  item: EnrollmentItem;
  sequence: SequenceItem;
}

/** As the list has them. */
export const newestFirst = (a: Stalled, b: Stalled): number => b.sequence.id - a.sequence.id || (a.item.sk < b.item.sk ? 1 : -1);

async function* walk(orgId: number, siteId: number, cursor: string | undefined, size: number): AsyncGenerator<Stalled> {
  const [from, below] = cursor?.split("#") ?? [];
  const sequences = (await ofSite(orgId, siteId)).toReversed();
  for await (const sequence of peopled(
    orgId,
    sequences.filter(({ id }) => from === undefined || sortable(id) <= from),
  )) {
    const id = sortable(sequence.id);
    const inside = shards.map((home) => ranges.enrollments(orgId, sequence.id, home));
    const start = { below: id === from ? below : undefined, size: Math.ceil(size / 4), filter: stalled() };
    for await (const item of newest<EnrollmentItem>(inside, ({ sk }) => sk, start)) yield { item, sequence };
  }
}

/** Those with somebody in them; no more are asked than are needed. */
async function* peopled(orgId: number, sequences: SequenceItem[]): AsyncGenerator<SequenceItem> {
  for (const some of chunked(sequences, 20)) {
    const active = await Promise.all(some.map(async ({ id }) => (await countsOf(orgId, id)).active ?? 0));
    yield* some.filter((_, i) => active[i]! > 0);
  }
}

/** One collection of all sequences, page by page: for exports. Where to go on is `<sequence>#<contact>` too. */
export async function* pagesOf(orgId: number, siteId: number, home: string, from: string | undefined): AsyncGenerator<Page<Stalled>> {
  const [first, start] = from?.split("#") ?? [];
  const sequences = (await ofSite(orgId, siteId)).filter(({ id }) => first === undefined || sortable(id) >= first);
  // Whoever writes a file hears of every collection.
  if (!sequences.length) yield { items: [] };
  for (const [i, sequence] of sequences.entries()) {
    let place = sortable(sequence.id) === first ? start || undefined : undefined;
    do {
      const page: Page<EnrollmentItem> = await query(ranges.enrollments(orgId, sequence.id, home), {
        limit: 5000,
        after: place,
        filter: stalled(),
      });
      place = page.next;
      const following = sequences[i + 1];
      const next = place !== undefined ? `${sortable(sequence.id)}#${place}` : following && `${sortable(following.id)}#`;
      yield { items: page.items.map((item) => ({ item, sequence })), ...(next !== undefined && { next }) };
    } while (place !== undefined);
  }
}

export const tellStalled = ({ item, sequence }: Stalled): StalledEnrollment => {
  const runs = sequence.status === "active" && !item.held;
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
    nextRunAt: runs ? item.at : null,
    why: !runs ? "sequence_not_active" : item.at > now().toISOString() ? "waiting" : "overdue",
  };
};
