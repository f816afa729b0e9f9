// People in sequences, on queues and a clock of a test's own; and the books that must balance whatever happened.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect } from "vitest";
import { worker as advance } from "../../functions/queue/advance.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as sources from "../../shared/domain/sending/sources.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sequencesDue from "../../shared/domain/sequences/due.ts";
import type { EnrollmentItem, FinishedItem } from "../../shared/domain/sequences/enrollment.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import { NewSequence, type SequenceChanges } from "../../shared/domain/sequences/record.ts";
import { NewSteps, type Step } from "../../shared/domain/sequences/step.ts";
import * as steps from "../../shared/domain/sequences/steps.ts";
import { type Cohort, membersOf } from "../../shared/domain/sequences/waiting.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import * as templates from "../../shared/domain/templates.ts";
import { getMany, queryAll } from "../../shared/doors/table.ts";
import { keys, ranges, shards } from "../../shared/keys.ts";
import { inParallel } from "../../shared/parallel.ts";
import { create, stored } from "./audience.ts";
import * as mailroom from "./mailroom.ts";
import * as queues from "./virtual-queues.ts";

export const { opened } = queues;

export interface Shop extends mailroom.Sender {
  orgId: number;
}

/** An organization with a verified sending config at a provider of its own. */
export async function shop(key: Parameters<typeof mailroom.sender>[0] = "postmark"): Promise<Shop> {
  const sender = await mailroom.sender(key);
  await sendingConfigs.noteVerified(sender.caller, await sendingConfigs.find(sender.caller, sender.configId), true);
  return { ...sender, orgId: sender.caller.orgId };
}

export const template = async ({ caller, siteId }: Shop, subject: string): Promise<number> =>
  (await templates.create(caller, templates.NewTemplate.parse({ siteId, name: subject, subject, html: `<p>${subject}</p>` }))).id;

type GivenStep = Record<string, unknown> & { type: string };

/** Active, unless `fields` say otherwise; a step `email: "Subject"` makes its own template. */
export async function sequence(one: Shop, given: (GivenStep | string | number)[], fields: SequenceChanges = {}) {
  const made = await sequences.create(one.caller, NewSequence.parse({ siteId: one.siteId, name: "Way", ...fields, status: "draft" }));
  const whole = await inParallel(1, given, async (step) => {
    if (typeof step === "number") return { type: "delay", delayMinutes: step };
    return typeof step === "string" ? { type: "email", templateId: await template(one, step) } : step;
  });
  const added = whole.length ? await steps.add(one.caller, made.id, NewSteps.parse({ steps: whole })) : [];
  const status = fields.status ?? "active";
  if (status !== "draft") await sequences.change(one.caller, made.id, { status });
  return { id: made.id, steps: added };
}

export async function people(one: Shop, n: number): Promise<number[]> {
  const word = crypto.randomUUID().slice(0, 8);
  const made = await inParallel(8, Array.from({ length: n }), (_, i) => create(one, `${word}-${i}@example.com`));
  return made.map(({ id }) => id);
}

const workers = [advance, drain, lane];

let tickedAt = 0;

/** A minute after the last one, as in life: what a dead worker holds is not asked for again and again. */
async function tick(): Promise<void> {
  const minuteMs = 60_000;
  clock.advance(Math.max(0, tickedAt + minuteMs - clock.now().getTime()) / 1000);
  tickedAt = clock.now().getTime();
  await Promise.all([due.drainAll(), sequencesDue.wakeAll()]);
}

/** Works until nothing is left to do for the time, moving the clock to whatever comes next. */
export const pass = (forSeconds = 0, kill?: (work: () => Promise<unknown>) => Promise<unknown>): Promise<void> =>
  queues.settle(workers, { forSeconds, tick, ...(kill && { kill }) });

export const minutes = (n: number): number => n * 60;
export const days = (n: number): number => n * 24 * 3600;

