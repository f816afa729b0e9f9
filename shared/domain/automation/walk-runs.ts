// The runs of a walk. What a worker would store is kept in memory, and awaited events come when the
// request says so.
import { addSeconds } from "../../clock.ts";
import { isTransient } from "../../errors.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import {
  eventCountAttribute,
  firstEventAttribute,
  lastEventAttribute,
} from "../audience/contacts/segment-attributes.ts";
import { type ActivityItem, activitySortKey } from "../audience/tracking/activities.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { type EnrollmentItem, newEnrollment } from "./enrollment-schema.ts";
import {
  type EnrollmentEnd,
  type EnrollmentPosition,
  isEnd,
  moveEnrollment,
} from "./enrollment-transition.ts";
import { createRunContext, type RunSettings } from "./run-context.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import { applyAction } from "./step-actions/apply-action.ts";
import { type EnrollmentRun, type EnrollmentRunContext, runSteps } from "./step-runner.ts";
import type { SequenceStep, StepType } from "./step-schema.ts";
import { endOfStepWait } from "./step-waits.ts";
import type { MailOfWalk } from "./walk-mails.ts";
import type { Walk, WalkedStep, WalkOutcome, WalkResult } from "./walk-schema.ts";

export interface StartEvent {
  name: string;
  properties: Record<string, unknown>;
}

interface WalkPlan {
  sequence: SequenceItem;
  settings: RunSettings;
  outcomes: Map<number, WalkOutcome>;
  startEvent: StartEvent | undefined;
  startsAt: Date;
}

interface WalkState extends WalkPlan {
  /** The time of the current run. */
  at: Date;
  contact: ContactItem;
  item: EnrollmentItem;
  /** By sort key. */
  events: Map<string, ActivityItem>;
  /** The id of a send is that of its step. */
  sends: Map<number, Pick<SendItem, "openedAt" | "clickedAt">>;
  /** Results of conditions, by step. */
  conditions: Map<number, boolean>;
  /** Waits that ended with their event. */
  endedByEvent: Set<number>;
  /** Waits whose event has come. */
  came: Set<number>;
  walked: WalkedStep[];
  mails: MailOfWalk[];
}

interface WalkedSteps {
  steps: WalkedStep[];
  /** To be rendered. */
  mails: MailOfWalk[];
  end: Walk["end"];
}

/** A step takes at most this many runs: to reach it, for its event, and for its end. */
const maxRunsPerStep = 3;

export async function walkSteps(contact: ContactItem, plan: WalkPlan): Promise<WalkedSteps> {
  const state = startWalk(contact, plan);
  const context = createWalkContext(state);
  const maxRuns = maxRunsPerStep * plan.settings.graph.steps.length + 1;
  for (let runs = 0; runs < maxRuns; runs++) {
    const run = await runSteps(context, state.item, state.contact);
    recordSteps(state, run);
    const { to, value } = run.transition;
    if (isEnd(to)) return { steps: state.walked, mails: state.mails, end: toEnd(to, value) };
    await act(state, run);
    moveOn(state, run, to);
  }
  throw new Error("The walk does not end");
}

function startWalk(contact: ContactItem, plan: WalkPlan): WalkState {
  const at = plan.startsAt.toISOString();
  const ways = Object.fromEntries(
    [...plan.outcomes].flatMap(([id, { way }]) => (way === undefined ? [] : [[id, way]])),
  );
  const state: WalkState = {
    ...plan,
    at: plan.startsAt,
    contact,
    item: {
      ...newEnrollment(contact, { sequenceId: plan.sequence.id, serial: 0 }),
      ...{ at, lastProgressAt: at, createdAt: at, ways },
    },
    events: new Map(),
    sends: new Map(),
    conditions: new Map(),
    endedByEvent: new Set(),
    came: new Set(),
    walked: [],
    mails: [],
  };
  if (plan.startEvent) state.item.startedBy = recordEvent(state, plan.startEvent);
  return state;
}

/** Returns its sort key. */
function recordEvent(state: WalkState, { name, properties }: StartEvent): string {
  const at = state.at.toISOString();
  const { siteId, id: contactId } = state.contact;
  const event: ActivityItem = {
    ...{ id: state.events.size + 1, at, type: "custom", name, source: "api", siteId, contactId },
    properties: JSON.stringify(properties),
  };
  const sortKey = activitySortKey(event);
  state.events.set(sortKey, event);
  const count = state.contact[eventCountAttribute(name)] ?? 0;
  state.contact = {
    ...state.contact,
    [eventCountAttribute(name)]: count + 1,
    [lastEventAttribute(name)]: at,
    ...(count === 0 && { [firstEventAttribute(name)]: at }),
  };
  return sortKey;
}

/** The context of real runs at the time of the walk, which also notes what it decided. */
function createWalkContext(state: WalkState): EnrollmentRunContext {
  const context = createRunContext(state.sequence, state.settings, {
    now: () => state.at,
    getEvent: async (_item, sortKey) => state.events.get(sortKey),
    getSends: async () => state.sends,
  });
  return {
    ...context,
    conditionHolds: async (step, subject) => {
      const holds = await context.conditionHolds(step, subject);
      state.conditions.set(step.id, holds);
      return holds;
    },
    findAwaitedEvent: async (step, item, contact) => {
      const event = await context.findAwaitedEvent(step, item, contact);
      if (event) state.endedByEvent.add(step.id);
      return event;
    },
  };
}

