// Sequences on virtual queues and a clock that the test moves, and a check that all counts agree.
import { expect } from "vitest";
import { worker as advance } from "../../functions/queue/advance.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import type {
  EnrollmentItem,
  FinishedEnrollmentItem,
} from "../../shared/domain/automation/enrollment-schema.ts";
import {
  NewSequence,
  type SequenceChanges,
} from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest, type SequenceStep } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { emailShards, ranges } from "../../shared/keys.ts";
import { createContact, readAllContacts } from "./contacts.ts";
import { type DueEntry, enqueueDueEnrollments, enqueueDueWork } from "./due-index.ts";
import * as mailTest from "./sending.ts";
import * as queues from "./virtual-queues.ts";

export const { useVirtualQueues } = queues;

export interface SequenceSender extends mailTest.TestSender {
  orgId: number;
}

/** Creates an organization with a verified sending config at its own fake provider. */
export async function createSequenceSender(
  key: Parameters<typeof mailTest.createSender>[0] = "postmark",
): Promise<SequenceSender> {
  const sender = await mailTest.createSender(key);
  await sendingConfigs.setVerified(
    sender.caller,
    await sendingConfigs.find(sender.caller, sender.configId),
    true,
  );
  return { ...sender, orgId: sender.caller.orgId };
}

export const createTemplate = async (
  { caller, siteId }: SequenceSender,
  subject: string,
): Promise<number> =>
  (
    await templates.create(
      caller,
      NewTemplate.parse({ siteId, name: subject, subject, html: `<p>${subject}</p>` }),
    )
  ).id;

type StepInput = Record<string, unknown> & { type: string };

/** Creates an active sequence. A number is a delay in minutes, and a text the subject of a mail. */
export async function createSequence(
  sender: SequenceSender,
  given: (StepInput | string | number)[],
  fields: SequenceChanges = {},
) {
  const made = await sequences.create(
    sender.caller,
    NewSequence.parse({ siteId: sender.siteId, name: "Way", ...fields, status: "draft" }),
  );
  const stepInputs = await inParallel(1, given, async (step) => {
    if (typeof step === "number") return { type: "delay", delayMinutes: step };
    return typeof step === "string"
      ? { type: "email", templateId: await createTemplate(sender, step) }
      : step;
  });
  const added = stepInputs.length
    ? await steps.add(sender.caller, made.id, AddStepsRequest.parse({ steps: stepInputs }))
    : [];
  const status = fields.status ?? "active";
  if (status !== "draft") await sequences.change(sender.caller, made.id, { status });
  return { id: made.id, steps: added };
}

export async function createContacts(sender: SequenceSender, n: number): Promise<number[]> {
  const prefix = crypto.randomUUID().slice(0, 8);
  const made = await inParallel(8, Array.from({ length: n }), (_, i) =>
    createContact(sender, `${prefix}-${i}@example.com`),
  );
  return made.map(({ id }) => id);
}

const workers = [advance, drain, lane];

let lastRunAt = 0;

/**
 * Runs the schedules, at least a minute after the last time as in production, so that work of a
 * crashed worker is not enqueued repeatedly.
 */
async function runSchedules(entries: DueEntry[]): Promise<void> {
  const minuteMs = 60_000;
  clock.advanceClock(Math.max(0, lastRunAt + minuteMs - clock.now().getTime()) / 1000);
  lastRunAt = clock.now().getTime();
  await Promise.all([enqueueDueWork(entries), enqueueDueEnrollments(entries)]);
}

/** Runs workers until nothing is left to do within the time. Moves the clock to the next work. */
export const runFor = (
  forSeconds = 0,
  crashHook?: (work: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> =>
  queues.runWorkers(workers, { forSeconds, runSchedules, ...(crashHook && { crashHook }) });

export const minutes = (n: number): number => n * 60;
export const days = (n: number): number => n * 24 * 3600;

/** Lists the subjects of the mails that a contact got, in order. */
export async function listSubjectsTo(
  { caller, provider }: SequenceSender,
  contactId: number,
): Promise<string[]> {
  const { email } = await contacts.find(caller, contactId);
  return provider.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
}

export interface SequenceBalance {
  active: EnrollmentItem[];
  finished: FinishedEnrollmentItem[];
  counts: enrollmentListing.EnrollmentCounts;
}

/**
 * Checks that contacts, enrollments, counters of the sequence and counters of each step agree, and
 * that no mail went out twice.
 */
export async function expectBalanced(
  sender: SequenceSender,
  sequenceId: number,
  all: SequenceStep[],
): Promise<SequenceBalance> {
  const of = async <T>(range: typeof ranges.enrollments) =>
    (
      await Promise.all(
        emailShards.map((home) =>
          queryAll<T>(range(sender.orgId, sequenceId, home), { consistent: true }),
        ),
      )
    ).flat();
  const [active, finished] = [
    await of<EnrollmentItem>(ranges.enrollments),
    await of<FinishedEnrollmentItem>(ranges.finishedEnrollments),
  ];
  const enrolledContacts = (await readAllContacts(sender)).filter((contact) =>
    (contact as { sequences?: Set<number> }).sequences?.has(sequenceId),
  );
  expect(active.map(({ contactId }) => contactId).toSorted()).toEqual(
    enrolledContacts.map(({ id }) => id).toSorted(),
  );
  expectAllScheduled(active);
  const { byStatus: counts, steps: passed } = await enrollmentListing.getCounts(
    sender.orgId,
    sequenceId,
  );
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
  const mailed = sender.provider.mails.map(({ to, subject }) => `${to} ${subject}`);
  expect(mailed.length).toBe(new Set(mailed).size);
  const { all: mails } = await sources.getSourceTotals(sender.orgId, {
    kind: "sequence",
    id: sequenceId,
  });
  const reasons = sources.exclusionReasons.map((reason) => mails[reason]);
  expect(reasons.reduce((sum, n) => sum + n, mails.accepted)).toBe(mails.candidates);
  return { active, finished, counts };
}

/** Checks that each active enrollment is on the due index at its time, and no held one is. */
function expectAllScheduled(active: (EnrollmentItem & { duesk?: string })[]): void {
  const minuteMs = 60_000;
  for (const { held, at, duesk } of active) {
    const dueMs = Date.parse(duesk?.slice(0, 24) ?? "");
    expect(held ? duesk === undefined : Math.abs(dueMs - Date.parse(at)) <= minuteMs).toBe(true);
  }
}
