// The step graph of a sequence. Steps are ordered and every jump leads to a later step, so an
// enrollment only moves forward and runs each step at most once. Pure functions:
// step-graph-store.ts stores the graph.
import { isDeepStrictEqual } from "node:util";
import { invalid, type ProblemDetail } from "../../errors.ts";
import { parseField } from "../audience/segments/segment-fields.ts";
import {
  isRules,
  type SegmentCondition,
  type SegmentRules,
} from "../audience/segments/segment-rules.ts";
import {
  type GraphStep,
  maxSteps,
  type NewSequenceStep,
  type SequenceStep,
  type SequenceStepChanges,
} from "./step-schema.ts";

/** A removed step. Enrollments that were at it continue from its position. */
export interface RemovedStep {
  id: number;
  /** Absent since all steps were replaced: orders have changed, and `nextStepOrder` is set. */
  stepOrder?: number | undefined;
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
  if (!gone) return stepAtOrder(graph, order);
  const { stepOrder = 0, nextStepOrder } = gone;
  return stepAfter(graph, { stepOrder, nextStepOrder }, stepOrder);
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
  if (step) return step;
  return gone
    ? stepAfter(graph, { ...gone, stepOrder: order }, order)
    : firstStepFrom(graph, order);
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
    stepOrder: removed.stepOrder === undefined ? undefined : moved(removed.stepOrder),
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
const isSameStep = (a: SequenceStep, b: SequenceStep): boolean =>
  isDeepStrictEqual(withoutStamp(a), withoutStamp(b));

/** Whether enrollments that wait at a step continue at another time or at another step. */
export const movesEnrollments = (current: StepGraph, next: StepGraph): boolean => {
  const steps = new Map(next.steps.map((step) => [step.id, step]));
  return current.steps.some(({ id, type, delayMinutes }) => {
    const step = steps.get(id);
    return step?.type !== type || step.delayMinutes !== delayMinutes;
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

function problemsOfReplaced(steps: SequenceStep[], mustBeComplete: boolean): ProblemDetail[] {
  const orders = new Set(steps.map(({ stepOrder }) => stepOrder));
  return steps.flatMap((step, i) => {
    const isTaken = steps.findIndex(({ stepOrder }) => stepOrder === step.stepOrder) < i;
    const unknown = stepOrdersOf(step.conditionConfig).find((order) => !orders.has(order));
    const problems: StepProblem[] = [
      ...(isTaken ? [problemOf(step, "stepOrder", "the stepOrder is given twice")] : []),
      ...directionProblems(step),
      ...(unknown === undefined
        ? []
        : [problemOf(step, "conditionConfig", `there is no step ${unknown} to test`)]),
      ...(mustBeComplete ? missingFields(step) : []),
      ...missingTargets(step, orders),
    ];
    return problems.map(({ field, message }) => graphProblem(i, field, message));
  });
}

const graphProblem = (index: number, field: string, message: string): ProblemDetail => ({
  path: `steps.${index}.${field}`,
  message,
});

const maxReportedProblems = 20;

function throwProblems(details: ProblemDetail[]): void {
  if (details[0])
    throw invalid(details[0].message, { details: details.slice(0, maxReportedProblems) });
}

function checkGraph(graph: StepGraph): StepGraph {
  const [problem] = graph.steps.flatMap(directionProblems);
  if (problem) throw invalidStep(problem.field, problem.message);
  return graph;
}

interface StepProblem {
  field: string;
  message: string;
}
const problemOf = ({ stepOrder }: SequenceStep, field: string, message: string): StepProblem => ({
  field,
  message: `step ${stepOrder}: ${message}`,
});

/** Jumps and conditions that do not lead from an earlier step to a later one. */
function directionProblems(step: SequenceStep): StepProblem[] {
  const later = stepOrdersOf(step.conditionConfig).find((order) => order >= step.stepOrder);
  return [
    ...jumpFields
      .filter((name) => (step[name] ?? Number.POSITIVE_INFINITY) <= step.stepOrder)
      .map((name) =>
        problemOf(step, name, `${name} must be greater than the step's own stepOrder`),
      ),
    ...(later === undefined
      ? []
      : [problemOf(step, "conditionConfig", `step.${later} must refer to an earlier step`)]),
  ];
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
    ...missingFields(step),
    ...missingTargets(step, orders),
  ]);
  return steps.length ? missing.map(({ message }) => message) : ["the sequence has no steps"];
}

const missingFields = (step: SequenceStep): StepProblem[] => {
  const field = requiredField[step.type];
  return isComplete[step.type](step) ? [] : [problemOf(step, field, `${field} is needed`)];
};

const missingTargets = (step: SequenceStep, orders: Set<number | undefined>): StepProblem[] =>
  jumpFields
    .filter((name) => typeof step[name] === "number" && !orders.has(step[name]))
    .map((name) => problemOf(step, name, `${name} is ${step[name]}, but that step does not exist`));

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
