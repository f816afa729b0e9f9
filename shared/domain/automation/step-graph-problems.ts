// Finds what is wrong with a step graph: jumps that lead back, missing parts, steps that do not
// exist.
import { invalid, type ProblemDetail } from "../../errors.ts";
import { parseField } from "../audience/segments/segment-fields.ts";
import {
  isRules,
  type SegmentCondition,
  type SegmentRules,
} from "../audience/segments/segment-rules.ts";
import { jumpsOf, type StepGraph } from "./step-graph.ts";
import type { SequenceStep } from "./step-schema.ts";
import { type SequenceTriggerType, takesUnsubscribed } from "./trigger-schema.ts";

export function problemsOfReplaced(
  steps: SequenceStep[],
  mustBeComplete: boolean,
): ProblemDetail[] {
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

export const graphProblem = (index: number, field: string, message: string): ProblemDetail => ({
  path: `steps.${index}.${field}`,
  message,
});

const maxReportedProblems = 20;

export function throwProblems(details: ProblemDetail[]): void {
  if (details[0])
    throw invalid(details[0].message, { details: details.slice(0, maxReportedProblems) });
}

export function checkGraph(graph: StepGraph): StepGraph {
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
    ...jumpsOf(step)
      .filter(({ order }) => (order ?? Number.POSITIVE_INFINITY) <= step.stepOrder)
      .map(({ path }) =>
        problemOf(step, path, `${path} must be greater than the step's own stepOrder`),
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

export const conditionsOf = (rules: SegmentRules | null): SegmentCondition[] =>
  (rules?.conditions ?? []).flatMap((node) => (isRules(node) ? conditionsOf(node) : [node]));

/** Why the sequence cannot be active: one message for each missing or refused part. */
export function missingParts(
  { steps, gone }: StepGraph,
  triggerType: SequenceTriggerType,
): string[] {
  const orders = new Set([...steps, ...gone].map(({ stepOrder }) => stepOrder));
  const missing = steps.flatMap((step) => [
    ...missingFields(step),
    ...missingTargets(step, orders),
    ...(step.type === "email" && takesUnsubscribed(triggerType)
      ? [problemOf(step, "type", `a sequence with the trigger ${triggerType} sends no email`)]
      : []),
  ]);
  return steps.length ? missing.map(({ message }) => message) : ["the sequence has no steps"];
}

const missingFields = (step: SequenceStep): StepProblem[] => {
  const field = requiredField[step.type];
  const isComplete = field === undefined || step[field] !== null;
  return isComplete ? [] : [problemOf(step, field, `${field} is needed`)];
};

const missingTargets = (step: SequenceStep, orders: Set<number | undefined>): StepProblem[] =>
  jumpsOf(step)
    .filter(({ order }) => typeof order === "number" && !orders.has(order))
    .map(({ path, order }) =>
      problemOf(step, path, `${path} is ${order}, but that step does not exist`),
    );

const requiredField = {
  email: "templateId",
  delay: "delayMinutes",
  condition: "conditionConfig",
  split: "splitConfig",
  exit: undefined,
  wait_until: "waitConfig",
  action: "actionConfig",
} as const satisfies Record<SequenceStep["type"], keyof SequenceStep | undefined>;

export const invalidStep = (path: string, message: string) =>
  invalid(message, { details: [{ path, message }] });
