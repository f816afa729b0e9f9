// The ways through the steps of a draft, and the order in which they are stored.
import { type DraftStep, type DraftSteps, type Outlet, outletsOf } from "./step-draft.ts";

/** The steps that a step leads to, one for each outlet; null ends the sequence. */
export const targetsOf = (step: DraftStep): (string | null)[] =>
  outletsOf(step).map((outlet) => step.to[outlet] ?? null);

export const mapTargets = (
  step: DraftStep,
  change: (target: string | null) => string | null,
): DraftStep["to"] =>
  Object.fromEntries(outletsOf(step).map((outlet) => [outlet, change(step.to[outlet] ?? null)]));

/** A step and all that it leads to. */
export function reachable(draft: DraftSteps, start: string | null): Set<string> {
  const byKey = new Map(draft.map((step) => [step.key, step]));
  return follow(start, (key) => {
    const step = byKey.get(key);
    return step && targetsOf(step);
  });
}

/** A step and all that lead to it. */
function ancestorsOf(draft: DraftSteps, key: string): Set<string> {
  const sources = new Map<string, string[]>(draft.map((step) => [step.key, []]));
  for (const step of draft)
    for (const target of targetsOf(step)) if (target) sources.get(target)?.push(step.key);
  return follow(key, (one) => sources.get(one));
}

/** `neighborsOf` returns undefined for a key that no step has. */
function follow(
  start: string | null,
  neighborsOf: (key: string) => (string | null)[] | undefined,
): Set<string> {
  const found = new Set<string>();
  const waiting = [start];
  while (waiting.length > 0) {
    const key = waiting.pop();
    const neighbors = key && !found.has(key) ? neighborsOf(key) : undefined;
    if (!key || !neighbors) continue;
    found.add(key);
    waiting.push(...neighbors);
  }
  return found;
}

/** The outlets that lead to a step. */
export const waysTo = (draft: DraftSteps, key: string): { from: string; outlet: Outlet }[] =>
  draft.flatMap((step) =>
    outletsOf(step)
      .filter((outlet) => step.to[outlet] === key)
      .map((outlet) => ({ from: step.key, outlet })),
  );

/** The steps that may follow a step: all that do not lead to it. */
export function possibleTargets(draft: DraftSteps, key: string): DraftStep[] {
  const ancestors = ancestorsOf(draft, key);
  return draft.slice(1).filter((step) => !ancestors.has(step.key));
}

/** The email steps that a contact may have passed before a step. */
export function emailsBefore(draft: DraftSteps, key: string): DraftStep[] {
  const ancestors = ancestorsOf(draft, key);
  return draft.filter(
    (step) => step.type === "email" && step.key !== key && ancestors.has(step.key),
  );
}

/**
 * Each step before those that it leads to, and the first branch before the second. Steps that lead
 * back to themselves are left out.
 */
export function sortSteps(steps: readonly DraftStep[], start: string | null): DraftSteps {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const open = new Map(steps.map(({ key }) => [key, 0]));
  for (const step of steps)
    for (const target of targetsOf(step))
      if (target && open.has(target)) open.set(target, open.get(target)! + 1);
  const roots = steps.filter(({ key }) => open.get(key) === 0 && key !== start);
  const stack = [...roots.map(({ key }) => key).toReversed(), ...(start ? [start] : [])];
  const sorted: DraftStep[] = [];
  for (let key = stack.pop(); key; key = stack.pop()) {
    const step = byKey.get(key)!;
    sorted.push(step);
    for (const target of targetsOf(step).toReversed()) {
      if (!target || !open.has(target)) continue;
      open.set(target, open.get(target)! - 1);
      if (open.get(target) === 0) stack.push(target);
    }
  }
  return sorted;
}
