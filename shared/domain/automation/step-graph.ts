// The step graph of a sequence. Steps are ordered and every jump leads to a later step, so an
// enrollment only moves forward and runs each step at most once. Pure functions:
// step-graph-store.ts stores the graph.
import { invalid } from "../../errors.ts";
import { parseField } from "../audience/segments/segment-fields.ts";
import {
  isRules,
  type SegmentCondition,
  type SegmentRules,
} from "../audience/segments/segment-rules.ts";
import type { NewSequenceStep, SequenceStep, SequenceStepChanges } from "./step-schema.ts";

/** A removed step. Enrollments that were at it continue from its position. */
export interface RemovedStep {
  id: number;
  stepOrder: number;
  nextStepOrder?: number | null | undefined;
}

export interface StepGraph {
  /** In order. */
  steps: SequenceStep[];
  /** Oldest first. */
  gone: RemovedStep[];
}

export const emptyGraph: StepGraph = { steps: [], gone: [] };

/**
 * Where an enrollment is: at a step that has not run yet, or before the first step, to start at
 * `order`.
 */
export interface StepPosition {
  stepId?: number | undefined;
  order: number;
}

/** The step to run now; undefined at the end. */
export function currentStep(
  graph: StepGraph,
  { stepId, order }: StepPosition,
): SequenceStep | undefined {
  const step = graph.steps.find(({ id }) => id === stepId);
  if (step) return step;
  const gone = graph.gone.findLast(({ id }) => id === stepId);
  return gone ? stepAfter(graph, gone, gone.stepOrder) : stepAtOrder(graph, order);
}

/** The step that follows. `conditionHeld` is the result of a condition step. */
export function nextStep(
  graph: StepGraph,
  step: SequenceStep,
  conditionHeld?: boolean,
): SequenceStep | undefined {
  const start = step.stepOrder + 1;
  if (step.type !== "condition") return stepAfter(graph, step, start);
  return stepAfterJump(
    graph,
    conditionHeld ? step.trueBranchStepOrder : step.falseBranchStepOrder,
    start,
  );
}

/**
 * The target of a jump. `null` ends the sequence; without a jump it is the next step from `start`
 * on.
 */
function stepAfterJump(
  graph: StepGraph,
  jump: number | null | undefined,
  start: number,
): SequenceStep | undefined {
  if (jump === null) return undefined;
  return jump === undefined ? firstStepFrom(graph, start) : stepAtOrder(graph, jump);
}

function stepAfter(
  graph: StepGraph,
  { stepOrder, nextStepOrder }: Pick<SequenceStep, "stepOrder" | "nextStepOrder">,
  start: number,
): SequenceStep | undefined {
  const next = stepAfterJump(graph, nextStepOrder, start);
  return nextStepOrder === undefined && next && crossesIntoOtherBranch(graph, stepOrder, next)
    ? undefined
    : next;
}

/**
 * The step with this order. If it was removed, the step that followed it; if there was none, the
 * next in order.
 */
function stepAtOrder(graph: StepGraph, order: number): SequenceStep | undefined {
  const step = graph.steps.find(({ stepOrder }) => stepOrder === order);
  const gone = step ? undefined : graph.gone.findLast(({ stepOrder }) => stepOrder === order);
  return step ?? (gone ? stepAfter(graph, gone, order) : firstStepFrom(graph, order));
}

const firstStepFrom = ({ steps }: StepGraph, order: number): SequenceStep | undefined =>
  steps.find(({ stepOrder }) => stepOrder >= order);

/**
 * Whether the step from `order` to `next` leads out of one branch of a condition into the other.
 * Removed steps are part of a branch.
 */
const crossesIntoOtherBranch = (graph: StepGraph, order: number, next: SequenceStep): boolean =>
  graph.steps.some(
    ({
      type,
      stepOrder,
      trueBranchStepOrder: yes = stepOrder + 1,
      falseBranchStepOrder: no = stepOrder + 1,
    }) => {
      if (type !== "condition" || stepOrder >= order || yes === null || no === null) return false;
      const second = Math.max(yes, no);
      return Math.min(yes, no) <= order && order < second && second <= next.stepOrder;
    },
  );

const maxSteps = 500;
const maxRemovedSteps = 1000;

interface StepStamp {
  id: number;
  createdAt: string;
  updatedAt: string;
}

interface AddedSteps {
  input: NewSequenceStep[];
  /** One for each step of `input`. */
  stamps: StepStamp[];
  /** Moves later steps up if an order is taken. Otherwise a taken order is an error. */
  insert?: boolean;
}

/** 400 when the resulting graph is not valid. */
export function addSteps(
  graph: StepGraph,
  { input, stamps, insert = false }: AddedSteps,
): StepGraph {
  let last = graph.steps.at(-1)?.stepOrder ?? 0;
  const added = input.map((step, i): SequenceStep => {
    const stepOrder = step.stepOrder ?? last + 1;
    last = Math.max(last, stepOrder);
    return toStep({ ...step, stepOrder }, stamps[i]!);
  });
  const current = insert ? makeRoom(graph, added) : graph;
  const steps = [...current.steps, ...added].toSorted((a, b) => a.stepOrder - b.stepOrder);
  if (steps.length > maxSteps)
    throw invalidStep("steps", `a sequence may have at most ${maxSteps} steps`);
  const duplicate = steps.find((step, i) => step.stepOrder === steps[i + 1]?.stepOrder);
  if (duplicate)
    throw invalidStep(
      "stepOrder",
      `stepOrder ${duplicate.stepOrder} is already used: choose another, or set insert to true`,
    );
  return checkGraph({ ...current, steps });
}

