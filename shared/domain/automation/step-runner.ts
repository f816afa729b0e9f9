// An enrollment run: one pass of an enrollment through the step graph, up to a wait, a closed send
// window, an action or the end. A run sends at most one mail and does at most one action.
import { sha256 } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { getSharedMailReader } from "../audience/mail-counts/mail-counts.ts";
import { type ActivityItem, activitySortKey } from "../audience/tracking/activities.ts";
import { addMailsForCap, getExclusionReason, type MailLimits } from "../sending/eligibility.ts";
import type { ExclusionReason } from "../sending/mail-sources.ts";
import { blockingStatus, type EndReason, type EnrollmentItem } from "./enrollment-schema.ts";
import {
  type EnrollmentPosition,
  type EnrollmentTransition,
  transitionToEnd,
} from "./enrollment-transition.ts";
import { currentStep, nextStep, type StepGraph } from "./step-graph.ts";
import type { SequenceStep, StepType } from "./step-schema.ts";
import { differs, endOfStepWait } from "./step-waits.ts";
import type { SequenceTriggerType } from "./trigger-schema.ts";

export interface EnrollmentRun {
  transition: EnrollmentTransition;
  contact: ContactItem | undefined;
  /** The step whose action the contact gets, together with the transition. */
  actionStep?: SequenceStep | undefined;
  /** The step whose mail the contact gets. */
  mailStep?: SequenceStep | undefined;
  /** Sort key of the event whose properties the mail can show. */
  eventKey?: string | undefined;
  /** Steps whose mail the contact does not get. */
  skippedSteps: SkippedStep[];
}

export interface SkippedStep {
  step: SequenceStep;
  reason: Extract<ExclusionReason, "capped" | "notInTopic" | "snoozed">;
}

export interface ConditionSubject {
  item: EnrollmentItem;
  contact: ContactItem;
  /** Sort key of the event whose properties the rules can name. */
  eventKey: string | undefined;
}

export interface EnrollmentRunContext {
  graph: StepGraph;
  triggerType: SequenceTriggerType;
  limits: MailLimits;
  now(): Date;
  conditionHolds(step: SequenceStep, subject: ConditionSubject): Promise<boolean>;
  /** Why the contact leaves the sequence now, with the value of its conversion. */
  findWayOut(
    item: EnrollmentItem,
    contact: ContactItem,
  ): Promise<{ reason: EndReason; value?: number } | undefined>;
  /** The first of the events that arrived since the last run that the step waits for. */
  findAwaitedEvent(
    step: SequenceStep,
    item: EnrollmentItem,
    contact: ContactItem,
  ): Promise<ActivityItem | undefined>;
  timezoneOf(contact: ContactItem): string;
  /** The earliest time from `at` on at which the contact may get mail. */
  nextOpening(contact: ContactItem, at: Date): Date;
}

interface EnrollmentRunState extends EnrollmentRunContext {
  item: EnrollmentItem;
  contact: ContactItem;
  /** The enrollment was already waiting at the step where the run starts. */
  waited: boolean;
  /** The action of the step where the run starts is done. */
  acted: boolean;
  /** How many steps the run has passed. */
  passed: number;
  action?: SequenceStep | undefined;
  mail?: SequenceStep | undefined;
  skipped: SkippedStep[];
  /** Ways that splits drew in this run, by step id. */
  drawnWays: Record<string, number>;
  /** When the run began. */
  at: Date;
  /** Sort key of the event that a wait ended with in this run. */
  wokenBy?: string;
}

/** Continue with `next`, stay at the step until a time, or end the enrollment. */
type StepHandlerResult =
  | { next: SequenceStep | undefined }
  | { stay: Date; waiting?: boolean; acted?: boolean }
  | { endReason: EndReason };

export async function runSteps(
  context: EnrollmentRunContext,
  item: EnrollmentItem,
  contact: ContactItem | undefined,
): Promise<EnrollmentRun> {
  const reason = contact ? blockingStatus(contact, context.triggerType) : "contact_deleted";
  if (!contact || reason) {
    const at = context.now().toISOString();
    const end = { status: "cancelled" as const, reason, contact, at };
    return { transition: transitionToEnd(item, end), contact, skippedSteps: [] };
  }
  const wayOut = await context.findWayOut(item, contact);
  if (wayOut) {
    const { reason: endReason, value } = wayOut;
    const at = context.now().toISOString();
    const end = { status: "completed" as const, reason: endReason, contact, at };
    return { transition: { ...transitionToEnd(item, end), value }, contact, skippedSteps: [] };
  }
  let step = currentStep(context.graph, item);
  const state: EnrollmentRunState = {
    ...context,
    item,
    contact,
    skipped: [],
    drawnWays: {},
    at: context.now(),
    waited: item.waiting === true && step?.id === item.stepId,
    acted: item.acted === true && step?.id === item.stepId,
    passed: 0,
  };
  const reached = step?.id === item.stepId ? [] : [step];
  const left = reached.length && item.stepId !== undefined ? [item.stepId] : [];
  const endRun = (to: EnrollmentTransition["to"]): EnrollmentRun => ({
    transition: {
      enrollment: item,
      to,
      leftStepIds: left,
      drawnWays: state.drawnWays,
      wokenBy: state.wokenBy,
      at: state.at.toISOString(),
      reachedStepIds: reached.flatMap((reachedStep) => (reachedStep ? [reachedStep.id] : [])),
    },
    contact,
    actionStep: state.action,
    mailStep: state.mail,
    eventKey: eventKeyOf(state),
    skippedSteps: state.skipped,
  });
  while (step) {
    const result: StepHandlerResult = await stepHandlers[step.type](step, state);
    if ("stay" in result) return endRun(toPosition(step, result, state));
    left.push(step.id);
    if ("endReason" in result)
      return endRun({
        status: "completed",
        reason: result.endReason,
        contact,
        at: context.now().toISOString(),
      });
    reached.push(result.next);
    step = result.next;
    state.waited = false;
    state.acted = false;
    state.passed++;
  }
  return endRun({ status: "completed", contact, at: context.now().toISOString() });
}