function recordSteps(state: WalkState, run: EnrollmentRun): void {
  const { reachedStepIds, leftStepIds, to } = run.transition;
  const at = state.at.toISOString();
  const stepOf = (id: number) => state.settings.graph.steps.find((step) => step.id === id)!;
  const current = state.walked.at(-1);
  const visited = current && leftStepIds.includes(current.stepId) ? [current] : [];
  for (const id of reachedStepIds) visited.push(toWalkedStep(stepOf(id), at));
  state.walked.push(...visited.filter((walked) => walked !== current));
  for (const walked of visited) {
    walked.leftAt = at;
    if (leftStepIds.includes(walked.stepId)) finishStep(state, run, walked);
  }
  const last = state.walked.at(-1);
  if (!last || isEnd(to)) return;
  last.leftAt = to.at;
  if (to.at <= at) return;
  last.until = to.at;
  last.timezone = state.settings.timezoneOf(state.contact);
}

const toWalkedStep = (step: SequenceStep, at: string): WalkedStep => ({
  ...{ stepId: step.id, stepOrder: step.stepOrder, type: step.type },
  ...{ at, leftAt: at, result: "left", action: step.actionConfig, actionProblem: null },
  ...{ way: null, until: null, timezone: null, mail: null },
});

function finishStep(state: WalkState, run: EnrollmentRun, walked: WalkedStep): void {
  const { transition, mailStep, skippedSteps, eventKey = "" } = run;
  const step = state.settings.graph.steps.find(({ id }) => id === walked.stepId)!;
  if (hasLeft(run)) return;
  walked.result = resultOf[step.type]({ state, run, step, walked });
  walked.way = transition.drawnWays?.[step.id] ?? null;
  const isMail = step === mailStep || skippedSteps.some((skipped) => skipped.step === step);
  if (!isMail) return;
  const event = state.events.get(eventKey)?.properties;
  state.mails.push({ walked, step, contact: state.contact, event, at: state.at });
}

/** Whether the contact left the sequence before its step was run. */
const hasLeft = ({ transition: { to } }: EnrollmentRun): boolean =>
  isEnd(to) && to.reason !== undefined && to.reason !== "exit_step";

interface FinishedStep {
  state: WalkState;
  run: EnrollmentRun;
  step: SequenceStep;
  walked: WalkedStep;
}

const resultOf: Record<StepType, (finished: FinishedStep) => WalkResult> = {
  email: ({ run, step }) => {
    const skipped = run.skippedSteps.find((one) => one.step === step);
    if (!skipped) return "sent";
    return skipped.reason === "notInTopic" ? "not_in_topic" : skipped.reason;
  },
  condition: ({ state, step }) => (state.conditions.get(step.id) ? "met" : "not_met"),
  split: () => "drawn",
  exit: () => "ended",
  action: () => "acted",
  delay: () => "waited",
  wait_until: ({ state, step, walked }) => {
    if (state.endedByEvent.has(step.id)) return "event";
    if (step.waitConfig?.eventName !== undefined) return "timeout";
    if (walked.until !== null) return "waited";
    const { contact, settings, at } = state;
    const timezone = settings.timezoneOf(contact);
    const date = endOfStepWait(step, { start: at, contact, timezone });
    if (!date) return "no_date";
    Object.assign(walked, { until: date.toISOString(), timezone });
    return date < at ? "passed" : "waited";
  },
};

async function act(state: WalkState, { actionStep }: EnrollmentRun): Promise<void> {
  if (!actionStep?.actionConfig) return;
  try {
    state.contact = await applyAction(state.contact, actionStep.actionConfig);
  } catch (error) {
    if (isTransient(error)) throw error;
    state.walked.at(-1)!.actionProblem = (error as Error).message;
  }
}

/** The enrollment waits until its position says, or until the event of its step comes. */
function moveOn(state: WalkState, run: EnrollmentRun, to: EnrollmentPosition): void {
  const { mailStep } = run;
  const sends = mailStep ? { ...to.sends, [mailStep.id]: mailStep.id } : to.sends;
  state.item = moveEnrollment(run.transition, { ...to, sends });
  if (mailStep) countMail(state, mailStep.id);
  const until = new Date(to.at);
  const step = state.settings.graph.steps.find(({ id }) => id === to.stepId);
  const { eventName: name } = step?.waitConfig ?? {};
  const event = step && state.outcomes.get(step.id)?.event;
  const comesAt = event && addSeconds(event.afterMinutes * 60, state.at);
  const comes = name !== undefined && comesAt && comesAt < until && !state.came.has(step!.id);
  if (!comes) {
    state.at = until;
    return;
  }
  state.at = comesAt;
  state.came.add(step!.id);
  const sortKey = recordEvent(state, { name, properties: event.properties });
  state.item = { ...state.item, at: comesAt.toISOString(), heard: new Set([sortKey]) };
}

/** The contact after its mail was sent, and opened or clicked if the request says so. */
function countMail(state: WalkState, stepId: number): void {
  const { opened, clicked } = state.outcomes.get(stepId) ?? {};
  const at = state.at.toISOString();
  const { sendCount = 0, openCount = 0, clickCount = 0 } = state.contact;
  state.sends.set(stepId, { ...(opened && { openedAt: at }), ...(clicked && { clickedAt: at }) });
  state.contact = {
    ...state.contact,
    ...{ sendCount: sendCount + 1, lastSentAt: at, lastMarketingAt: at },
    ...(opened && { openCount: openCount + 1, lastOpenedAt: at }),
    ...(clicked && { clickCount: clickCount + 1, lastClickedAt: at }),
  };
}

const toEnd = ({ at, status, reason }: EnrollmentEnd, value: number | undefined): Walk["end"] => ({
  at,
  status: status as Walk["end"]["status"],
  reason: (reason ?? null) as Walk["end"]["reason"],
  value: value ?? null,
});
