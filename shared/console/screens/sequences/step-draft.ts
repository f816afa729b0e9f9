// The steps of a sequence while they are edited. The API orders steps by number and jumps to
// numbers; here each step names the steps that follow it, so steps can be added and moved freely.

export type StepKind = "email" | "delay" | "condition";
/** Where a step leads: a condition has two outlets, other steps have one. */
export type Outlet = "next" | "yes" | "no";

export interface StepCondition {
  field: string;
  operator: string;
  value?: unknown;
}
export interface Rules {
  match: "all" | "any" | "none";
  conditions: (StepCondition | Rules)[];
}
export const isRules = (node: StepCondition | Rules): node is Rules => "conditions" in node;

export interface DraftStep {
  /** The id of a stored step; `new1` for a step that was not saved yet. */
  key: string;
  type: StepKind;
  templateId: number | null;
  delayMinutes: number | null;
  /** Fields about emails of this sequence have the key of the step: `step.<key>.opened`. */
  rules: Rules | null;
  /** Keys of the steps that follow; null ends the sequence. */
  to: Partial<Record<Outlet, string | null>>;
}

/** Steps in the order of the API: each leads to later steps only. The first one is the start. */
export type DraftSteps = readonly DraftStep[];

/** A step as the API has it. */
export interface StoredStep {
  id?: number;
  stepOrder: number;
  type: StepKind;
  templateId: number | null;
  delayMinutes: number | null;
  conditionConfig: unknown;
  nextStepOrder?: number | null;
  trueBranchStepOrder?: number | null;
  falseBranchStepOrder?: number | null;
}

export const outletsOf = ({ type }: Pick<DraftStep, "type">): Outlet[] =>
  type === "condition" ? ["yes", "no"] : ["next"];

export const stepOf = (draft: DraftSteps, key: string | null | undefined): DraftStep | undefined =>
  draft.find((step) => step.key === key);

/** `stored` is in order of `stepOrder`. */
export function fromStored(stored: readonly StoredStep[]): DraftSteps {
  const keyAt = (order: number) => keyOf(stored.find(({ stepOrder }) => stepOrder >= order));
  const keyBehind = (step: StoredStep, jump: number | null | undefined) => {
    if (jump === undefined) return keyOf(defaultNext(stored, step));
    return jump === null ? null : keyAt(jump);
  };
  const keysByOrder = new Map(stored.map((step) => [String(step.stepOrder), keyOf(step)!]));
  return stored.map((step) => ({
    key: keyOf(step)!,
    type: step.type,
    templateId: step.templateId,
    delayMinutes: step.delayMinutes,
    rules: renameSteps(step.conditionConfig as Rules | null, keysByOrder),
    to:
      step.type === "condition"
        ? {
            yes: keyBehind(step, step.trueBranchStepOrder),
            no: keyBehind(step, step.falseBranchStepOrder),
          }
        : { next: keyBehind(step, step.nextStepOrder) },
  }));
}

const keyOf = (step: StoredStep | undefined): string | null => (step ? String(step.id) : null);

/** The step after one that names none: the next in order, unless that is in the other branch. */
function defaultNext(stored: readonly StoredStep[], step: StoredStep): StoredStep | undefined {
  const next = stored.find(({ stepOrder }) => stepOrder > step.stepOrder);
  if (!next || step.type === "condition") return next;
  const crosses = stored.some(({ type, stepOrder, ...branches }) => {
    const { trueBranchStepOrder: yes = stepOrder + 1, falseBranchStepOrder: no = stepOrder + 1 } =
      branches;
    if (type !== "condition" || stepOrder >= step.stepOrder || yes === null || no === null)
      return false;
    const second = Math.max(yes, no);
    const isInFirst = Math.min(yes, no) <= step.stepOrder && step.stepOrder < second;
    return isInFirst && second <= next.stepOrder;
  });
  return crosses ? undefined : next;
}

const noStep = "0";

/** `names` has the new name of each step by its old one. */
function renameSteps(rules: Rules | null, names: ReadonlyMap<string, string>): Rules | null {
  if (!rules) return null;
  return {
    ...rules,
    conditions: rules.conditions.map((node) => {
      if (isRules(node)) return renameSteps(node, names)!;
      const [prefix, name = "", fact] = node.field.split(".");
      if (prefix !== "step") return node;
      return { ...node, field: `step.${names.get(name) ?? noStep}.${fact}` };
    }),
  };
}

/** The steps as PUT /sequences/:id/steps takes them, without jumps to the step that follows. */
export function toStored(draft: DraftSteps): StoredStep[] {
  const orders = new Map(draft.map(({ key }, i) => [key, i + 1]));
  const ordersAsText = new Map([...orders].map(([key, order]) => [key, String(order)]));
  const orderOf = (key: string | null | undefined) => (key ? (orders.get(key) ?? null) : null);
  const all = draft.map((step, i): StoredStep => {
    const { key, type, templateId, delayMinutes, rules, to } = step;
    return {
      ...(isSaved(key) && { id: Number(key) }),
      stepOrder: i + 1,
      type,
      templateId,
      delayMinutes,
      conditionConfig: renameSteps(rules, ordersAsText),
      ...(type === "condition"
        ? { trueBranchStepOrder: orderOf(to.yes), falseBranchStepOrder: orderOf(to.no) }
        : { nextStepOrder: orderOf(to.next) }),
    };
  });
  return all.map(({ nextStepOrder, ...step }) => {
    const isDefault = (defaultNext(all, step)?.stepOrder ?? null) === nextStepOrder;
    return nextStepOrder === undefined || isDefault ? step : { ...step, nextStepOrder };
  });
}

