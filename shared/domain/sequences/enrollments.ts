// Who is in a sequence: into it by hand or webhook, out of it, and who there is.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { all, equals } from "../../conditions.ts";
import { claim, get, queryAll, update, type Write } from "../../doors/table.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { type Address, keys, ranges, shards } from "../../keys.ts";
import { decodeCursor, type PageRequest, pagination, skipped } from "../../paging.ts";
import { chunked, inParallel } from "../../parallel.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { homeOf } from "../contacts/memberships.ts";
import * as contacts from "../contacts.ts";
import { newest } from "../newest.ts";
import type { Enrollment, EnrollmentItem } from "./enrollment.ts";
import * as enrollment from "./enrollment.ts";
import type { Flow } from "./flow.ts";
import * as flows from "./flows.ts";
import { ending, finished } from "./move.ts";
import { make } from "./moves.ts";
import { find, type SequenceItem } from "./record.ts";
import { advanceSoon, type Placed as Begun } from "./waiting.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export const Entered = z.object({
  enrolled: z.int(),
  unchanged: z.int().describe("Active in it already"),
  failed: z
    .array(z.object({ contactId: z.int(), error: z.string() }))
    .describe("Ids that name no contact of the site, and contacts that are not subscribed"),
  enrollments: z.array(enrollment.Enrollment).describe("Those that began"),
});
export type Entered = z.output<typeof Entered>;

export const mostAtOnce = 100;

/** Idempotent: who is active in it stays as it is. 409 when it is archived, 400 when it has no step of that order. */
export async function enroll(who: Who, sequenceId: number, contactIds: number[], startAtStep?: number): Promise<Entered> {
  const sequence = await find(who, sequenceId);
  if (sequence.status === "archived") throw conflict("The sequence is archived", { code: "sequence_archived" });
  await checkStart(who.orgId, sequence, startAtStep);
  return enter(who.orgId, sequence, contactIds, startAtStep);
}

async function checkStart(orgId: number, sequence: SequenceItem, startAtStep: number | undefined): Promise<void> {
  if (startAtStep === undefined) return;
  const { steps } = await flows.of(orgId, sequence);
  if (steps.some(({ stepOrder }) => stepOrder === startAtStep)) return;
  const message = `startAtStep: the sequence has no step of order ${startAtStep}`;
  throw invalid(message, { details: [{ path: "startAtStep", message }] });
}

// Two writes for each, one for the counter and one for the cohort, of the 100 of a transaction.
const mostTogether = 49;
const mostTries = 8;

async function enter(orgId: number, sequence: SequenceItem, contactIds: number[], startAtStep: number | undefined): Promise<Entered> {
  const wanted = [...new Set(contactIds)];
  const begun: Begun<EnrollmentItem>[] = [];
  for (let tries = 1; ; tries++) {
    const { found, failed } = await among(orgId, sequence, wanted);
    const open = found.filter(({ sequences }) => !sequences?.has(sequence.id));
    const first = open.length ? await ids.takeEnrollments(open.length) : 0;
    const items = open.map((contact, i) => enrollment.begun(contact, sequence.id, first + i, startAtStep));
    const made = await inParallel(
      4,
      chunked(
        open.map((contact, i) => ({ contact, item: items[i]! })),
        mostTogether,
      ),
      async (some) => {
        const { placed, writes } = enrollment.beginning(some.map(({ item }) => item));
        return (await claim(...some.map(({ contact }) => entering(contact, sequence.id)), ...writes)) ? placed : [];
      },
    );
    begun.push(...made.flat());
    if (made.flat().length === open.length) {
      await advanceSoon(begun);
      const enrollments = begun.map(({ item }) => enrollment.told(item, sequence.status === "active", undefined));
      return { enrolled: begun.length, unchanged: found.length - begun.length, failed, enrollments };
    }
    if (tries >= mostTries) throw conflict("The contacts are being changed by too many requests at once");
  }
}

function entering(contact: ContactItem, sequenceId: number): Write {
  const { add, conditions } = enrollment.entering([sequenceId]);
  return update(contact, { add: { ...add, v: 1 } }, { if: all(equals("id", contact.id), ...conditions) });
}

async function among(orgId: number, { id, siteId }: SequenceItem, wanted: number[]) {
  const known = new Map((await contacts.byIds(orgId, wanted, { consistent: true })).map((contact) => [contact.id, contact]));
  const errorOf = (contact: ContactItem | undefined): string | undefined => {
    if (!contact) return "There is no such contact";
    if (contact.siteId !== siteId) return "The contact belongs to another site";
    if (contact.sequences?.has(id)) return undefined;
    const obstacle = enrollment.obstacle(contact);
    if (obstacle) return `The contact is ${obstacle}`;
    return enrollment.open(contact, [id]).length ? undefined : `The contact is in ${enrollment.mostSequences} sequences already`;
  };
  const failed = wanted.flatMap((contactId) => {
    const error = errorOf(known.get(contactId));
    return error === undefined ? [] : [{ contactId, error }];
  });
  return { found: [...known.values()].filter((contact) => !errorOf(contact)), failed };
}

interface Which {
  contactId?: number | undefined;
  enrollmentId?: number | undefined;
}

