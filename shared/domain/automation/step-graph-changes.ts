// Adds, changes, removes and replaces steps of a step graph. Pure functions: step-graph-store.ts
// stores the graph.
import { isDeepStrictEqual } from "node:util";
import { isRules, type SegmentRules } from "../audience/segments/segment-rules.ts";
import { currentStep, isFork, type RemovedStep, type StepGraph, withJumps } from "./step-graph.ts";
import {
  checkGraph,
  graphProblem,
  invalidStep,
  problemsOfReplaced,
  throwProblems,
} from "./step-graph-problems.ts";
import {
  type GraphStep,
  maxSteps,
  type NewSequenceStep,
  type SequenceStep,
  type SequenceStepChanges,
} from "./step-schema.ts";

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
    previewText,
    delayMinutes,
    conditionConfig,
    splitConfig,
    waitConfig,
    actionConfig,
    ...branches
  }: NewSequenceStep & { stepOrder: number },
  stamp: StepStamp,
): SequenceStep => ({
  ...stamp,
  stepOrder,
  type,
  templateId: templateId ?? null,
  previewText: previewText ?? null,
  delayMinutes: delayMinutes ?? null,
  conditionConfig: conditionConfig ?? null,
  splitConfig: splitConfig ?? null,
  waitConfig: waitConfig ?? null,
  actionConfig: actionConfig ?? null,
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
    ...withJumps(step, jump),
    stepOrder: moved(step.stepOrder),
    ...(step.conditionConfig && { conditionConfig: renumberRules(step.conditionConfig, moved) }),
  }));
  const gone = graph.gone.map((removed) => ({
    ...removed,
    stepOrder: removed.stepOrder === undefined ? undefined : moved(removed.stepOrder),
    nextStepOrder: jump(removed.nextStepOrder),
  }));
  return { steps, gone };
}

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

/** The branches of a removed condition or split run one after the other. */
export function removeStep({ steps, gone }: StepGraph, step: SequenceStep): StepGraph {
  const removed: RemovedStep = {
    id: step.id,
    stepOrder: step.stepOrder,
    ...(!isFork(step) && { nextStepOrder: step.nextStepOrder }),
  };
  return {
    steps: steps.filter((other) => other !== step),
    gone: [...gone, removed].slice(-maxRemovedSteps),
  };
}

interface ReplacedSteps {
  /** Steps without an id are new. */
  input: GraphStep[];
  /** One for each new step of `input`. */
  stamps: StepStamp[];
  updatedAt: string;
  /** The sequence is active, so every step must be complete. */
  mustBeComplete: boolean;
}

/**
 * Puts `input` in place of all steps. Steps with an id keep it, so enrollments stay at them.
 * Enrollments at any other step continue with the next step that stays, as if the steps between
 * were removed one by one. 400 names each field that is not valid as `steps.<index>.<field>`.
 */
export function replaceSteps(
  graph: StepGraph,
  { input, stamps, updatedAt, mustBeComplete }: ReplacedSteps,
): StepGraph {
  const known = new Map(graph.steps.map((step) => [step.id, step]));
  const wrongIds = input.flatMap(({ id }, i) => {
    if (id === undefined) return [];
    if (!known.has(id)) return [graphProblem(i, "id", `the sequence has no step ${id}`)];
    const isRepeated = input.findIndex((other) => other.id === id) < i;
    return isRepeated ? [graphProblem(i, "id", `step ${id} is given twice`)] : [];
  });
  throwProblems(wrongIds);
  const newStamps = stamps.values();
  let last = 0;
  const replaced = input.map(({ id, ...fields }): SequenceStep => {
    last = fields.stepOrder ?? last + 1;
    const current = id === undefined ? undefined : known.get(id);
    const step = toStep({ ...fields, stepOrder: last }, current ?? newStamps.next().value!);
    return current && !isSameStep(step, current) ? { ...step, updatedAt } : step;
  });
  throwProblems(problemsOfReplaced(replaced, mustBeComplete));
  const steps = replaced.toSorted((a, b) => a.stepOrder - b.stepOrder);
  return { steps, gone: removedBy(graph, steps) };
}

/** The removed steps once `steps` are in place, each with the step at which to continue. */
function removedBy(graph: StepGraph, steps: SequenceStep[]): RemovedStep[] {
  const orders = new Map(steps.map(({ id, stepOrder }) => [id, stepOrder]));
  const kept = graph.steps
    .filter(({ id }) => !orders.has(id))
    .reduce((rest, step) => removeStep(rest, step), graph);
  return kept.gone.map(({ id }) => {
    const next = currentStep(kept, { stepId: id, order: 0 });
    return { id, nextStepOrder: next ? orders.get(next.id)! : null };
  });
}

const withoutStamp = ({ createdAt: _, updatedAt: __, ...step }: SequenceStep): object => step;
/** Whether they differ at most in their times. */
export const isSameStep = (a: SequenceStep, b: SequenceStep): boolean =>
  isDeepStrictEqual(withoutStamp(a), withoutStamp(b));

/** Whether enrollments that wait at a step continue at another time or at another step. */
export const movesEnrollments = (current: StepGraph, next: StepGraph): boolean => {
  const steps = new Map(next.steps.map((step) => [step.id, step]));
  return current.steps.some(({ id, type, delayMinutes, waitConfig }) => {
    const step = steps.get(id);
    return (
      step?.type !== type ||
      step.delayMinutes !== delayMinutes ||
      !isDeepStrictEqual(step.waitConfig, waitConfig)
    );
  });
};

/** Whether both have the same steps. Ids of `newSteps` match any id. */
export const hasSameSteps = (
  current: StepGraph,
  next: StepGraph,
  newSteps: { id: number }[],
): boolean => {
  const newIds = new Set(newSteps.map(({ id }) => id));
  return (
    current.steps.length === next.steps.length &&
    current.steps.every((step, i) => {
      const other = next.steps[i]!;
      return isSameStep(step, newIds.has(other.id) ? { ...other, id: step.id } : other);
    })
  );
};