const maxPassedBeforeAction = 10;

const stepHandlers: Record<
  StepType,
  (step: SequenceStep, state: EnrollmentRunState) => Promise<StepHandlerResult>
> = {
  delay: wait,
  wait_until: wait,
  condition: async (step, state) => {
    const { graph, item, contact, conditionHolds } = state;
    const holds = await conditionHolds(step, { item, contact, eventKey: eventKeyOf(state) });
    return { next: nextStep(graph, step, holds ? 0 : 1) };
  },
  split: async (step, { graph, item, drawnWays }) => {
    const branches = step.splitConfig?.branches ?? [];
    // A draft can lack them.
    if (!branches.length) return { next: nextStep(graph, step) };
    const drawn = item.ways?.[step.id];
    const way = drawn !== undefined && drawn < branches.length ? drawn : drawWay(step, item);
    drawnWays[step.id] = way;
    return { next: nextStep(graph, step, way) };
  },
  action: async (step, state) => {
    if (state.acted || !step.actionConfig) return { next: nextStep(state.graph, step) };
    // Mail and counters of many steps do not fit into the transaction of an action.
    const isAlone = !state.mail && !state.skipped.length && state.passed <= maxPassedBeforeAction;
    if (isAlone) state.action = step;
    return { stay: state.now(), acted: isAlone };
  },
  exit: async () => ({ endReason: "exit_step" }),
  email: async (step, state) => {
    const { graph, item, contact, now, nextOpening } = state;
    const next = { next: nextStep(graph, step) };
    if (item.sends?.[step.id] !== undefined) return next;
    const at = now();
    if (state.mail) return { stay: at };
    const opening = nextOpening(contact, at);
    if (opening > at) return { stay: opening };
    const reason = await getSkipReason(contact, { ...state.limits, at });
    if (reason) state.skipped.push({ step, reason });
    else state.mail = step;
    return next;
  },
};

/** Sort key of the event that a wait ended with, or else of the one that started the sequence. */
const eventKeyOf = ({ wokenBy, item }: EnrollmentRunState): string | undefined =>
  wokenBy ?? item.wokenBy ?? item.startedBy;

/** Awaited events count from the moment at which the wait is stored. */
async function wait(step: SequenceStep, state: EnrollmentRunState): Promise<StepHandlerResult> {
  const { graph, item, contact, waited, at, timezoneOf, findAwaitedEvent } = state;
  const event = waited ? await findAwaitedEvent(step, item, contact) : undefined;
  if (event) state.wokenBy = activitySortKey(event);
  if (event) return { next: nextStep(graph, step) };
  const start = waited ? new Date(item.lastProgressAt) : at;
  const until = endOfStepWait(step, { start, contact, timezone: timezoneOf(contact) });
  const isTooLate = step.waitConfig?.eventName !== undefined || !until;
  const isOver = !until || until <= at || (waited && !differs(until, at));
  if (!isOver) return { stay: until, waiting: true };
  return { next: nextStep(graph, step, isTooLate ? 1 : 0) };
}

/** The same for each attempt, and for each run of the contact through the sequence. */
function drawWay({ id, splitConfig }: SequenceStep, { contactId }: EnrollmentItem): number {
  const weights = (splitConfig?.branches ?? []).map(({ weight }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const drawn = Number.parseInt(sha256(`split ${id} ${contactId}`).slice(0, 12), 16) % total;
  let sum = 0;
  return weights.findIndex((weight) => {
    sum += weight;
    return drawn < sum;
  });
}

/** The hand-over looks at the suppression list. */
async function getSkipReason(
  contact: ContactItem,
  limits: MailLimits,
): Promise<SkippedStep["reason"] | undefined> {
  const readMails = getSharedMailReader(contact);
  const [counted] = await addMailsForCap(readMails, [contact], limits.capDays ?? 0);
  const reason = getExclusionReason(counted, new Set(), limits);
  const isSkip = reason === "capped" || reason === "notInTopic" || reason === "snoozed";
  return isSkip ? reason : undefined;
}

const toPosition = (
  { id, stepOrder }: SequenceStep,
  { stay, waiting = false, acted }: { stay: Date; waiting?: boolean; acted?: boolean },
  { item }: EnrollmentRunState,
): EnrollmentPosition => ({
  stepId: id,
  order: stepOrder,
  at: stay.toISOString(),
  waiting,
  ...(acted && { acted }),
  sends: item.sends,
});
