// The steps of a sequence as the API has them, and how they become a draft and come back from it.
import {
  type DraftStep,
  type DraftSteps,
  isSaved,
  type Outlet,
  outletsOf,
  renameSteps,
  type StepAction,
  type StepKind,
  type StepRules,
  type StepWait,
} from "./step-draft.ts";

/** The order of a later step; null ends the sequence. Without it, the next step follows. */
type Jump = number | null | undefined;

/** A step as the API has it. */
export interface StoredStep {
  id?: number;
  /** The key of a step without an id. */
  key?: string;
  stepOrder: number;
  type: StepKind;
  templateId: number | null;
  previewText?: string | null;
  delayMinutes: number | null;
  conditionConfig: unknown;
  splitConfig?: { branches: { weight: number; nextStepOrder?: Jump }[] } | null;
  waitConfig?: StepWait | null;
  actionConfig?: StepAction | null;
  nextStepOrder?: Jump;
  timeoutStepOrder?: Jump;
  trueBranchStepOrder?: Jump;
  falseBranchStepOrder?: Jump;
}

/** Steps of a draft that the API keeps. New ones have no id. */
export const fromKeptDraft = (steps: readonly StoredStep[]): DraftSteps =>
  fromStored(
    steps.map((step, i) => (step.id === undefined ? { ...step, key: `new${i + 1}` } : step)),
  );

/** `stored` is in order of `stepOrder`. */
export function fromStored(stored: readonly StoredStep[]): DraftSteps {
  const keyAt = (order: number) => keyOf(stored.find(({ stepOrder }) => stepOrder >= order));
  const keysByOrder = new Map(stored.map((step) => [String(step.stepOrder), keyOf(step)!]));
  return stored.map((step) => {
    const jumps = jumpsOf(step);
    const keyBehind = (jump: Jump) => {
      if (jump === undefined) return keyOf(defaultNext(stored, step));
      return jump === null ? null : keyAt(jump);
    };
    return {
      key: keyOf(step)!,
      type: step.type,
      templateId: step.templateId,
      previewText: step.previewText ?? null,
      delayMinutes: step.delayMinutes,
      rules: renameSteps(step.conditionConfig as StepRules | null, keysByOrder),
      weights: step.splitConfig?.branches.map(({ weight }) => weight) ?? null,
      wait: step.waitConfig ?? null,
      action: step.actionConfig ?? null,
      to: Object.fromEntries(jumps.map(([outlet, jump]) => [outlet, keyBehind(jump)])),
    };
  });
}

const keyOf = (step: StoredStep | undefined): string | null =>
  step ? (step.key ?? String(step.id)) : null;

/** The outlets of a stored step, and where each leads. */
function jumpsOf(step: StoredStep): [Outlet, Jump][] {
  const { type, nextStepOrder, timeoutStepOrder, splitConfig, waitConfig } = step;
  if (type === "exit") return [];
  if (type === "condition")
    return [
      ["yes", step.trueBranchStepOrder],
      ["no", step.falseBranchStepOrder],
    ];
  if (type === "split")
    return (splitConfig?.branches ?? []).map((branch, i) => [`way${i}`, branch.nextStepOrder]);
  // Whether an event came in time is a fork, also where both ways go on with the same step.
  if (
    type === "wait_until" &&
    (waitConfig?.eventName !== undefined || timeoutStepOrder !== undefined)
  )
    return [
      ["next", nextStepOrder],
      ["timeout", timeoutStepOrder === undefined ? nextStepOrder : timeoutStepOrder],
    ];
  return [["next", nextStepOrder]];
}

const isFork = ({ type }: StoredStep): boolean => type === "condition" || type === "split";

/** The step after one that names none: the next in order, unless that is in another branch. */
function defaultNext(stored: readonly StoredStep[], step: StoredStep): StoredStep | undefined {
  const { stepOrder: order } = step;
  const next = stored.find(({ stepOrder }) => stepOrder > order);
  if (!next || isFork(step)) return next;
  const crosses = stored.some((other) => {
    if (other.stepOrder >= order) return false;
    const jumps = jumpsOf(other);
    // A wait that goes on in one way is no fork.
    if (jumps.length < 2 || (other.type === "wait_until" && other.timeoutStepOrder === undefined))
      return false;
    const starts = jumps.flatMap(([, jump = other.stepOrder + 1]) => jump ?? []);
    const otherStart = Math.min(...starts.filter((start) => start > order));
    return starts.some((start) => start <= order) && otherStart <= next.stepOrder;
  });
  return crosses ? undefined : next;
}

/** The steps as PUT /sequences/:id/steps takes them, without jumps to the step that follows. */
export function toStored(draft: DraftSteps): StoredStep[] {
  const orders = new Map(draft.map(({ key }, i) => [key, i + 1]));
  const ordersAsText = new Map([...orders].map(([key, order]) => [key, String(order)]));
  const orderAt = ({ to }: DraftStep, outlet: Outlet) => orders.get(to[outlet] ?? "") ?? null;
  const all = draft.map((step, i): StoredStep => {
    const { key, type, templateId, previewText, delayMinutes, rules, weights, wait, action } = step;
    return {
      ...(isSaved(key) && { id: Number(key) }),
      stepOrder: i + 1,
      ...{ type, templateId, previewText, delayMinutes },
      conditionConfig: renameSteps(rules, ordersAsText),
      ...(weights && {
        splitConfig: {
          branches: weights.map((weight, way) => ({
            weight,
            nextStepOrder: orderAt(step, `way${way}`),
          })),
        },
      }),
      ...(wait && { waitConfig: wait }),
      ...(action && { actionConfig: action }),
      ...jumpFieldsOf(step, orderAt),
    };
  });
  return all.map((step) => {
    const { nextStepOrder, ...rest } = step;
    const isDefault = (defaultNext(all, step)?.stepOrder ?? null) === nextStepOrder;
    return nextStepOrder === undefined || isDefault ? rest : step;
  });
}

function jumpFieldsOf(
  step: DraftStep,
  orderAt: (step: DraftStep, outlet: Outlet) => number | null,
): Partial<StoredStep> {
  if (step.type === "condition")
    return {
      trueBranchStepOrder: orderAt(step, "yes"),
      falseBranchStepOrder: orderAt(step, "no"),
    };
  const outlets = outletsOf(step);
  if (!outlets.includes("next")) return {};
  const nextStepOrder = orderAt(step, "next");
  const timeoutStepOrder = outlets.includes("timeout") ? orderAt(step, "timeout") : nextStepOrder;
  return { nextStepOrder, ...(timeoutStepOrder !== nextStepOrder && { timeoutStepOrder }) };
}
