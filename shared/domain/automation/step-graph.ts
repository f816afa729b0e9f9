// The step graph of a sequence. Steps are ordered and every jump leads to a later step, so an
// enrollment only moves forward and runs each step at most once. Pure functions:
// step-graph-store.ts stores the graph.
import type { SequenceStep } from "./step-schema.ts";

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

/** The step that follows on one of the ways out of a step: see `waysOf`. */
export function nextStep(graph: StepGraph, step: SequenceStep, way = 0): SequenceStep | undefined {
  if (step.type === "exit") return undefined;
  const { stepOrder } = step;
  const ways = waysOf(step);
  const jump = (ways[way] ?? ways[0])?.order;
  return isFork(step)
    ? stepAfterJump(graph, jump, stepOrder + 1)
    : stepAfter(graph, { stepOrder, nextStepOrder: jump }, stepOrder + 1);
}

/** Whether each way out of the step is a branch of its own. */
export const isFork = ({ type }: Pick<SequenceStep, "type">): boolean =>
  type === "condition" || type === "split";

interface Jump {
  /** Path of the field in the step. */
  path: string;
  order: number | null | undefined;
}

type Jumping = Pick<SequenceStep, "type" | (typeof jumpFields)[number] | "splitConfig">;

/**
 * The ways out: of a condition if it holds and if not, of a split in their order, of a wait in time
 * and too late.
 */
function waysOf(step: Jumping): Jump[] {
  if (step.type === "exit") return [];
  if (step.type === "condition")
    return [jumpOf(step, "trueBranchStepOrder"), jumpOf(step, "falseBranchStepOrder")];
  if (step.type === "split") return branchJumps(step);
  const next = jumpOf(step, "nextStepOrder");
  const hasTimeoutWay = step.type === "wait_until" && step.timeoutStepOrder !== undefined;
  return hasTimeoutWay ? [next, jumpOf(step, "timeoutStepOrder")] : [next];
}

const jumpOf = (step: Jumping, path: (typeof jumpFields)[number]): Jump => ({
  path,
  order: step[path],
});

const branchJumps = ({ splitConfig }: Jumping): Jump[] =>
  (splitConfig?.branches ?? []).map(({ nextStepOrder }, i) => ({
    path: `splitConfig.branches.${i}.nextStepOrder`,
    order: nextStepOrder,
  }));

const jumpFields = [
  "nextStepOrder",
  "timeoutStepOrder",
  "trueBranchStepOrder",
  "falseBranchStepOrder",
] as const;

/** All jumps that a step has, also those that steps of its type do not use. */
export const jumpsOf = (step: Jumping): Jump[] => [
  ...jumpFields.map((path) => jumpOf(step, path)),
  ...branchJumps(step),
];

/** The step with every order that it jumps to replaced. */
export const withJumps = (
  step: SequenceStep,
  replace: (order: number | null | undefined) => number | null | undefined,
): SequenceStep => ({
  ...step,
  ...Object.fromEntries(
    jumpFields
      .filter((path) => step[path] !== undefined)
      .map((path) => [path, replace(step[path])]),
  ),
  ...(step.splitConfig && {
    splitConfig: {
      branches: step.splitConfig.branches.map((branch) =>
        branch.nextStepOrder === undefined
          ? branch
          : { ...branch, nextStepOrder: replace(branch.nextStepOrder) },
      ),
    },
  }),
});

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
 * Whether the step from `order` to `next` leads out of one branch of a step into another one.
 * Removed steps are part of a branch.
 */
const crossesIntoOtherBranch = (graph: StepGraph, order: number, next: SequenceStep): boolean =>
  graph.steps.some((step) => {
    const ways = step.stepOrder < order ? waysOf(step) : [];
    if (ways.length < 2) return false;
    const starts = ways.flatMap((way) => {
      const { order: start = step.stepOrder + 1 } = way;
      return start ?? [];
    });
    const otherStart = Math.min(...starts.filter((start) => start > order));
    return starts.some((start) => start <= order) && otherStart <= next.stepOrder;
  });