export const isSaved = (key: string): boolean => !key.startsWith("new");

/** Where a step can be added: behind an outlet, or before a step on all ways to it. */
export type Place = { from: string; outlet: Outlet } | { before: string | null };

const emptyStep = { templateId: null, delayMinutes: null, rules: null };

/** A new step with a key that the draft does not have. */
export function newStep(draft: DraftSteps, type: StepKind): DraftStep {
  const serials = draft.filter(({ key }) => !isSaved(key)).map(({ key }) => Number(key.slice(3)));
  return {
    ...emptyStep,
    key: `new${Math.max(0, ...serials) + 1}`,
    type,
    ...(type === "delay" && { delayMinutes: 24 * 60 }),
    ...(type === "condition" && { rules: { match: "all", conditions: [] } }),
    to: {},
  };
}

/** All ways of a new condition lead to the step that followed. */
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
  to: Object.fromEntries(outletsOf(step).map((outlet) => [outlet, target])),
});

const redirect = (step: DraftStep, old: string | null, target: string | null): DraftStep => ({
  ...step,
  to: Object.fromEntries(
    outletsOf(step).map((outlet) => {
      const current = step.to[outlet] ?? null;
      return [outlet, current === old ? target : current];
    }),
  ),
});

const connect = (
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
  const reachedBefore = reachable(draft, draft[0]!.key);
  const reachedNow = reachable(others, start);
  const kept = others.filter((one) => reachedNow.has(one.key) || !reachedBefore.has(one.key));
  const keys = new Set(kept.map((one) => one.key));
  return sortSteps(
    kept.map((one) => ({ ...one, rules: withoutSteps(one.rules, keys) })),
    start,
  );
}

function longestWay(draft: DraftSteps, step: DraftStep): string | null {
  const targets = outletsOf(step).map((outlet) => step.to[outlet] ?? null);
  const lengthOf = (target: string | null) => reachable(draft, target).size;
  return targets.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]!;
}

/** Rules without conditions about emails of steps that are gone. */
const withoutSteps = (rules: Rules | null, keys: ReadonlySet<string>): Rules | null =>
  rules && {
    ...rules,
    conditions: rules.conditions
      .map((node) => (isRules(node) ? withoutSteps(node, keys)! : node))
      .filter(
        (node) => isRules(node) || keys.has(stepKeyOf(node.field) ?? "") || !stepKeyOf(node.field),
      ),
  };

/** The key of the step that a field is about. */
export const stepKeyOf = (field: string): string | undefined => /^step\.(\w+)\./.exec(field)?.[1];

function reachable(draft: DraftSteps, start: string | null): Set<string> {
  const found = new Set<string>();
  const waiting = [start];
  for (let key = waiting.pop(); waiting.length > 0 || key; key = waiting.pop()) {
    const step = key && !found.has(key) ? stepOf(draft, key) : undefined;
    if (!step) continue;
    found.add(step.key);
    waiting.push(...outletsOf(step).map((outlet) => step.to[outlet] ?? null));
  }
  return found;
}

/** The steps that lead to it. */
const waysTo = (draft: DraftSteps, key: string): { from: string; outlet: Outlet }[] =>
  draft.flatMap((step) =>
    outletsOf(step)
      .filter((outlet) => step.to[outlet] === key)
      .map((outlet) => ({ from: step.key, outlet })),
  );

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
  if (!step || step.type === "condition") return undefined;
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

/** The steps that may follow a step: all that do not lead to it. */
export function possibleTargets(draft: DraftSteps, key: string): DraftStep[] {
  return draft.slice(1).filter((step) => !reachable(draft, step.key).has(key));
}

/** The email steps that a contact may have passed before a step. */
export const emailsBefore = (draft: DraftSteps, key: string): DraftStep[] =>
  draft.filter(
    (step) => step.type === "email" && step.key !== key && reachable(draft, step.key).has(key),
  );

/** Each step before those that it leads to, and the first branch before the second. */
function sortSteps(steps: readonly DraftStep[], start: string | null): DraftSteps {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const open = new Map(steps.map(({ key }) => [key, waysTo(steps, key).length]));
  const roots = steps.filter(({ key }) => open.get(key) === 0 && key !== start);
  const stack = [...roots.map(({ key }) => key).toReversed(), ...(start ? [start] : [])];
  const sorted: DraftStep[] = [];
  for (let key = stack.pop(); key; key = stack.pop()) {
    const step = byKey.get(key)!;
    sorted.push(step);
    for (const outlet of outletsOf(step).toReversed()) {
      const target = step.to[outlet];
      if (!target) continue;
      open.set(target, open.get(target)! - 1);
      if (open.get(target) === 0) stack.push(target);
    }
  }
  return sorted;
}

/** What is missing before the sequence can be active. */
export function problemsOf(step: DraftStep): string[] {
  const { type, templateId, delayMinutes, rules } = step;
  if (type === "email" && templateId === null) return ["Choose a template."];
  if (type === "delay" && delayMinutes === null) return ["Say how long to wait."];
  if (type !== "condition") return [];
  if (!rules || rules.conditions.length === 0) return ["Add a condition."];
  return rules.conditions.some((node) => !isComplete(node)) ? ["Complete the condition."] : [];
}

function isComplete(node: StepCondition | Rules): boolean {
  if (isRules(node)) return node.conditions.length > 0 && node.conditions.every(isComplete);
  const { field, operator, value } = node;
  const hasName = field !== "" && !field.endsWith(".") && stepKeyOf(field) !== noStep;
  return hasName && (/xists$/.test(operator) || (value !== undefined && value !== ""));
}