const toStep = (
  {
    type,
    stepOrder,
    templateId,
    delayMinutes,
    conditionConfig,
    ...branches
  }: NewSequenceStep & { stepOrder: number },
  stamp: StepStamp,
): SequenceStep => ({
  ...stamp,
  stepOrder,
  type,
  templateId: templateId ?? null,
  delayMinutes: delayMinutes ?? null,
  conditionConfig: conditionConfig ?? null,
  ...branches,
});

/**
 * If an order of the new steps is taken, moves the steps from there on up and adjusts every jump
 * and condition.
 */
function makeRoom(graph: StepGraph, newSteps: SequenceStep[]): StepGraph {
  const taken = new Set(graph.steps.map(({ stepOrder }) => stepOrder));
  if (!newSteps.some(({ stepOrder }) => taken.has(stepOrder))) return graph;
  const orders = newSteps.map(({ stepOrder }) => stepOrder);
  const first = Math.min(...orders);
  const shift = Math.max(...orders) - first + 1;
  const moved = (order: number) => (order >= first ? order + shift : order);
  const jump = (order: number | null | undefined) =>
    typeof order === "number" ? moved(order) : order;
  const steps = graph.steps.map((step) => ({
    ...step,
    stepOrder: moved(step.stepOrder),
    ...Object.fromEntries(
      jumpFields.filter((name) => step[name] !== undefined).map((name) => [name, jump(step[name])]),
    ),
    ...(step.conditionConfig && { conditionConfig: renumberRules(step.conditionConfig, moved) }),
  }));
  const gone = graph.gone.map((removed) => ({
    ...removed,
    stepOrder: moved(removed.stepOrder),
    nextStepOrder: jump(removed.nextStepOrder),
  }));
  return { steps, gone };
}

const jumpFields = ["nextStepOrder", "trueBranchStepOrder", "falseBranchStepOrder"] as const;

const renumberRules = (rules: SegmentRules, moved: (order: number) => number): SegmentRules => ({
  ...rules,
  conditions: rules.conditions.map((node) =>
    isRules(node)
      ? renumberRules(node, moved)
      : { ...node, field: renumberField(node.field, moved) },
  ),
});
const renumberField = (field: string, moved: (order: number) => number): string =>
  field.replace(/^step\.(\d+)\./, (_, order: string) => `step.${moved(Number(order))}.`);

export function changeStep(
  graph: StepGraph,
  id: number,
  { changes, updatedAt }: { changes: SequenceStepChanges; updatedAt: string },
): StepGraph {
  const definedChanges = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  return checkGraph({
    ...graph,
    steps: graph.steps.map((step) =>
      step.id === id ? { ...step, ...definedChanges, updatedAt } : step,
    ),
  });
}

/** The branches of a removed condition run one after the other. */
export function removeStep({ steps, gone }: StepGraph, step: SequenceStep): StepGraph {
  const removed: RemovedStep = {
    id: step.id,
    stepOrder: step.stepOrder,
    ...(step.type !== "condition" && { nextStepOrder: step.nextStepOrder }),
  };
  return {
    steps: steps.filter((other) => other !== step),
    gone: [...gone, removed].slice(-maxRemovedSteps),
  };
}

function checkGraph(graph: StepGraph): StepGraph {
  for (const step of graph.steps) {
    for (const name of jumpFields)
      if ((step[name] ?? Number.POSITIVE_INFINITY) <= step.stepOrder)
        throw invalidStep(
          name,
          `step ${step.stepOrder}: ${name} must be greater than the step's own stepOrder`,
        );
    const later = stepOrdersOf(step.conditionConfig).find((order) => order >= step.stepOrder);
    if (later !== undefined)
      throw invalidStep(
        "conditionConfig",
        `step ${step.stepOrder}: step.${later} must refer to an earlier step`,
      );
  }
  return graph;
}

/** Orders of the steps whose mail the rules test. */
export const stepOrdersOf = (rules: SegmentRules | null): number[] =>
  conditionsOf(rules).flatMap(({ field }) => {
    const { setMember, attribute } = parseField(field) ?? {};
    return setMember !== undefined && (attribute === "openedSteps" || attribute === "clickedSteps")
      ? [setMember]
      : [];
  });

const conditionsOf = (rules: SegmentRules | null): SegmentCondition[] =>
  (rules?.conditions ?? []).flatMap((node) => (isRules(node) ? conditionsOf(node) : [node]));

/** Why the sequence cannot be active: one message for each missing part. */
export function missingParts({ steps, gone }: StepGraph): string[] {
  const orders = new Set([...steps, ...gone].map(({ stepOrder }) => stepOrder));
  const missing = steps.flatMap((step) => [
    ...(isComplete[step.type](step)
      ? []
      : [`step ${step.stepOrder}: ${requiredField[step.type]} is needed`]),
    ...jumpFields.flatMap((name) =>
      typeof step[name] === "number" && !orders.has(step[name])
        ? [`step ${step.stepOrder}: ${name} is ${step[name]}, but that step does not exist`]
        : [],
    ),
  ]);
  return steps.length ? missing : ["the sequence has no steps"];
}

const isComplete: Record<SequenceStep["type"], (step: SequenceStep) => boolean> = {
  email: ({ templateId }) => templateId !== null,
  delay: ({ delayMinutes }) => delayMinutes !== null,
  condition: ({ conditionConfig }) => conditionConfig !== null,
};
const requiredField: Record<SequenceStep["type"], string> = {
  email: "templateId",
  delay: "delayMinutes",
  condition: "conditionConfig",
};

const invalidStep = (path: string, message: string) =>
  invalid(message, { details: [{ path, message }] });
