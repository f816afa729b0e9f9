// The way through a sequence. Steps stand in order, and every jump leads to a later one, so whoever is inside only ever goes forward
// and passes each step at most once. Pure: what is stored, and who is where, is elsewhere.
import { invalid } from "../../errors.ts";
import { fieldOf } from "../segments/fields.ts";
import { type Condition, isRules, type Rules } from "../segments/grammar.ts";
import type { NewStep, Step, StepChanges } from "./step.ts";

/** A step that was removed: who was at it goes on from where it stood. */
export interface Gone {
  id: number;
  stepOrder: number;
  nextStepOrder?: number | null | undefined;
}

export interface Flow {
  /** In order. */
  steps: Step[];
  /** Oldest first. */
  gone: Gone[];
}

export const empty: Flow = { steps: [], gone: [] };

/** Where somebody is: at a step it has not done yet, or before the first from `order` on. */
export interface Place {
  stepId?: number | undefined;
  order: number;
}

/** The step to be done now; undefined at the end. */
export function stepAt(flow: Flow, { stepId, order }: Place): Step | undefined {
  const step = flow.steps.find(({ id }) => id === stepId);
  if (step) return step;
  const gone = flow.gone.findLast(({ id }) => id === stepId);
  return gone ? after(flow, gone, gone.stepOrder) : atOrder(flow, order);
}

/** What follows a step that is done; for a condition, `held` says how it turned out. */
export function nextOf(flow: Flow, step: Step, held?: boolean): Step | undefined {
  const start = step.stepOrder + 1;
  if (step.type !== "condition") return after(flow, step, start);
  return follow(flow, held ? step.trueBranchStepOrder : step.falseBranchStepOrder, start);
}

/** Where a jump leads; without one the next in order from `start` on. */
const follow = (flow: Flow, jump: number | null | undefined, start: number): Step | undefined =>
  jump === null ? undefined : jump === undefined ? firstFrom(flow, start) : atOrder(flow, jump);

function after(flow: Flow, { stepOrder, nextStepOrder }: Pick<Step, "stepOrder" | "nextStepOrder">, start: number): Step | undefined {
  const next = follow(flow, nextStepOrder, start);
  return nextStepOrder === undefined && next && endsBefore(flow, stepOrder, next) ? undefined : next;
}

/** The step of this order; where it was removed, what followed it; else the next. */
function atOrder(flow: Flow, order: number): Step | undefined {
  const step = flow.steps.find(({ stepOrder }) => stepOrder === order);
  const gone = step ? undefined : flow.gone.findLast(({ stepOrder }) => stepOrder === order);
  return step ?? (gone ? after(flow, gone, order) : firstFrom(flow, order));
}

const firstFrom = ({ steps }: Flow, order: number): Step | undefined => steps.find(({ stepOrder }) => stepOrder >= order);

/** Whoever comes out of one branch of a condition does not walk into the other, also where its first step was removed. */
const endsBefore = (flow: Flow, order: number, next: Step): boolean =>
  flow.steps.some(({ type, stepOrder, trueBranchStepOrder: yes = stepOrder + 1, falseBranchStepOrder: no = stepOrder + 1 }) => {
    if (type !== "condition" || stepOrder >= order || yes === null || no === null) return false;
    const second = Math.max(yes, no);
    return Math.min(yes, no) <= order && order < second && second <= next.stepOrder;
  });

const mostSteps = 500;
const mostGone = 1000;

interface Stamp {
  id: number;
  createdAt: string;
  updatedAt: string;
}

/** `stamps`: one for each. 400 when it is no way that can be walked. */
export function added(flow: Flow, given: NewStep[], stamps: Stamp[], { insert = false } = {}): Flow {
  let last = flow.steps.at(-1)?.stepOrder ?? 0;
  const fresh = given.map((step, i): Step => {
    const stepOrder = step.stepOrder ?? last + 1;
    last = Math.max(last, stepOrder);
    return stepOf({ ...step, stepOrder }, stamps[i]!);
  });
  const room = insert ? madeRoom(flow, fresh) : flow;
  const steps = [...room.steps, ...fresh].toSorted((a, b) => a.stepOrder - b.stepOrder);
  if (steps.length > mostSteps) throw wrong("steps", `a sequence may have at most ${mostSteps} steps`);
  const twice = steps.find((step, i) => step.stepOrder === steps[i + 1]?.stepOrder);
  if (twice) throw wrong("stepOrder", `order ${twice.stepOrder} is taken: choose a free one, or give insert: true`);
  return checked({ ...room, steps });
}

const stepOf = (
  { type, stepOrder, templateId, delayMinutes, conditionConfig, ...way }: NewStep & { stepOrder: number },
  stamp: Stamp,
): Step => ({
  ...stamp,
  stepOrder,
  type,
  templateId: templateId ?? null,
  delayMinutes: delayMinutes ?? null,
  conditionConfig: conditionConfig ?? null,
  ...way,
});

