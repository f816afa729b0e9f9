// Changes of the steps of a draft. Each returns new steps, in the order in which they are stored.
import {
  type DraftStep,
  type DraftSteps,
  isSaved,
  type Outlet,
  outletsOf,
  type StepKind,
  type StepWait,
  stepOf,
  withoutSteps,
} from "./step-draft.ts";
import { mapTargets, reachable, sortSteps, targetsOf, waysTo } from "./step-ways.ts";

/** Where a step can be added: behind an outlet, or before a step on all ways to it. */
export type Place = { from: string; outlet: Outlet } | { before: string | null };

const emptyStep = {
  templateId: null,
  previewText: null,
  delayMinutes: null,
  rules: null,
  weights: null,
  wait: null,
  action: null,
  to: {},
};
/** What a new step begins with. */
const beginnings: Partial<Record<StepKind, Partial<DraftStep>>> = {
  delay: { delayMinutes: 24 * 60 },
  condition: { rules: { match: "all", conditions: [] } },
  split: { weights: [1, 1] },
  wait_until: { wait: { eventName: "", timeoutMinutes: 3 * 24 * 60 }, to: { timeout: null } },
};

/** The number of the next key of a new step. */
export function nextSerial(draft: DraftSteps): number {
  const serials = draft.filter(({ key }) => !isSaved(key)).map(({ key }) => Number(key.slice(3)));
  return Math.max(0, ...serials) + 1;
}

/** A new step with a key that the draft does not have. */
export const newStep = (draft: DraftSteps, type: StepKind): DraftStep => ({
  ...emptyStep,
  ...beginnings[type],
  key: `new${nextSerial(draft)}`,
  type,
});

/** All outlets of a new step lead to the step that followed. Behind an exit, nothing follows. */
export function insertStep(draft: DraftSteps, place: Place, step: DraftStep): DraftSteps {
  const start = draft[0]?.key ?? null;
  if ("from" in place) {
    const target = stepOf(draft, place.from)?.to[place.outlet] ?? null;
    return sortSteps([...connect(draft, place, step.key), leadTo(step, target)], start);
  }
  const { before } = place;
  const others = draft.map((other) => redirect(other, before, step.key));
  return sortSteps([...others, leadTo(step, before)], before === start ? step.key : start);
}

const leadTo = (step: DraftStep, target: string | null): DraftStep => ({
  ...step,
  to: mapTargets(step, () => target),
});

/** A step that does not lead to `old` stays the same object, so that it is not drawn again. */
export function redirect(step: DraftStep, old: string | null, target: string | null): DraftStep {
  if (old === target || !targetsOf(step).includes(old)) return step;
  return { ...step, to: mapTargets(step, (current) => (current === old ? target : current)) };
}

export const connect = (
  draft: DraftSteps,
  { from, outlet }: { from: string; outlet: Outlet },
  target: string | null,
): DraftStep[] =>
  draft.map((step) =>
    step.key === from ? { ...step, to: { ...step.to, [outlet]: target } } : step,
  );

/** Changes fields of a step, or where it leads. */
export const changeStep = (
  draft: DraftSteps,
  key: string,
  changes: Partial<DraftStep>,
): DraftSteps =>
  sortSteps(
    draft.map((step) => (step.key === key ? { ...step, ...changes } : step)),
    draft[0]?.key ?? null,
  );

/**
 * What leads to the step leads to the one behind it. Of a condition, the branch with more steps
 * stays; the steps of the other go, unless another step leads to them.
 */
export function removeStep(draft: DraftSteps, key: string): DraftSteps {
  const step = stepOf(draft, key);
  if (!step) return draft;
  const target = longestWay(draft, step);
  const start = draft[0]!.key === key ? target : draft[0]!.key;
  const others = draft
    .filter((other) => other !== step)
    .map((other) => redirect(other, key, target));
  return withoutLost(draft, others, start);
}

/** Leaves out the steps that were reached before the change and are no longer. */
function withoutLost(
  before: DraftSteps,
  after: readonly DraftStep[],
  start: string | null,
): DraftSteps {
  const reachedBefore = reachable(before, before[0]?.key ?? null);
  const reachedNow = reachable(after, start);
  const kept = after.filter((one) => reachedNow.has(one.key) || !reachedBefore.has(one.key));
  const keys = new Set(kept.map((one) => one.key));
  return sortSteps(
    kept.map((one) => (one.rules ? { ...one, rules: withoutSteps(one.rules, keys) } : one)),
    start,
  );
}

/** Changes what a step waits for. A wait that always ends the same way has one outlet. */
export function changeWait(draft: DraftSteps, key: string, wait: StepWait): DraftSteps {
  const changed = draft.map((step) => {
    if (step.key !== key) return step;
    const { next = null, timeout = next } = step.to;
    const hasTimeout = wait.eventName !== undefined;
    return { ...step, wait, to: hasTimeout ? { next, timeout } : { next } };
  });
  return withoutLost(draft, changed, draft[0]!.key);
}

export const maxWays = 5;

/** A new way of a split leads to where the last one leads. */
export const addWay = (draft: DraftSteps, { key, weights, to }: DraftStep): DraftSteps => {
  const count = weights?.length ?? 0;
  return changeStep(draft, key, {
    weights: [...(weights ?? []), 1],
    to: { ...to, [`way${count}`]: to[`way${count - 1}`] ?? null },
  });
};

/** The steps that only this way leads to go with it. */
export function removeWay(draft: DraftSteps, step: DraftStep, way: number): DraftSteps {
  const weights = (step.weights ?? []).toSpliced(way, 1);
  const targets = targetsOf(step).toSpliced(way, 1);
  const to = Object.fromEntries(targets.map((target, i) => [`way${i}`, target]));
  const changed = draft.map((one) => (one === step ? { ...step, weights, to } : one));
  return withoutLost(draft, changed, draft[0]!.key);
}

function longestWay(draft: DraftSteps, step: DraftStep): string | null {
  const targets = targetsOf(step);
  const lengthOf = (target: string | null) => reachable(draft, target).size;
  return targets.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0] ?? null;
}

/**
 * Exchanges a step with its neighbour. Undefined where the way divides or joins: there is not one
 * neighbour.
 */
export function moveStep(
  draft: DraftSteps,
  key: string,
  direction: "up" | "down",
): DraftSteps | undefined {
  const step = stepOf(draft, key);
  if (!step || outletsOf(step).length !== 1) return undefined;
  if (direction === "down") {
    const follower = stepOf(draft, step.to.next);
    const isNeighbour = follower && waysTo(draft, follower.key).length === 1;
    return isNeighbour ? moveStep(draft, follower.key, "up") : undefined;
  }
  const [way, ...otherWays] = waysTo(draft, key);
  if (!way || otherWays.length > 0) return undefined;
  const start = draft[0]!.key;
  const next = step.to.next ?? null;
  const moved = connect(draft, way, next).map((other) =>
    other.key === key ? other : redirect(other, way.from, key),
  );
  return sortSteps(
    connect(moved, { from: key, outlet: "next" }, way.from),
    start === way.from ? key : start,
  );
}