/** Subjects of the mails a contact got, in order. */
export async function mailsTo({ caller, provider }: Shop, contactId: number): Promise<string[]> {
  const { email } = await contacts.find(caller, contactId);
  return provider.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
}

export interface Books {
  active: EnrollmentItem[];
  finished: FinishedItem[];
  counts: enrollments.Counts;
}

/** Whoever is inside says so himself, the counters say it too, and so do those of each step; nobody got a mail twice. */
export async function books(one: Shop, sequenceId: number, all: Step[]): Promise<Books> {
  const of = async <T>(range: typeof ranges.enrollments) =>
    (await Promise.all(shards.map((home) => queryAll<T>(range(one.orgId, sequenceId, home), { consistent: true })))).flat();
  const [active, finished] = [await of<EnrollmentItem>(ranges.enrollments), await of<FinishedItem>(ranges.finishedEnrollments)];
  const inside = (await stored(one)).filter((contact) => (contact as { sequences?: Set<number> }).sequences?.has(sequenceId));
  expect(active.map(({ contactId }) => contactId).toSorted()).toEqual(inside.map(({ id }) => id).toSorted());
  await findable(one, sequenceId, active);
  const { all: counts, steps: passed } = await enrollments.counts(one.orgId, sequenceId);
  const ended = (status: string) => finished.filter((item) => item.status === status).length;
  expect(counts).toEqual({
    active: active.length,
    completed: ended("completed"),
    cancelled: ended("cancelled"),
    failed: ended("failed"),
  });
  for (const { id } of all) {
    const { reached, left } = passed.get(id) ?? { reached: 0, left: 0 };
    expect([id, reached - left]).toEqual([id, active.filter(({ stepId }) => stepId === id).length]);
  }
  const mailed = one.provider.mails.map(({ to, subject }) => `${to} ${subject}`);
  expect(mailed.length).toBe(new Set(mailed).size);
  const { all: mails } = await sources.numbers(one.orgId, { kind: "sequence", id: sequenceId });
  const { candidates, accepted, suppressed, unsubscribed, capped, duplicate, invalid } = mails;
  expect(accepted + suppressed + unsubscribed + capped + duplicate + invalid).toBe(candidates);
  return { active, finished, counts };
}

/** Whoever goes on some time is found when that time comes: on the due index, or by a cohort that stands there. */
async function findable({ orgId }: Shop, sequenceId: number, active: EnrollmentItem[]): Promise<void> {
  const cohorts = await cohortsOf(orgId, sequenceId);
  const placesOf = ({ pk, sk, ...item }: EnrollmentItem & { duesk?: string }) => {
    const named = cohorts.filter((cohort) => membersOf(cohort).some((member) => member.pk === pk && member.sk === sk));
    return [item.duesk ?? [], named.filter(({ at }) => at >= item.at).map(({ duesk }) => duesk)].flat();
  };
  const minuteMs = 60_000;
  for (const item of active.filter(({ held }) => !held))
    expect(placesOf(item).some((place) => Math.abs(Date.parse(place.slice(0, 24)) - Date.parse(item.at)) <= minuteMs)).toBe(true);
}

/** Those on the due index. */
export async function cohortsOf(orgId: number, sequenceId: number): Promise<(Cohort & { duesk: string })[]> {
  const { pk } = keys.cohort(orgId, sequenceId, "");
  const { Items = [] } = await new DynamoDBClient({}).send(
    new ScanCommand({
      TableName: process.env.TABLE_NAME,
      IndexName: "due",
      FilterExpression: "begins_with(pk, :pk)",
      ExpressionAttributeValues: { ":pk": { S: pk } },
    }),
  );
  const found = await getMany<Cohort & { duesk: string }>(
    Items.map((item) => ({ pk: item.pk!.S!, sk: item.sk!.S! })),
    { consistent: true },
  );
  return found.flatMap((cohort) => cohort ?? []);
}