/** Out of it, at whatever step. 404 when it is not active in it. */
export async function cancel(who: Who, sequenceId: number, which: Which): Promise<Enrollment> {
  await find(who, sequenceId);
  for (let tries = 1; ; tries++) {
    const item = await activeOf(who, sequenceId, which);
    if (!item) throw missing("There is no such active enrollment");
    const [contact] = await contacts.byIds(who.orgId, [item.contactId], { consistent: true });
    const to = { status: "cancelled" as const, reason: "cancelled", contact, at: now().toISOString() };
    const [made] = await make([ending(item, to)]);
    if (made) return enrollment.toldFinished(finished(item, to));
    // It has just gone on by itself.
    if (tries >= mostTries) throw conflict("The enrollment is being changed by too many requests at once");
  }
}

async function activeOf(who: Who, sequenceId: number, { contactId, enrollmentId = 0 }: Which): Promise<EnrollmentItem | undefined> {
  if (contactId !== undefined) {
    const contact = await contacts.item(who, contactId);
    return get<EnrollmentItem>(keys.enrollment(who.orgId, sequenceId, homeOf(contact), contactId));
  }
  const range = ranges.enrollments(who.orgId, sequenceId, enrollment.homeOfId(enrollmentId));
  const [found] = await queryAll<EnrollmentItem>(range, { filter: equals("id", enrollmentId), consistent: true });
  return found;
}

export type Counts = Record<(typeof enrollment.enrollmentStatuses)[number], number>;

export interface Counted {
  all: Counts;
  /** By step. */
  steps: Map<number, { reached: number; left: number }>;
}

/** How many there are, and how many came to each step and left it. */
export async function counts(orgId: number, sequenceId: number): Promise<Counted> {
  const items = await queryAll<Record<string, unknown>>(ranges.sequenceCounts(orgId, sequenceId), { consistent: true });
  const all: Counts = { active: 0, completed: 0, cancelled: 0, failed: 0 };
  const steps: Counted["steps"] = new Map();
  for (const item of items) {
    const of = (name: string) => Number(item[name] ?? 0);
    const [, step] = /^STEP#(\d+)#/.exec(String(item.sk)) ?? [];
    for (const status of enrollment.enrollmentStatuses) all[status] += of(status);
    if (step === undefined) continue;
    const { reached, left } = steps.get(Number(step)) ?? { reached: 0, left: 0 };
    steps.set(Number(step), { reached: reached + of("reached"), left: left + of("left") });
  }
  return { all, steps };
}

export interface Filter {
  status?: (typeof enrollment.enrollmentStatuses)[number] | undefined;
}

/** Those that are active first, the newest contact first; then those that are over, the latest first. */
export async function list(who: Who, sequenceId: number, request: PageRequest, filter: Filter) {
  const sequence = await find(who, sequenceId);
  const [{ items, next }, { all }] = await Promise.all([
    flows.of(who.orgId, sequence).then((flow) => page(who.orgId, sequence, flow, request, filter)),
    counts(who.orgId, sequenceId),
  ]);
  const total = filter.status === undefined ? Object.values(all).reduce((sum, n) => sum + n, 0) : all[filter.status];
  return { items, pagination: pagination(request, total, next) };
}

/** `next` is where to go on, where there is more. */
export async function page(orgId: number, sequence: SequenceItem, { steps }: Flow, request: PageRequest, { status }: Filter = {}) {
  const orders = new Map(steps.map(({ id, stepOrder }) => [id, stepOrder]));
  const skip = skipped(request);
  const found: { told: Enrollment; place: string }[] = [];
  const active = sequence.status === "active";
  const enough = skip + request.limit;
  for await (const { item, place } of walk(orgId, sequence.id, status, decodeCursor(request.cursor))) {
    if ("finishedAt" in item ? status === undefined || item.status === status : true)
      found.push({
        told: "finishedAt" in item ? enrollment.toldFinished(item) : enrollment.told(item, active, orders.get(item.stepId ?? 0)),
        place,
      });
    if (found.length > enough) break;
  }
  const some = found.slice(skip, enough);
  return { items: some.map(({ told }) => told), next: found.length > enough ? some.at(-1)?.place : undefined };
}

interface Placed {
  item: EnrollmentItem | Stored;
  place: string;
}
type Stored = enrollment.FinishedItem & Address;

/** A cursor is `A` and the contact, or `F` and the place, of the last one. */
async function* walk(orgId: number, sequenceId: number, status: Filter["status"], cursor: string | undefined): AsyncGenerator<Placed> {
  const [part, below] = cursor === undefined ? ["A", undefined] : [cursor[0], cursor.slice(1)];
  if (part !== "A" && part !== "F")
    throw invalid("cursor is not one that this list gave", { details: [{ path: "cursor", message: "unknown cursor" }] });
  const size = 25;
  if (part === "A" && (status === undefined || status === "active")) {
    const inside = shards.map((home) => ranges.enrollments(orgId, sequenceId, home));
    for await (const item of newest<EnrollmentItem>(inside, ({ sk }) => sk, { below, size })) yield { item, place: `A${item.sk}` };
  }
  if (status === "active") return;
  const over = shards.map((home) => ranges.finishedEnrollments(orgId, sequenceId, home));
  for await (const item of newest<Stored>(over, ({ sk }) => sk, { below: part === "F" ? below : undefined, size }))
    yield { item, place: `F${item.sk}` };
}
