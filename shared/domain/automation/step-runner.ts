// An enrollment run: one pass of an enrollment through the step graph, up to a wait, a closed send
// window or the end. A run sends at most one mail.
import { addSeconds, now } from "../../clock.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { getSharedMailReader } from "../audience/mail-counts/mail-counts.ts";
import { addMailsForCap, getExclusionReason, type MailLimits } from "../sending/eligibility.ts";
import type { ExclusionReason } from "../sending/mail-sources.ts";
import { blockingStatus, type EnrollmentItem } from "./enrollment-schema.ts";
import {
  type EnrollmentPosition,
  type EnrollmentTransition,
  transitionToEnd,
} from "./enrollment-transition.ts";
import { currentStep, nextStep, type StepGraph } from "./step-graph.ts";
import type { SequenceStep, StepType } from "./step-schema.ts";

export interface EnrollmentRun {
  transition: EnrollmentTransition;
  contact: ContactItem | undefined;
  /** The step whose mail the contact gets. */
  mailStep?: SequenceStep | undefined;
  /** Steps whose mail the contact does not get. */
  skippedSteps: SkippedStep[];
}

export interface SkippedStep {
  step: SequenceStep;
  reason: Extract<ExclusionReason, "capped" | "notInTopic">;
}

export interface EnrollmentRunContext {
  graph: StepGraph;
  limits: MailLimits;
  conditionHolds(step: SequenceStep, item: EnrollmentItem, contact: ContactItem): Promise<boolean>;
  /** The earliest time from `at` on at which the contact may get mail. */
  nextOpening(contact: ContactItem, at: Date): Date;
}

/** When the wait at a delay step ends, with the current delay of the step. */
export const endOfWait = (
  { lastProgressAt }: Pick<EnrollmentItem, "lastProgressAt">,
  { delayMinutes }: Pick<SequenceStep, "delayMinutes">,
): Date => addSeconds((delayMinutes ?? 0) * 60, new Date(lastProgressAt));

/**
 * Whether two ends of a wait mean different delays. The stored end was computed a moment before
 * `lastProgressAt`, so a small difference means nothing; delays are whole minutes.
 */
export const differs = (a: Date, b: Date): boolean => Math.abs(a.getTime() - b.getTime()) > 30_000;

interface EnrollmentRunState extends EnrollmentRunContext {
  item: EnrollmentItem;
  contact: ContactItem;
  /** The enrollment was already waiting at the step where the run starts. */
  waited: boolean;
  mail?: SequenceStep | undefined;
  skipped: SkippedStep[];
}

/** Continue with `next`, or stay at the step until a time. */
type StepHandlerResult = { next: SequenceStep | undefined } | { stay: Date; waiting?: boolean };

export async function runSteps(
  context: EnrollmentRunContext,
  item: EnrollmentItem,
  contact: ContactItem | undefined,
): Promise<EnrollmentRun> {
  const reason = contact ? blockingStatus(contact) : "contact_deleted";
  if (!contact || reason) {
    const at = now().toISOString();
    const end = { status: "cancelled" as const, reason, contact, at };
    return { transition: transitionToEnd(item, end), contact, skippedSteps: [] };
  }
  let step = currentStep(context.graph, item);
  const state: EnrollmentRunState = {
    ...context,
    item,
    contact,
    skipped: [],
    waited: item.waiting === true && step?.id === item.stepId,
  };
  const reached = step?.id === item.stepId ? [] : [step];
  const left = reached.length && item.stepId !== undefined ? [item.stepId] : [];
  const endRun = (to: EnrollmentTransition["to"]): EnrollmentRun => ({
    transition: {
      enrollment: item,
      to,
      leftStepIds: left,
      reachedStepIds: reached.flatMap((reachedStep) => (reachedStep ? [reachedStep.id] : [])),
    },
    contact,
    mailStep: state.mail,
    skippedSteps: state.skipped,
  });
  while (step) {
    const result: StepHandlerResult = await stepHandlers[step.type](step, state);
    if ("stay" in result) return endRun(toPosition(step, result, item));
    left.push(step.id);
    reached.push(result.next);
    step = result.next;
    state.waited = false;
  }
  return endRun({ status: "completed", contact, at: now().toISOString() });
}

const stepHandlers: Record<
  StepType,
  (step: SequenceStep, state: EnrollmentRunState) => Promise<StepHandlerResult>
> = {
  delay: async (step, { graph, item, waited }) => {
    const until = waited ? endOfWait(item, step) : addSeconds((step.delayMinutes ?? 0) * 60);
    const isOver = !step.delayMinutes || (waited && !differs(until, now()));
    return isOver || until <= now()
      ? { next: nextStep(graph, step) }
      : { stay: until, waiting: true };
  },
  condition: async (step, { graph, item, contact, conditionHolds }) => ({
    next: nextStep(graph, step, await conditionHolds(step, item, contact)),
  }),
  email: async (step, state) => {
    const { graph, item, contact, limits, nextOpening } = state;
    const next = { next: nextStep(graph, step) };
    if (item.sends?.[step.id] !== undefined) return next;
    const at = now();
    if (state.mail) return { stay: at };
    const opening = nextOpening(contact, at);
    if (opening > at) return { stay: opening };
    const reason = await getSkipReason(contact, limits);
    if (reason) state.skipped.push({ step, reason });
    else state.mail = step;
    return next;
  },
};

/** The hand-over looks at the suppression list. */
async function getSkipReason(
  contact: ContactItem,
  limits: MailLimits,
): Promise<SkippedStep["reason"] | undefined> {
  const readMails = getSharedMailReader(contact);
  const [counted] = await addMailsForCap(readMails, [contact], limits.capDays ?? 0);
  const reason = getExclusionReason(counted, new Set(), limits);
  return reason === "capped" || reason === "notInTopic" ? reason : undefined;
}

const toPosition = (
  { id, stepOrder }: SequenceStep,
  { stay, waiting = false }: { stay: Date; waiting?: boolean },
  { sends }: EnrollmentItem,
): EnrollmentPosition => ({
  stepId: id,
  order: stepOrder,
  at: stay.toISOString(),
  waiting,
  sends,
});