/** Where orders are taken, what stands there and all after it moves up, and every jump with it. */
function madeRoom(flow: Flow, fresh: Step[]): Flow {
  const taken = new Set(flow.steps.map(({ stepOrder }) => stepOrder));
  if (!fresh.some(({ stepOrder }) => taken.has(stepOrder))) return flow;
  const orders = fresh.map(({ stepOrder }) => stepOrder);
  const [first, by] = [Math.min(...orders), Math.max(...orders) - Math.min(...orders) + 1];
  const moved = (order: number) => (order >= first ? order + by : order);
  const jump = (order: number | null | undefined) => (typeof order === "number" ? moved(order) : order);
  const steps = flow.steps.map((step) => ({
    ...step,
    stepOrder: moved(step.stepOrder),
    ...Object.fromEntries(jumps.filter((name) => step[name] !== undefined).map((name) => [name, jump(step[name])])),
    ...(step.conditionConfig && { conditionConfig: renumbered(step.conditionConfig, moved) }),
  }));
  const gone = flow.gone.map((one) => ({ ...one, stepOrder: moved(one.stepOrder), nextStepOrder: jump(one.nextStepOrder) }));
  return { steps, gone };
}

const jumps = ["nextStepOrder", "trueBranchStepOrder", "falseBranchStepOrder"] as const;

const renumbered = (rules: Rules, moved: (order: number) => number): Rules => ({
  ...rules,
  conditions: rules.conditions.map((node) => (isRules(node) ? renumbered(node, moved) : { ...node, field: renamed(node.field, moved) })),
});
const renamed = (field: string, moved: (order: number) => number): string =>
  field.replace(/^step\.(\d+)\./, (_, order: string) => `step.${moved(Number(order))}.`);

export function changed(flow: Flow, id: number, changes: StepChanges, updatedAt: string): Flow {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return checked({ ...flow, steps: flow.steps.map((step) => (step.id === id ? { ...step, ...given, updatedAt } : step)) });
}

/** What was the branches of a removed condition follow one another. */
export function removed({ steps, gone }: Flow, step: Step): Flow {
  const mark: Gone = { id: step.id, stepOrder: step.stepOrder, ...(step.type !== "condition" && { nextStepOrder: step.nextStepOrder }) };
  return { steps: steps.filter((one) => one !== step), gone: [...gone, mark].slice(-mostGone) };
}

function checked(flow: Flow): Flow {
  for (const step of flow.steps) {
    for (const name of jumps)
      if ((step[name] ?? Number.POSITIVE_INFINITY) <= step.stepOrder)
        throw wrong(name, `step ${step.stepOrder}: ${name} must be a later step, as a sequence does not go back`);
    const later = stepsAskedAbout(step.conditionConfig).find((order) => order >= step.stepOrder);
    if (later !== undefined) throw wrong("conditionConfig", `step ${step.stepOrder}: step.${later} does not come before it`);
  }
  return flow;
}

/** Orders of the steps whose mails the rules ask about. */
export const stepsAskedAbout = (rules: Rules | null): number[] =>
  conditionsOf(rules).flatMap(({ field }) => {
    const { member, attribute } = fieldOf(field) ?? {};
    return member !== undefined && (attribute === "openedSteps" || attribute === "clickedSteps") ? [member] : [];
  });

const conditionsOf = (rules: Rules | null): Condition[] =>
  (rules?.conditions ?? []).flatMap((node) => (isRules(node) ? conditionsOf(node) : [node]));

/** What keeps it from being active: a sentence for each step that is not complete. */
export function incomplete({ steps, gone }: Flow): string[] {
  const orders = new Set([...steps, ...gone].map(({ stepOrder }) => stepOrder));
  const missing = steps.flatMap((step) => [
    ...(needed[step.type](step) ? [] : [`step ${step.stepOrder}: ${needs[step.type]} is needed`]),
    ...jumps.flatMap((name) =>
      typeof step[name] === "number" && !orders.has(step[name])
        ? [`step ${step.stepOrder}: ${name} names order ${step[name]}, where no step is`]
        : [],
    ),
  ]);
  return steps.length ? missing : ["there are no steps"];
}

const needed: Record<Step["type"], (step: Step) => boolean> = {
  email: ({ templateId }) => templateId !== null,
  delay: ({ delayMinutes }) => delayMinutes !== null,
  condition: ({ conditionConfig }) => conditionConfig !== null,
};
const needs: Record<Step["type"], string> = { email: "templateId", delay: "delayMinutes", condition: "conditionConfig" };

const wrong = (path: string, message: string) => invalid(message, { details: [{ path, message }] });
